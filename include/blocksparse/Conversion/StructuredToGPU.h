// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_CONVERSION_STRUCTUREDTOGPU_H
#define BLOCKSPARSE_CONVERSION_STRUCTUREDTOGPU_H

#include "blocksparse/Target/TargetInfo.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::blocksparse {

/// Replaces elementwise loops and reductions over device buffers by kernels of `module` and their
/// launches. Fails, with an error at the operation, for one whose body is not scalar or needs a
/// function of a mathematics library.
LogicalResult convertStructuredToGPU(ArrayRef<linalg::GenericOp> loops, ModuleOp module,
                                     const ::blocksparse::TargetInfo &target);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_CONVERSION_STRUCTUREDTOGPU_H
