// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fills host tensors with reproducible test data.

#ifndef BLOCKSPARSE_SUPPORT_RANDOMFILL_H
#define BLOCKSPARSE_SUPPORT_RANDOMFILL_H

#include "blocksparse/Support/HostTensor.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace blocksparse {

/// Selects the contents that fillTensor writes. The index of an element is its row-major position,
/// whatever the strides are.
enum class FillKind : uint8_t {
  /// Uniform in [-1, 1) before rounding to the element type. Integer types get `integers` instead,
  /// because only few integers are in [-1, 1).
  uniform,
  /// Integers uniform in [-8, 8): products and sums stay exact in every type for moderate lengths.
  integers,
  zeros,
  ones,
  /// Index of the element.
  arange,
  /// NaN; the smallest value for integer types.
  nan
};

/// Returns the name of a fill: "uniform", "integers", "zeros", "ones", "arange" or "nan".
std::string_view fillKindName(FillKind kind);
/// Returns the fill with the name `name`; nullopt for any other text.
std::optional<FillKind> parseFillKind(std::string_view name);

/// Returns random bits that depend on (seed, index) alone, so that any part of a tensor can be
/// computed without the rest. With g = 0x9e3779b97f4a7c15 they are mix(mix(seed + g) + g * (index +
/// 1)), where mix is the 64-bit finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable
/// pseudorandom number generators", OOPSLA 2014).
uint64_t randomBits(uint64_t seed, uint64_t index);

/// Returns (randomBits >> 11) * 2^-52 - 1, which is uniform in [-1, 1).
double randomUniform(uint64_t seed, uint64_t index);

/// Returns (randomBits >> 32) modulo 16, minus 8, which is uniform in [-8, 8).
int64_t randomInteger(uint64_t seed, uint64_t index);

/// Fills every element of `tensor`.
void fillTensor(const HostTensor &tensor, FillKind kind, uint64_t seed = 0);

} // namespace blocksparse

#endif // BLOCKSPARSE_SUPPORT_RANDOMFILL_H
