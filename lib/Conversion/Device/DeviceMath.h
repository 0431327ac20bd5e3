// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Elementary functions for devices without a mathematics library. Every function takes and
// gives one f32 or f64 and is straight-line code of additions, products, fused multiply-adds,
// divisions, comparisons and bit operations, so that nothing is left to link. NaN gives NaN.

#ifndef BLOCKSPARSE_LIB_CONVERSION_DEVICE_DEVICEMATH_H
#define BLOCKSPARSE_LIB_CONVERSION_DEVICE_DEVICEMATH_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// A constant of the float type `type`, rounded to it.
Value floatConstant(ImplicitLocOpBuilder &b, Type type, double value);

/// x * y + z, rounded once: one instruction on every target. (The conversion to NVVM makes a
/// library call of math.fma.)
Value fusedMultiplyAdd(ImplicitLocOpBuilder &b, Value x, Value y, Value z);

/// |x|; keeps the payload of NaN.
Value deviceAbs(ImplicitLocOpBuilder &b, Value x);

/// e^x, within 2 ulp; 0 and infinity beyond the range of the type, denormal results are
/// rounded twice.
Value deviceExp(ImplicitLocOpBuilder &b, Value x);

/// The natural logarithm, within 3 ulp: -infinity at 0, NaN below.
Value deviceLog(ImplicitLocOpBuilder &b, Value x);

/// Within 4 ulp.
Value deviceTanh(ImplicitLocOpBuilder &b, Value x);

/// Within 4 ulp.
Value deviceErf(ImplicitLocOpBuilder &b, Value x);

/// How exactly a function is computed. `Rounded`: of f32 on NVIDIA's GPUs alone, by the
/// instructions for approximate powers and reciprocals, for results that are rounded to 16 bits
/// afterwards: the error is below 2^-21 of the larger of the function and 2^-4, and e^-y has
/// an error of y 2^-23 of itself.
enum class Accuracy { Full, Rounded };

/// 1 - erf(x), within 8 ulp also where it is tiny, down to the smallest normal number.
Value deviceErfc(ImplicitLocOpBuilder &b, Value x);
Value deviceErfc(ImplicitLocOpBuilder &b, Value x, Accuracy accuracy);

/// 1 / (1 + e^-x), within 4 ulp on the whole line.
Value deviceSigmoid(ImplicitLocOpBuilder &b, Value x);
Value deviceSigmoid(ImplicitLocOpBuilder &b, Value x, Accuracy accuracy);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_DEVICE_DEVICEMATH_H
