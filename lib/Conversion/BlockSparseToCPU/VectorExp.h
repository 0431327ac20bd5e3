// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_VECTOREXP_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_VECTOREXP_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse {

/// exp of a scalar or vector of f32 or f64. f32: within 2 units in the last place, subnormal
/// results included, from arithmetic alone; 0 below -103.98, infinity above 88.72, NaN for NaN.
/// f64 is math.exp.
Value emitExp(ImplicitLocOpBuilder &b, Value x);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_VECTOREXP_H
