// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The numbers in rows of the table of blocksparse/Plan/SampledTiles.h.

#ifndef BLOCKSPARSE_LIB_PLAN_SAMPLEDNUMBERS_H
#define BLOCKSPARSE_LIB_PLAN_SAMPLEDNUMBERS_H

#include "blocksparse/Plan/SampledTiles.h"

namespace blocksparse {

/// Places of 64 columns in a row of the values.
inline constexpr int64_t placesPerRow = 8;

/// The blocks as the form of the product sees them.
std::vector<BlockCoordinate> getBlocks(const SampledProduct &product);

/// Number `i` of the block columns or rows that are gathered, two to a word.
inline int64_t getGathered(const int32_t *words, int64_t i) {
  return static_cast<uint32_t>(words[i / 2]) >> (16 * (i % 2)) & 0xffff;
}
inline void setGathered(int32_t *words, int64_t i, int64_t number) {
  const int shift = 16 * (i % 2);
  words[i / 2] = static_cast<int32_t>((static_cast<uint32_t>(words[i / 2]) & ~(0xffffu << shift)) |
                                      static_cast<uint32_t>(number) << shift);
}

/// Whether piece `piece` of the `count` numbers that are gathered, `each` to a piece, is full and
/// has neighbours alone.
inline bool isRun(const int32_t *words, int64_t count, int64_t piece, int64_t each) {
  if ((piece + 1) * each > count)
    return false;
  for (int64_t i = piece * each; i + 1 < (piece + 1) * each; ++i)
    if (getGathered(words, i + 1) != getGathered(words, i) + 1)
      return false;
  return true;
}

} // namespace blocksparse

#endif // BLOCKSPARSE_LIB_PLAN_SAMPLEDNUMBERS_H
