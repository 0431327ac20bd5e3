// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Conversions between element types, and constants of any element type.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_ELEMENTCONVERSION_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_ELEMENTCONVERSION_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse {

/// Returns `like`, a scalar or vector type, with its element type replaced by `element`.
Type withElementType(Type like, Type element);

/// Returns a scalar constant or a splat vector of `type` (floating-point or integer). Integers
/// wrap.
Value splatConstant(ImplicitLocOpBuilder &b, Type type, double value);

/// Converts a scalar or a vector to element type `element`. Supports conversions between f16, bf16,
/// f32, f64, f8E4M3FN and f8E5M2, between integer types, and from integers to floating point, but
/// not from floating point to integers. Widening is exact. Narrowing rounds to nearest, ties to
/// even; NaN stays NaN, and a magnitude that is too large becomes infinity (NaN in f8E4M3FN, which
/// has no infinity). Integers are sign-extended or wrapped. bf16 and f8 are converted with integer
/// arithmetic, so that no target needs instructions or library calls for them.
Value convertElements(ImplicitLocOpBuilder &b, Value value, Type element);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_ELEMENTCONVERSION_H
