// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_TARGET_GPU_HOSTSTEPS_H
#define BLOCKSPARSE_LIB_TARGET_GPU_HOSTSTEPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

namespace mlir::blocksparse {

/// Returns what the host code of a function does, in order, in the form of docs/Launching.md.
/// `names` has the name of each argument. Adds the kernels that it launches to `kernels`, and the
/// names of the constants that it reads to `tables`. Fails for an operation that the form cannot
/// express, and for a kernel that is launched in two ways.
FailureOr<llvm::json::Array> describeHostSteps(func::FuncOp function, ArrayRef<std::string> names,
                                               llvm::json::Object &kernels,
                                               llvm::StringSet<> &tables);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TARGET_GPU_HOSTSTEPS_H
