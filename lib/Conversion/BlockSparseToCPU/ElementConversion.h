// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_ELEMENTCONVERSION_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_ELEMENTCONVERSION_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse {

/// `element` in place of the element type of `like`, a scalar or vector type.
Type withElementType(Type like, Type element);

/// A scalar or a splat vector of `type` (floating-point or integer). Integers wrap.
Value splatConstant(ImplicitLocOpBuilder &b, Type type, double value);

/// Converts a scalar or a vector to `element`. Widening is exact; narrowing rounds to nearest,
/// ties to even, NaN stays NaN, and what is too large becomes infinity (NaN in f8E4M3FN, which
/// has no infinity). Integers are extended with their sign or wrapped. Between f16, bf16, f32,
/// f64, f8E4M3FN, f8E5M2 and between integers; integers to floating point, never back.
/// bf16 and f8 go through integer arithmetic, so that no target needs instructions or library
/// calls for them.
Value convertElements(ImplicitLocOpBuilder &b, Value value, Type element);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_ELEMENTCONVERSION_H
