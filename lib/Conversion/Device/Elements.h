// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scalars of the stored element types, and the arithmetic of their accumulators (f32, f64, i32).

#ifndef BLOCKSPARSE_LIB_CONVERSION_DEVICE_ELEMENTS_H
#define BLOCKSPARSE_LIB_CONVERSION_DEVICE_ELEMENTS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// Returns 0 of any element type that can be stored.
Value zeroElement(ImplicitLocOpBuilder &b, Type type);

/// Returns a constant of an accumulation type (f32, f64, i32); i32 truncates `value` towards 0.
Value numberConstant(ImplicitLocOpBuilder &b, Type type, double value);

/// Converts `element` to type `type`. Floats round to nearest even; overflow becomes infinity, or
/// NaN for f8E4M3FN, which has no infinity. Integers are sign-extended or wrapped; a float becomes
/// an integer by truncation. f8 is converted by bit operations, which every chip has.
Value convertElement(ImplicitLocOpBuilder &b, Value element, Type type);

/// Return the sum, the difference and the product of two integers or two floats of one type.
Value addNumbers(ImplicitLocOpBuilder &b, Value x, Value y);
Value subNumbers(ImplicitLocOpBuilder &b, Value x, Value y);
Value mulNumbers(ImplicitLocOpBuilder &b, Value x, Value y);
/// Returns x * y + z, with one rounding for floats.
Value multiplyAdd(ImplicitLocOpBuilder &b, Value x, Value y, Value z);
/// Returns i1: x is 0. The result is false for NaN.
Value isZero(ImplicitLocOpBuilder &b, Value x);
/// Returns the larger of two floats; NaN if one of them is NaN.
Value maxNumbers(ImplicitLocOpBuilder &b, Value x, Value y);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_DEVICE_ELEMENTS_H
