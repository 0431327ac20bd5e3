// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The exponential function of vectors.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_VECTOREXP_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_VECTOREXP_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse {

/// Emits exp of a scalar or vector of f32 or f64. f32: the error is at most 2 ulp, subnormal
/// results included, with basic arithmetic alone; the result is 0 below -103.98, infinity above
/// 88.72 and NaN for NaN. f64 is math.exp.
Value emitExp(ImplicitLocOpBuilder &b, Value x);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_VECTOREXP_H
