// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_ELEMENTWISETOCPU_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_ELEMENTWISETOCPU_H

#include "blocksparse/Conversion/BlockSparseToCPU.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse {

/// Emits at `b` the parallel vector loops of an elementwise linalg.generic on memrefs, which stays
/// in place. Returns false, and emits nothing, if it is not elementwise.
bool lowerElementwise(ImplicitLocOpBuilder &b, linalg::GenericOp op,
                      const CPULoweringOptions &options);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_ELEMENTWISETOCPU_H
