// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/Swizzle.h"
#include "gtest/gtest.h"

#include <set>

using namespace blocksparse;

namespace {

TEST(Swizzle, RowsAreAsTheProofSays) {
  for (int64_t row = 0; row < 64; ++row) {
    EXPECT_EQ(Swizzle::get(1).of(row), 0);
    EXPECT_EQ(Swizzle::get(2).of(row), row >> 2 & 1);
    EXPECT_EQ(Swizzle::get(4).of(row), row >> 1 & 3);
    for (int64_t chunks : {8, 16, 32})
      EXPECT_EQ(Swizzle::get(chunks).of(row), row & 7);
    EXPECT_EQ(Swizzle::get(4, /*pairs=*/true).of(row), 2 * (row >> 1 & 1));
    EXPECT_EQ(Swizzle::get(8, /*pairs=*/true).of(row), 2 * (row & 3));
  }
}

TEST(Swizzle, APhaseOfLdmatrixReadsAllBanks) {
  for (int64_t chunks : {1, 2, 4, 8, 16, 32})
    for (int64_t first = 0; first < 32; first += 8)
      for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        std::set<int64_t> banks;
        for (int64_t row = first; row < first + 8; ++row)
          banks.insert((row * chunks + swizzleChunk(chunks, row, chunk)) % 8);
        EXPECT_EQ(banks.size(), 8u) << chunks << " chunks, row " << first << ", chunk " << chunk;
      }
}

TEST(Swizzle, PairsOfChunksOfFourRowsReadAllBanks) {
  for (int64_t chunks : {4, 8, 16, 32})
    for (int64_t first = 0; first < 32; first += 4)
      for (int64_t chunk = 0; chunk < chunks; chunk += 2) {
        std::set<int64_t> banks;
        for (int64_t row = first; row < first + 4; ++row) {
          const int64_t at = swizzleChunk(chunks, row, chunk, /*pairs=*/true);
          EXPECT_EQ(swizzleChunk(chunks, row, chunk + 1, /*pairs=*/true), at + 1);
          banks.insert((row * chunks + at) % 8);
          banks.insert((row * chunks + at + 1) % 8);
        }
        EXPECT_EQ(banks.size(), 8u) << chunks << " chunks, row " << first << ", chunk " << chunk;
      }
}

TEST(Swizzle, ARowKeepsAllItsChunks) {
  for (int64_t chunks : {1, 2, 4, 8, 16, 32})
    for (int64_t row = 0; row < 16; ++row) {
      std::set<int64_t> stored;
      for (int64_t chunk = 0; chunk < chunks; ++chunk)
        stored.insert(swizzleChunk(chunks, row, chunk));
      EXPECT_EQ(*stored.begin(), 0);
      EXPECT_EQ(*stored.rbegin(), chunks - 1);
      EXPECT_EQ(static_cast<int64_t>(stored.size()), chunks);
    }
}

static_assert(swizzleChunk(4, 2, 0) == 1 && swizzleChunk(2, 4, 1) == 0);

} // namespace
