// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Layout/ElementMask.h"

#include <algorithm>

using namespace blocksparse;

/// Returns a byte for each block of `size` x `size` elements, 1 where the mask is set; nothing if
/// the elements of a block differ.
static std::optional<std::vector<uint8_t>> getBlocks(std::span<const uint8_t> mask, int64_t rows,
                                                     int64_t cols, int64_t size) {
  const int64_t gridCols = (cols + size - 1) / size, gridRows = (rows + size - 1) / size;
  std::vector<uint8_t> blocks(gridRows * gridCols);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t col = 0; col < cols; ++col) {
      const uint8_t isSet = mask[row * cols + col] != 0;
      uint8_t &block = blocks[row / size * gridCols + col / size];
      if (row % size == 0 && col % size == 0)
        block = isSet;
      else if (block != isSet)
        return std::nullopt;
    }
  return blocks;
}

std::optional<BlockLayout> blocksparse::findBlockLayout(std::span<const uint8_t> mask, int64_t rows,
                                                        int64_t cols) {
  constexpr int64_t smallest = 16, largest = 128;
  if (rows <= 0 || cols <= 0 || static_cast<int64_t>(mask.size()) != rows * cols)
    return std::nullopt;
  int64_t size = smallest;
  std::optional<std::vector<uint8_t>> blocks = getBlocks(mask, rows, cols, size);
  if (!blocks || std::ranges::count(*blocks, 0) == 0)
    return std::nullopt;
  for (int64_t next = 2 * size; next <= largest && next <= std::max(rows, cols); next *= 2) {
    auto larger = getBlocks(mask, rows, cols, next);
    if (!larger)
      break;
    blocks = std::move(larger);
    size = next;
  }
  const BlockGrid grid{1, (rows + size - 1) / size, (cols + size - 1) / size};
  std::string error;
  return BlockLayout::fromMask({size, size}, grid, *blocks, error);
}
