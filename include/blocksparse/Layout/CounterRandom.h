// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LAYOUT_COUNTERRANDOM_H
#define BLOCKSPARSE_LAYOUT_COUNTERRANDOM_H

#include <cstdint>

namespace blocksparse {

/// Draws the random numbers of one block row. A draw is a pure function of (seed, head, row,
/// counter), so that a named pattern is the same on every machine and does not depend on the order
/// in which rows are built.
///
///   mix(x):   x ^= x >> 30; x *= 0xbf58476d1ce4e5b9;
///             x ^= x >> 27; x *= 0x94d049bb133111eb;  x ^= x >> 31
///   key     = mix(mix(mix(seed) ^ gamma * (head + 1)) ^ gamma * (row + 1))
///   draw(i) = mix(key + gamma * (i + 1)),  gamma = 0x9e3779b97f4a7c15
///
/// All arithmetic is modulo 2^64. draw(0), draw(1), ... is the SplitMix64
/// sequence (Steele, Lea, Flood 2014) that starts at `key`.
class CounterRandom {
public:
  CounterRandom(uint64_t seed, uint64_t head, uint64_t row)
      : key_(mix(mix(mix(seed) ^ gamma * (head + 1)) ^ gamma * (row + 1))) {}

  uint64_t draw(uint64_t counter) const { return mix(key_ + gamma * (counter + 1)); }

  /// Returns an integer in [0, bound): the high half of draw(counter) * bound. Requires bound >= 1;
  /// the bias is below bound / 2^64.
  uint64_t below(uint64_t counter, uint64_t bound) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(draw(counter)) * bound) >> 64);
  }

private:
  static constexpr uint64_t gamma = 0x9e3779b97f4a7c15;

  static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  uint64_t key_;
};

} // namespace blocksparse

#endif // BLOCKSPARSE_LAYOUT_COUNTERRANDOM_H
