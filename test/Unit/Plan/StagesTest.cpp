// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/Stages.h"
#include "PlanTargets.h"
#include "ProcessorTime.h"
#include "RowProducts.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <map>

using namespace blocksparse;
using namespace blocksparse::test;

namespace {

using Product = StagedLut;

StagedRows wgmma(const RowProduct &product, int64_t tileN = 256) {
  std::string error;
  std::optional<StagedRows> staged = buildWgmmaStages(product, tileN, error);
  EXPECT_TRUE(staged.has_value()) << error;
  return staged ? *staged : StagedRows();
}

StagedRows stream(const RowProduct &product, const StreamShape &shape, bool cluster = true) {
  std::string error;
  std::optional<StagedRows> staged =
      buildStreamStages(product, shape, 128, cluster, hopper.rates, error);
  EXPECT_TRUE(staged.has_value()) << error;
  return staged ? *staged : StagedRows();
}

/// Returns the shape for the shared memory of an H100.
std::optional<StreamShape> shapeOf(StreamSizes sizes) {
  sizes.sharedBytes = hopper.sharedMemoryPerBlock;
  return getStreamShape(sizes);
}

std::string verify(const RowProduct &product, const StagedRows &staged, const WorkLists &lists,
                   const TileSpace &space, const StreamShape *shape) {
  return verifyStages(product, tablesOf(staged, lists), space, shape);
}

/// Returns the stages of a product with one column tile.
struct StagedStream {
  StagedStream(const RowProduct &product, const StreamShape &shape)
      : product(product), shape(shape), staged(stream(product, shape)),
        lists(buildWorkLists(staged, space, {1})) {}

  /// Returns the fault that is found if these words of the records have other values.
  std::string verifyRecords(const std::vector<std::pair<size_t, int32_t>> &changes) const {
    StagedRows other = staged;
    for (auto [number, value] : changes)
      other.records[number] = value;
    return verify(product, other, lists, space, &shape);
  }

