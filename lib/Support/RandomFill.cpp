// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Support/RandomFill.h"

#include <cmath>
#include <iterator>
#include <limits>

using namespace blocksparse;

static constexpr std::string_view fillKindNames[] = {"uniform", "integers", "zeros",
                                                     "ones",    "arange",   "nan"};

std::string_view blocksparse::fillKindName(FillKind kind) {
  return fillKindNames[static_cast<int>(kind)];
}

std::optional<FillKind> blocksparse::parseFillKind(std::string_view name) {
  for (size_t kind = 0; kind < std::size(fillKindNames); ++kind)
    if (fillKindNames[kind] == name)
      return static_cast<FillKind>(kind);
  return std::nullopt;
}

static uint64_t mix(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

uint64_t blocksparse::randomBits(uint64_t seed, uint64_t index) {
  constexpr uint64_t golden = 0x9e3779b97f4a7c15u;
  return mix(mix(seed + golden) + golden * (index + 1));
}

double blocksparse::randomUniform(uint64_t seed, uint64_t index) {
  return std::ldexp(static_cast<double>(randomBits(seed, index) >> 11), -52) - 1;
}

int64_t blocksparse::randomInteger(uint64_t seed, uint64_t index) {
  return static_cast<int64_t>((randomBits(seed, index) >> 32) % 16) - 8;
}

static double fillValue(FillKind kind, bool isFloat, uint64_t seed, uint64_t index) {
  switch (kind) {
  case FillKind::uniform:
    if (isFloat)
      return randomUniform(seed, index);
    [[fallthrough]];
  case FillKind::integers:
    return static_cast<double>(randomInteger(seed, index));
  case FillKind::zeros:
    return 0;
  case FillKind::ones:
    return 1;
  case FillKind::arange:
    return static_cast<double>(index);
  case FillKind::nan:
    // Minus infinity saturates to the smallest integer.
    return isFloat ? std::numeric_limits<double>::quiet_NaN()
                   : -std::numeric_limits<double>::infinity();
  }
  return 0;
}

void blocksparse::fillTensor(const HostTensor &tensor, FillKind kind, uint64_t seed) {
  bool isFloat = isFloatType(tensor.type());
  uint64_t number = 0;
  forEachIndex(tensor.shape(), [&](std::span<const int64_t> index) {
    tensor.set(index, fillValue(kind, isFloat, seed, number++));
  });
}
