// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How a program for a GPU tells that sizes do not fit: by the status of the call.

#ifndef BLOCKSPARSE_LIB_TARGET_GPU_ASSERTIONSTORUNTIME_H
#define BLOCKSPARSE_LIB_TARGET_GPU_ASSERTIONSTORUNTIME_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::blocksparse {

/// Makes every `cf.assert` of `function` end the call `state` with its message, as
/// blocksparseRtCallRefuse does: what follows launches nothing.
void lowerAssertions(func::FuncOp function, Value state, ModuleOp module);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TARGET_GPU_ASSERTIONSTORUNTIME_H
