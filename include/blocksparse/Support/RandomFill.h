// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_SUPPORT_RANDOMFILL_H
#define BLOCKSPARSE_SUPPORT_RANDOMFILL_H

#include "blocksparse/Support/HostTensor.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace blocksparse {

/// What fillTensor writes. "index" is the row-major number of the element,
/// whatever the strides are.
enum class FillKind : uint8_t {
  /// Uniform in [-1, 1) before rounding to the element type; integer types get
  /// `integers`, where -1..1 would say too little.
  uniform,
  /// Integers uniform in [-8, 8): products and sums stay exact in every type
  /// for moderate lengths.
  integers,
  zeros,
  ones,
  /// The index itself.
  arange,
  /// NaN; the smallest value for integer types.
  nan
};

/// "uniform", "integers", "zeros", "ones", "arange", "nan".
std::string_view fillKindName(FillKind kind);
std::optional<FillKind> parseFillKind(std::string_view name);

/// Random bits that depend on (seed, index) alone, so that any part of a tensor
/// can be made again without the rest: with g = 0x9e3779b97f4a7c15,
/// mix(mix(seed + g) + g * (index + 1)), where mix is the 64-bit finaliser of
/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", OOPSLA 2014).
uint64_t randomBits(uint64_t seed, uint64_t index);

/// (randomBits >> 11) * 2^-52 - 1: uniform in [-1, 1).
double randomUniform(uint64_t seed, uint64_t index);

/// The low bits of randomBits >> 32 modulo 16, less 8: uniform in [-8, 8).
int64_t randomInteger(uint64_t seed, uint64_t index);

/// Writes every element of `tensor`.
void fillTensor(const HostTensor &tensor, FillKind kind, uint64_t seed = 0);

} // namespace blocksparse

#endif // BLOCKSPARSE_SUPPORT_RANDOMFILL_H