  const RowProduct &product;
  const StreamShape &shape;
  const TileSpace space{1, 1, 1, 1};
  const StagedRows staged;
  const WorkLists lists;
};

/// Returns a band matrix, `width` blocks wide, whose rows are shuffled.
BlockLayout shuffledBand(int64_t size, int64_t width) {
  return layoutOf(maskOf({1, size, size}, [&](int64_t, int64_t row, int64_t col) {
    const int64_t place = row * 37 % size; // 37 and size have no common factor
    return col >= place && col < place + width;
  }));
}

int64_t panelsOf(const StagedRows &staged, const StreamShape &shape) {
  int64_t panels = 0;
  for (int64_t r = 0; r < staged.firstRecord.back(); ++r)
    panels += staged.records[r * shape.recordInts() + 2];
  return panels;
}

TEST(Stages, WgmmaPairsHalvesOfABlockRow) {
  // The second block row is empty and still has its group.
  const Product product(layoutOf({"101", "000"}), {128, 64}, false);
  const StagedRows staged = wgmma(product.view);
  EXPECT_EQ(staged.rows, (std::vector<int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(staged.firstRecord, (std::vector<int32_t>{0, 2, 2}));
  EXPECT_EQ(staged.records, (std::vector<int32_t>{0, 0, 0, 0, 64, 0, 0, 0, //
                                                  128, 0, 128, 0, 192, 0, 0, 0}));
  // There are two k steps of 64 x 256 and 128 x 64 elements.
  EXPECT_EQ(staged.cost, (std::vector<int64_t>{2 * 2 * (64 * 256 + 128 * 64), 0}));
}

TEST(Stages, WgmmaOfTransposedValuesSwapsCoordinates) {
  // A stored block is 64 x 128: op(V) has two slabs of 64 rows along the stored columns.
  const Product product(layoutOf({"10", "11"}), {64, 128}, true);
  const StagedRows staged = wgmma(product.view);
  EXPECT_EQ(staged.rows, (std::vector<int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(staged.records, (std::vector<int32_t>{0,  0, 0,   64, 0,   0, 0, 0, //
                                                  64, 0, 64,  64, 64,  0, 0, 0, //
                                                  64, 0, 128, 64, 128, 0, 0, 0}));
}

TEST(Stages, WgmmaPairsBlockRowsThatSharePanels) {
  const Product product(layoutOf({"1100", "0011", "1100", "0011"}), {64, 64}, false);
  const StagedRows staged = wgmma(product.view);
  EXPECT_EQ(staged.rows, (std::vector<int32_t>{0, 2, 1, 3}));
  EXPECT_EQ(staged.firstRecord, (std::vector<int32_t>{0, 2, 4}));
  // If no order saves a panel, rows keep their order; the last of an odd number of rows is alone.
  const Product apart(layoutOf({"1000", "0100", "0010"}), {64, 64}, false);
  EXPECT_EQ(wgmma(apart.view).rows, (std::vector<int32_t>{0, 1, 2, -1}));
}

TEST(Stages, WgmmaCoversRandomLayouts) {
  for (const BlockLayout &layout : randomLayouts())
    for (BlockShape block : {BlockShape{64, 64}, {128, 64}, {64, 192}, {192, 128}, {256, 64}})
      for (bool transpose : {false, true})
        for (int64_t batches : {1, 3}) {
          const Product product(layout, block, transpose);
          const StagedRows staged = wgmma(product.view);
          const int64_t heads = layout.grid().heads;
          const TileSpace space{3, batches, heads == 1 ? 2 : heads, heads};
          const WorkLists lists = buildWorkLists(staged, space, {5});
          EXPECT_EQ(verify(product.view, staged, lists, space, nullptr), "");
        }
}

TEST(Stages, StreamRecordOfTwoRows) {
  const Product product(layoutOf({"110", "011", "000"}), {16, 16}, false);
  const StreamShape shape{16, 2, 2, 3};
  const StagedRows staged = stream(product.view, shape, /*cluster=*/false);
  EXPECT_EQ(staged.rows, (std::vector<int32_t>{0, 1, 2, -1}));
  EXPECT_EQ(staged.firstRecord, (std::vector<int32_t>{0, 2, 2}));
  // Panels 0 and 1, then panel 2, then zeros. Row 0 has bits 0 and 1; row 1 has bit 1, from packed
  // index 2 on.
  EXPECT_EQ(staged.records, (std::vector<int32_t>{0, 3, 2, 0, 0, 1, 0, 0, 3, 2 << 16 | 2, 0, 0, //
                                                  3, 1, 1, 0, 2, 0, 0, 0, 0, 1,           0, 0, //
                                                  0, 0, 0, 0, 0, 0, 0, 0, 0, 0,           0, 0}));
  EXPECT_EQ(staged.order, (std::vector<int32_t>{0, 1, 2, 3}));
}

/// Returns a shape with words of panels, for warps that multiply together.
StreamShape byPanel(int64_t block, int64_t rows, int64_t panels, int64_t blocks) {
  StreamShape shape{block, rows, panels, blocks};
  shape.byPanel = true;
  return shape;
}

TEST(Stages, StreamRecordByPanel) {
  // The layout of StreamRecordOfTwoRows: panel 0 meets row 0, panel 1 both, panel 2 row 1.
  const Product product(layoutOf({"110", "011", "000"}), {16, 16}, false);
  const StagedRows staged = stream(product.view, byPanel(16, 2, 2, 3), /*cluster=*/false);
  constexpr int32_t from1 = 1 << 16, from2 = 2 << 16;
  EXPECT_EQ(staged.records,
            (std::vector<int32_t>{0, 3, 2, 0, 0, 1, 0, 0, 1, from1 | 1, 0, 0, 0, from2 | 1, 0, 0, //
                                  3, 1, 1, 0, 2, 0, 0, 0, 0, 0,         0, 0, 1, 0,         0, 0, //
                                  0, 0, 0, 0, 0, 0, 0, 0, 0, 0,         0, 0, 0, 0,         0, 0}));
  EXPECT_EQ(staged.order, (std::vector<int32_t>{0, 1, 2, 3}));
  // Blocks are packed by panel, then row, which is not the order of the rows.
  const Product both(layoutOf({"11", "11"}), {16, 16}, false);
  EXPECT_EQ(stream(both.view, byPanel(16, 2, 2, 4)).order, (std::vector<int32_t>{0, 2, 1, 3}));
  EXPECT_EQ(stream(both.view, {16, 2, 2, 4}).order, (std::vector<int32_t>{0, 1, 2, 3}));
}

TEST(Stages, FaultsOfPanelWordsAreFound) {
  const Product product(layoutOf({"110", "011"}), {16, 16}, false);
  const StreamShape shape = byPanel(16, 2, 4, 8);
  const StagedStream stages(product.view, shape);
  ASSERT_EQ(stages.verifyRecords({}), "");
  auto fault = [&](size_t number, int32_t value) {
    return stages.verifyRecords({{number, value}});
  };
  // Words 8 to 11 belong to row 0, words 12 to 15 to row 1.
  EXPECT_EQ(fault(8, 2), "in group 0 expects a mask of 1 rows, but got 2");
  EXPECT_EQ(fault(12, 1 << 16),
            "in group 0 expects the word of a panel without a block to be 0, but got 65536");
  EXPECT_EQ(fault(8, 0), "in group 0 expects a word's first value block 0, but got 1");
  EXPECT_EQ(fault(13, 1), "in group 0 expects a word's first value block 2, but got 0");
  EXPECT_EQ(fault(12, 1 << 16 | 1), "in group 0 expects a word's first value block 2, but got 1");
  EXPECT_EQ(fault(14, 0),
            "in group 0 expects a block in each copy, but got none in that of panel 2");
  EXPECT_EQ(fault(11, 1), "in group 0 expects words of 3 panels, but got 1 for panel 3");
  EXPECT_EQ(fault(10, 3 << 16 | 1), "in group 0 expects packed indices below 4, but got 4");
}

TEST(Stages, TwoRowsOfAnOwnerShareColumns) {
  StreamShape shape{16, 4, 4, 16, 2};
  const Product product(layoutOf({"1111", "1100", "0111", "1101"}), {16, 16}, false);
  // Row 0 has three columns in common with rows 2 and 3, the first of which it gets.
  EXPECT_EQ(stream(product.view, shape).rows, (std::vector<int32_t>{0, 1, 2, 3}));
  const Product other(layoutOf({"1110", "1001", "0111", "1001"}), {16, 16}, false);
  EXPECT_EQ(stream(other.view, shape).rows, (std::vector<int32_t>{0, 1, 2, 3}));
  const Product swapped(layoutOf({"1110", "0111", "1001", "1001"}), {16, 16}, false);
  EXPECT_EQ(stream(swapped.view, shape).rows, (std::vector<int32_t>{0, 2, 1, 3}));
  // In a short group each consumer warp has one row.
  const Product few(layoutOf({"11", "00", "11"}), {16, 16}, false);
  EXPECT_EQ(stream(few.view, shape).rows, (std::vector<int32_t>{0, 1, 2, -1}));
}

/// Returns a shape whose copies are four panels.
StreamShape kMajor(int64_t rows, int64_t panels, int64_t blocks, int64_t consumers = 0) {
  return {16, rows, panels, blocks, consumers, /*kMajor=*/true, /*panelsPerCopy=*/4};
}

TEST(Stages, CopiesOfFourPanelsAreAligned) {
  // There are blocks in all of the first four panels, in one of the next four, and in one of the
  // last two.
  const Product product(layoutOf({"1111010001", "0100010000"}), {16, 16}, false);
  const StreamShape shape = kMajor(2, 8, 8);
  const StagedRows staged = stream(product.view, shape, /*cluster=*/false);
  EXPECT_EQ(staged.records, (std::vector<int32_t>{0, 7, 8, 0, 0, 4, 0, 0, 0x2f, 5 << 16 | 0x22,
                                                  0, 0, //
                                                  7, 1, 4, 0, 8, 0, 0, 0, 2,    1 << 16,
                                                  0, 0, //
                                                  0, 0, 0, 0, 0, 0, 0, 0, 0,    0,
                                                  0, 0}));
  EXPECT_EQ(staged.order, (std::vector<int32_t>{0, 1, 2, 3, 4, 6, 7, 5}));
  // Three copies of 64 x 128, eight value blocks and two records.
  EXPECT_EQ(staged.cost,
            (std::vector<int64_t>{2 * (3 * 64 * 128 + 8 * 16 * 16) + 2 * 4 * shape.recordInts()}));
}

TEST(Stages, ACopyWithMoreBlocksThanARecordComesAgain) {
  const Product product(layoutOf({"11110", "11111"}), {16, 16}, false);
  const StreamShape shape = kMajor(2, 4, 5);
  const StagedRows staged = stream(product.view, shape, /*cluster=*/false);
  // Panels 0 and 1, panels 2 and 3, panel 4.
  EXPECT_EQ(staged.records, (std::vector<int32_t>{0, 4, 4, 0, 0, 0, 0, 0, 3,  2 << 16 | 3,
                                                  0, 0, //
                                                  4, 4, 4, 0, 0, 0, 0, 0, 12, 2 << 16 | 12,
                                                  0, 0, //
                                                  8, 1, 4, 0, 4, 0, 0, 0, 0,  1,
                                                  0, 0, //
                                                  0, 0, 0, 0, 0, 0, 0, 0, 0,  0,
                                                  0, 0}));
  EXPECT_EQ(staged.cost,
            (std::vector<int64_t>{2 * (3 * 64 * 128 + 9 * 16 * 16) + 3 * 4 * shape.recordInts()}));
}

TEST(Stages, ACopyIsNotBegunInARecordThatItEndsBeyond) {
  const Product product(layoutOf({"11001111"}), {16, 16}, false);
  EXPECT_EQ(stream(product.view, kMajor(1, 8, 5)).records,
            (std::vector<int32_t>{0, 2, 4, 0, 0, 0, 0, 0, 3,  0, 0, 0, //
                                  2, 4, 4, 0, 4, 0, 0, 0, 15, 0, 0, 0, //
                                  0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0}));
}

TEST(Stages, RowsAreGroupedByTheCopiesThatTheyShare) {
  // Rows 0 and 2 share no panel, but a copy.
  const Product product(layoutOf({"10000000", "00001000", "01000000", "00000100"}), {16, 16},
                        false);
  EXPECT_EQ(stream(product.view, kMajor(2, 4, 8)).rows, (std::vector<int32_t>{0, 2, 1, 3}));
  EXPECT_EQ(stream(product.view, {16, 2, 4, 8}).rows, (std::vector<int32_t>{0, 1, 2, 3}));
}

TEST(Stages, StreamCoversRandomLayouts) {
  for (const BlockLayout &layout : randomLayouts())
    for (const StreamShape &shape : {StreamShape{16, 4, 3, 7},
                                     {16, 24, 8, 32},
                                     {32, 12, 4, 12},
                                     {32, 1, 16, 1},
                                     {16, 4, 3, 7, 2},
                                     {32, 12, 4, 12, 12},
                                     byPanel(32, 12, 2, 12),
                                     byPanel(16, 24, 8, 30),
                                     {16, 24, 8, 32, 12},
                                     kMajor(4, 4, 7),
                                     kMajor(4, 16, 5, 2),
                                     kMajor(24, 8, 32, 12)})
      for (bool transpose : {false, true})
        for (bool cluster : {false, true}) {
          const Product product(layout, {shape.block, shape.block}, transpose);
          const StagedRows staged = stream(product.view, shape, cluster);
          const int64_t heads = layout.grid().heads;
          const TileSpace space{2, 2, heads == 1 ? 3 : heads, heads};
          const WorkLists lists = buildWorkLists(staged, space, {7});
          EXPECT_EQ(verify(product.view, staged, lists, space, &shape), "");
          std::vector<int32_t> order = staged.order;
          std::sort(order.begin(), order.end());
          for (size_t i = 0; i < order.size(); ++i)
            ASSERT_EQ(order[i], static_cast<int32_t>(i));
        }
}

TEST(Stages, ClusteringFindsShuffledBands) {
  const BlockLayout layout = shuffledBand(200, 16);
  const Product product(layout, {16, 16}, false);
  const StreamShape shape{16, 16, 4, 40};
  const StagedRows plain = stream(product.view, shape, false);
  const StagedRows clustered = stream(product.view, shape, true);
  EXPECT_LT(3 * panelsOf(clustered, shape), 2 * panelsOf(plain, shape));
}

TEST(Stages, FaultsAreFound) {
  const Product product(layoutOf({"1101", "0110", "1011"}), {16, 16}, false);
  const StreamShape shape{16, 2, 4, 8};
  const StagedRows staged = stream(product.view, shape);
  const TileSpace space{2, 1, 2, 1};
  const WorkLists lists = buildWorkLists(staged, space, {3});
  ASSERT_EQ(verify(product.view, staged, lists, space, &shape), "");
  // Every word of every table matters, except those of the record that a kernel reads ahead.
  auto each = [&](std::vector<int32_t> StagedRows::*table, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      StagedRows other = staged;
      (other.*table)[i] ^= 1;
      if (table == &StagedRows::records &&
          (i % 12 == 3 ||
           (i % 12 >= 4 && i % 12 < 8 &&
            static_cast<int32_t>(i % 12) - 4 >= staged.records[i / 12 * 12 + 2]) ||
           i % 12 >= 10))
        continue; // padding
      EXPECT_NE(verify(product.view, other, lists, space, &shape), "") << "at " << i;
    }
  };
  each(&StagedRows::rows, staged.rows.size());
  each(&StagedRows::order, staged.order.size());
  each(&StagedRows::records, staged.records.size() - shape.recordInts());
  for (size_t i = 0; i < lists.tiles.size(); ++i)
    for (int32_t StageTile::*field : {&StageTile::group, &StageTile::columnTile, &StageTile::first,
                                      &StageTile::count, &StageTile::batch, &StageTile::head}) {
      WorkLists other = lists;
      other.tiles[i].*field ^= 1;
      EXPECT_NE(verify(product.view, staged, other, space, &shape), "") << "tile " << i;
    }
  WorkLists fewer = lists;
  fewer.workers.back() -= 1;
  EXPECT_NE(verify(product.view, staged, fewer, space, &shape), "");
}

TEST(Stages, FaultsOfCopiesAreFound) {
  const Product product(layoutOf({"1111010001", "0100010000"}), {16, 16}, false);
  const StreamShape shape = kMajor(2, 8, 8);
  const StagedStream stages(product.view, shape);
  ASSERT_EQ(stages.verifyRecords({}), "");
  auto fault = [&](size_t number, int32_t value) {
    return stages.verifyRecords({{number, value}});
  };
  EXPECT_EQ(fault(2, 7),
            "in group 0 expects whole copies of 4 panels in a record, but got 7 panels");
  EXPECT_EQ(fault(5, 5), "in group 0 expects copies from multiples of 4, but got 5");
  EXPECT_EQ(fault(5, 0), "in group 0 expects ascending panels, but got 0 after 0");
  EXPECT_EQ(fault(16, 0), "in group 0 expects ascending panels, but got 0 after 4");
  EXPECT_EQ(fault(14, 8),
            "in group 0 expects ascending panels, but got 0 after 8"); // [5] of it is 0
  // A copy occurs again, but with a block that its first occurrence has.
  EXPECT_EQ(fault(16, 4), "in group 0 expects value block 5 with panel 9 in slab 0, but got "
                          "value block 5 with panel 5");
  EXPECT_EQ(stages.verifyRecords({{14, 8}, {17, 12}}),
            "in group 0 expects a block in each copy, but got none in that of panel 12");
}

TEST(Stages, FaultsOfWgmmaAreFound) {
  const Product product(layoutOf({"1101", "0110", "1011"}), {128, 64}, false);
  const StagedRows staged = wgmma(product.view);
  const TileSpace space{1, 1, 1, 1};
  const WorkLists lists = buildWorkLists(staged, space, {3});
  ASSERT_EQ(verify(product.view, staged, lists, space, nullptr), "");
  for (size_t i = 0; i < staged.records.size(); ++i) {
    if (i % 8 > 4)
      continue;
    StagedRows other = staged;
    other.records[i] = -1;
    EXPECT_NE(verify(product.view, other, lists, space, nullptr), "") << "at " << i;
  }
}

TEST(Stages, WrongInputIsAnError) {
  const Product product(layoutOf({"11", "01"}), {16, 16}, false);
  std::string error;
  EXPECT_FALSE(buildWgmmaStages(product.view, 256, error));
  EXPECT_EQ(error, "expects blocks of multiples of 64x64, but got 16x16");
  EXPECT_FALSE(buildStreamStages(product.view, {32, 2, 2, 4}, 128, false, hopper.rates, error));
  EXPECT_EQ(error, "expects blocks of 32x32, but got 16x16");
  RowProduct half = product.view;
  half.segments = half.segments.first(1);
  EXPECT_FALSE(buildStreamStages(half, {16, 2, 2, 4}, 128, false, hopper.rates, error));
  EXPECT_EQ(error, "expects a segment for each of 2 tiles, but got 1");
  RowProduct far = product.view;
  far.block = {64, 64};
  std::vector<RowEntry> entries = product.lut.entries;
  entries[0].value = 1 << 26;
  far.entries = entries;
  EXPECT_FALSE(buildWgmmaStages(far, 256, error));
  EXPECT_EQ(error, "expects coordinates of at most 2147483647, but got 4294967360");
}

TEST(Stages, ShapesFillSharedMemory) {
  const StreamShape shape = shapeOf({16, 24, 8, 4, 12}).value();
  const int64_t free =
      hopper.sharedMemoryPerBlock - streamReservedBytes - streamEpilogueBytes(16, 12);
  EXPECT_LE(4 * shape.stageBytes(), free);
  StreamShape larger = shape;
  larger.blocks += 2; // whole kilobytes
  EXPECT_GT(4 * larger.stageBytes(), free);
  EXPECT_EQ(shapeOf({16, 4, 2, 4, 4}).value().blocks, 8); // all that can be
  EXPECT_FALSE(shapeOf({8, 4, 4, 4, 4}));
  EXPECT_FALSE(shapeOf({16, 6, 4, 4, 4})); // warps have whole rows
  EXPECT_TRUE(shapeOf({32, 12, 3, 3, 8, /*wgmma=*/true}).value().byPanel);
  EXPECT_EQ(shapeOf({32, 12, 3, 3, 8, /*wgmma=*/true}).value().recordInts(), 16);
  EXPECT_FALSE(shapeOf({32, 12, 3, 3, 12, /*wgmma=*/true})); // two warpgroups
  EXPECT_FALSE(shapeOf({32, 14, 3, 3, 8, /*wgmma=*/true}));  // too many sums
  EXPECT_FALSE(shapeOf({32, 11, 3, 3, 8, /*wgmma=*/true}));  // one has half of the rows
  EXPECT_FALSE(shapeOf({32, 12, 3, 1, 8, /*wgmma=*/true}));  // would wait for itself
  StreamSizes small{16, 24, 8, 4, 12};
  small.sharedBytes = gpuOf("cuda:sm_120").sharedMemoryPerBlock;
  EXPECT_FALSE(getStreamShape(small)); // a consumer chip
  EXPECT_TRUE(shapeOf({16, 4, 2, 1, 4}));
  EXPECT_FALSE(shapeOf({16, 4, 17, 4, 4}));
  EXPECT_FALSE(shapeOf({32, 12, 16, 3, 12})); // panels alone do not fit
}

TEST(Stages, WholeLinesComeByCopiesOfFourPanels) {
  auto canCopyFour = [](int64_t block, int64_t panels, bool kMajor) {
    StreamSizes sizes{block, 12, panels, 3, 12, /*wgmma=*/false, kMajor};
    sizes.panelsPerCopy = 4;
    return shapeOf(sizes).has_value();
  };
  EXPECT_TRUE(canCopyFour(16, 4, true));
  EXPECT_TRUE(canCopyFour(16, 8, true));
  EXPECT_FALSE(canCopyFour(16, 6, true));
  EXPECT_FALSE(canCopyFour(16, 8, false));
  EXPECT_FALSE(canCopyFour(32, 4, true));
  // A record names the copies alone.
  StreamSizes sizes{16, 12, 8, 3, 12, /*wgmma=*/false, /*kMajor=*/true};
  sizes.panelsPerCopy = 4;
  EXPECT_EQ(shapeOf(sizes).value().headInts(), 8);
  EXPECT_EQ(shapeOf({16, 12, 8, 3, 12}).value().headInts(), 12);
}

TEST(WorkLists, TakeGroupsPanelByPanelInBlocks) {
  StagedRows staged;
  staged.heads.assign(16, 0);
  staged.cost.assign(16, 1000);
  for (int32_t g = 0; g <= 16; ++g)
    staged.firstRecord.push_back(g);
  // Eight workers get two blocks of eight groups; all tiles cost the same.
  const WorkLists lists = buildWorkLists(staged, {2, 1, 1, 1}, {8});
  ASSERT_EQ(lists.tiles.size(), 32u);
  for (int32_t i = 0; i < 32; ++i) {
    const StageTile &tile = lists.tiles[lists.workers[i % 8] + i / 8];
    EXPECT_EQ(tile.group, i / 16 * 8 + i % 8);
    EXPECT_EQ(tile.columnTile, i / 8 % 2);
  }
}

TEST(WorkLists, PanelsThatAreWalkedTogetherFollowEachOther) {
  StagedRows staged;
  staged.heads.assign(4, 0);
  staged.cost.assign(4, 1000);
  staged.firstRecord = {0, 1, 2, 3, 4};
  WorkOptions options{1};
  options.columnTilesTogether = 2;
  // The last one of three column tiles is alone.
  const WorkLists lists = buildWorkLists(staged, {3, 1, 1, 1}, options);
  std::vector<std::pair<int32_t, int32_t>> order;
  for (const StageTile &tile : lists.tiles)
    order.push_back({tile.group, tile.columnTile});
  const std::vector<std::pair<int32_t, int32_t>> blockOfGroup = {{0, 0}, {0, 1}, {0, 2}};
  EXPECT_EQ(std::vector(order.begin(), order.begin() + 3), blockOfGroup);
  EXPECT_EQ(order.size(), 12u);
  options.workers = 4;
  const WorkLists dealt = buildWorkLists(staged, {3, 1, 1, 1}, options);
  // Four workers compute groups 0 and 1 in column tiles 0 and 1, then groups 2 and 3, then column
  // tile 2 of all groups.
  std::vector<std::pair<int32_t, int32_t>> first, last;
  for (int worker = 0; worker < 4; ++worker) {
    const StageTile &begin = dealt.tiles[dealt.workers[worker]];
    const StageTile &end = dealt.tiles[dealt.workers[worker + 1] - 1];
    first.push_back({begin.group, begin.columnTile});
    last.push_back({end.group, end.columnTile});
  }
  EXPECT_EQ(first, (decltype(first){{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  EXPECT_EQ(last, (decltype(last){{0, 2}, {1, 2}, {2, 2}, {3, 2}}));
}

TEST(WorkLists, GroupsWalkPanelsInTheBlocksThatReadLeast) {
  StagedRows staged;
  constexpr int32_t groups = 22, panels = 64;
  staged.heads.assign(groups, 0);
  staged.cost.assign(groups, 1000);
  for (int32_t g = 0; g <= groups; ++g)
    staged.firstRecord.push_back(g);
  // 8192 columns in column tiles of 128, with 8192 values of k.
  WorkOptions options{132, hopper.plannedCacheBytes()};
  options.columnTileBytes = 8192 * 128 * 2;
  // Groups have 384 rows, of whose blocks `density` are stored. Counts the groups whose column tile
  // 0 is among the first tiles of the workers.
  auto blockOf = [&](double density) {
    staged.work.assign(groups, static_cast<int64_t>(384 * 8192 * density));
    const WorkLists lists = buildWorkLists(staged, {panels, 1, 1, 1}, options);
    int64_t count = 0;
    for (int64_t worker = 0; worker < options.workers; ++worker)
      count += lists.tiles[lists.workers[worker]].columnTile == 0;
    return count;
  };
  // With half as many groups, twice as many column tiles are in flight: the dense operand is read
  // twice as often, and the values half as often.
  EXPECT_EQ(blockOf(0.05), 22);
  EXPECT_EQ(blockOf(0.1), 22);
  EXPECT_EQ(blockOf(0.25), 11);
  EXPECT_EQ(blockOf(0.5), 11);
  EXPECT_EQ(blockOf(1), 8);
  options.columnTilesTogether = 2;
  EXPECT_EQ(blockOf(0.5), 22);
  options.columnTilesTogether = 1;
  options.columnTileBytes = 0;
  EXPECT_EQ(blockOf(0.5), 22);
}

TEST(WorkLists, UnequalGroupsGoLongestFirstToTheLeastLoaded) {
  StagedRows staged;
  staged.heads.assign(4, 0);
  staged.cost = {1000, 9000, 2000, 8000};
  staged.firstRecord = {0, 1, 2, 3, 4};
  WorkOptions options{2};
  options.tileBytes = 0;
  const WorkLists lists = buildWorkLists(staged, {1, 1, 1, 1}, options);
  EXPECT_EQ(lists.workers, (std::vector<int32_t>{0, 2, 4}));
  std::vector<int32_t> order;
  for (const StageTile &tile : lists.tiles)
    order.push_back(tile.group);
  EXPECT_EQ(order, (std::vector<int32_t>{1, 0, 3, 2}));
}

TEST(WorkLists, LoadsAreEven) {
  const Product product(layoutOf(maskOf({1, 512, 512},
                                        [](int64_t, int64_t row, int64_t col) {
                                          return CounterRandom(5, 0, row).below(col, 10) == 0;
                                        })),
                        {16, 16}, false);
  const StreamShape shape = shapeOf({16, 24, 8, 4, 12}).value();
  const StagedRows staged = stream(product.view, shape);
  const TileSpace space{64, 1, 1, 1};
  const WorkLists lists = buildWorkLists(staged, space, {132});
  std::vector<int64_t> loads(132);
  for (int worker = 0; worker < 132; ++worker)
    for (int32_t t = lists.workers[worker]; t < lists.workers[worker + 1]; ++t)
      loads[worker] += staged.cost[lists.tiles[t].group] + (64 << 10);
  const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
  EXPECT_LT(*most, *least + *least / 8);
}

TEST(Stages, LargeLayoutsAreQuick) {
  const Product product(largeLayout(), {16, 16}, false);
  const StreamShape shape = shapeOf({16, 24, 8, 4, 12}).value();
  const TileSpace space{8, 1, 16, 16};
  const StagedRows staged = timed("buildStreamStages", [&] { return stream(product.view, shape); });
  const WorkLists lists =
      timed("buildWorkLists", [&] { return buildWorkLists(staged, space, {132}); });
  EXPECT_EQ(verify(product.view, staged, lists, space, &shape), "");
}

} // namespace
