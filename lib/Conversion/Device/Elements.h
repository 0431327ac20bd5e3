// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scalars of the stored element types, and the arithmetic of their accumulators (f32, f64, i32).

#ifndef BLOCKSPARSE_LIB_CONVERSION_DEVICE_ELEMENTS_H
#define BLOCKSPARSE_LIB_CONVERSION_DEVICE_ELEMENTS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// 0 of any element type that can be stored.
Value zeroElement(ImplicitLocOpBuilder &b, Type type);

/// A number of an accumulator type; truncated towards 0 for i32.
Value numberConstant(ImplicitLocOpBuilder &b, Type type, double value);

/// `element` as a number of type `type`. Floats round to nearest even; overflow gives infinity, or
/// NaN for f8E4M3FN, which has none. Integers are sign-extended or wrapped; a float becomes an
/// integer by truncation. f8 goes through bit operations, which every chip has.
Value convertElement(ImplicitLocOpBuilder &b, Value element, Type type);

/// The same operations for integers and floats.
Value addNumbers(ImplicitLocOpBuilder &b, Value x, Value y);
Value subNumbers(ImplicitLocOpBuilder &b, Value x, Value y);
Value mulNumbers(ImplicitLocOpBuilder &b, Value x, Value y);
/// x * y + z, fused for floats.
Value multiplyAdd(ImplicitLocOpBuilder &b, Value x, Value y, Value z);
/// i1: x is 0; false for NaN.
Value isZero(ImplicitLocOpBuilder &b, Value x);
/// The larger float; NaN where one is NaN.
Value maxNumbers(ImplicitLocOpBuilder &b, Value x, Value y);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_DEVICE_ELEMENTS_H
