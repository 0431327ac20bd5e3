// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TEST_UNIT_PLAN_SAMPLEDPRODUCTS_H
#define BLOCKSPARSE_TEST_UNIT_PLAN_SAMPLEDPRODUCTS_H

#include "PlanLayouts.h"
#include "PlanTargets.h"
#include "blocksparse/Plan/SampledTiles.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <initializer_list>

namespace blocksparse::test {

/// Holds a product at the blocks of a layout.
struct Product {
  Product(const BlockLayout &layout, BlockShape block)
      : lut(buildCoordinateLut(layout, CoordinateOrder::Columns).lut) {
    view.lut = lut;
    view.heads = layout.grid().heads;
    view.block = block;
  }
  Product(const BlockLayout &layout, BlockShape block, SampledForm form) : Product(layout, block) {
    view.form = form;
  }
  Product(const Product &) = delete;

  std::vector<BlockCoordinate> lut;
  SampledProduct view;
};

/// Builds the tiles of a product over a reduction of 1024.
inline SampledWorkLists build(const SampledProduct &product, const TileSpace &space,
                              int64_t workers = 3) {
  std::string error;
  WorkOptions options;
  options.workers = workers;
  options.cacheBytes = hopper.plannedCacheBytes();
  std::optional<SampledWorkLists> lists = buildSampledTiles(product, space, 1024, options, error);
  EXPECT_TRUE(lists.has_value()) << error;
  return lists ? *lists : SampledWorkLists();
}

/// Returns the word of two gathered indices; 0xffff if there is no second one.
inline int32_t pairOf(int32_t first, int32_t second = 0xffff) {
  return static_cast<int32_t>(static_cast<uint32_t>(second) << 16 | static_cast<uint32_t>(first));
}

/// Returns a tile of the first batch and head. Words that are not given are -1.
inline SampledTile tileOf(std::initializer_list<int32_t> cols,
                          std::initializer_list<int32_t> destinations,
                          std::initializer_list<int32_t> rows) {
  SampledTile tile{};
  auto set = [](std::span<int32_t> words, std::initializer_list<int32_t> numbers) {
    std::fill(std::copy(numbers.begin(), numbers.end(), words.begin()), words.end(), -1);
  };
  set(tile.firstCols, cols);
  set(tile.destinations, destinations);
  set(tile.firstRows, rows);
  return tile;
}

/// Changes a word of a tile.
inline void change(SampledTile &tile, int word) {
  int32_t &number = reinterpret_cast<int32_t *>(&tile)[word];
  number = number == 0 ? 1 : 0;
}

} // namespace blocksparse::test

#endif // BLOCKSPARSE_TEST_UNIT_PLAN_SAMPLEDPRODUCTS_H
