// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Elementary functions for devices without a mathematics library: softmax and the activations of
// epilogues use them. Every function accepts and returns one f32 or f64 and emits straight-line
// code of additions, products, fused multiply-adds, divisions, comparisons and bit operations, so
// that nothing has to be linked. NaN returns NaN. Error bounds are in ulp of the result.

#ifndef BLOCKSPARSE_LIB_CONVERSION_DEVICE_DEVICEMATH_H
#define BLOCKSPARSE_LIB_CONVERSION_DEVICE_DEVICEMATH_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// Returns a constant of the float type `type`, or of vectors of it; `value` is rounded to the
/// type.
Value floatConstant(ImplicitLocOpBuilder &b, Type type, double value);

/// Returns x * y + z, rounded once, as one instruction on every target. (math.fma is not used
/// because the conversion to NVVM turns it into a library call.)
Value fusedMultiplyAdd(ImplicitLocOpBuilder &b, Value x, Value y, Value z);

/// Returns |x|. The payload of NaN is kept.
Value deviceAbs(ImplicitLocOpBuilder &b, Value x);

/// Returns e^x, within 2 ulp. The result is 0 or infinity beyond the range of the type; denormal
/// results are rounded twice.
Value deviceExp(ImplicitLocOpBuilder &b, Value x);

/// Returns the natural logarithm, within 3 ulp: -infinity at 0, NaN for negative numbers.
Value deviceLog(ImplicitLocOpBuilder &b, Value x);

/// Returns the square root, within 1 ulp: NaN for negative numbers.
Value deviceSqrt(ImplicitLocOpBuilder &b, Value x);

/// Returns 1 / sqrt(x), within 2 ulp: infinity with the sign of a 0, NaN for negative numbers.
Value deviceRsqrt(ImplicitLocOpBuilder &b, Value x);

/// Returns the larger or the smaller of two numbers; if one is NaN, the other.
Value deviceMaxNumber(ImplicitLocOpBuilder &b, Value x, Value y);
Value deviceMinNumber(ImplicitLocOpBuilder &b, Value x, Value y);

/// Returns tanh(x), within 4 ulp. Accepts vectors, too.
Value deviceTanh(ImplicitLocOpBuilder &b, Value x);

/// Returns erf(x), within 4 ulp.
Value deviceErf(ImplicitLocOpBuilder &b, Value x);

/// Selects how exactly a function is computed. `Rounded` has an effect for f32 on NVIDIA's GPUs
/// alone: it uses the instructions for approximate powers and reciprocals, for results that are
/// rounded to 16 bits afterwards. The error is then below 2^-21 of the larger of the function and
/// 2^-4, and e^-y has a relative error of y 2^-23.
enum class Accuracy { Full, Rounded };

/// Returns 1 - erf(x), within 8 ulp also where it is tiny, down to the smallest normal number.
Value deviceErfc(ImplicitLocOpBuilder &b, Value x);
Value deviceErfc(ImplicitLocOpBuilder &b, Value x, Accuracy accuracy);

/// Returns 1 / (1 + e^-x), within 4 ulp for all x.
Value deviceSigmoid(ImplicitLocOpBuilder &b, Value x);
Value deviceSigmoid(ImplicitLocOpBuilder &b, Value x, Accuracy accuracy);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_DEVICE_DEVICEMATH_H
