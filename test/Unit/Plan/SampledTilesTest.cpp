// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SampledProducts.h"

#include <algorithm>

using namespace blocksparse;
using namespace blocksparse::test;

namespace {

TEST(SampledTiles, HalvesOfABlockRowShareColumns) {
  const Product product(layoutOf({"011", "100"}), {128, 128});
  const SampledWorkLists lists = build(product.view, {}, 1);
  // Value blocks 0 and 1 fill a tile; value block 2 fills half of one.
  const SampledTile first =
      tileOf({128, 192, 256, 320}, {0, 1, 1024, 1025, 512, 513, 1536, 1537}, {0, 64});
  const SampledTile second = tileOf({0, 64}, {2048, 2049, -1, -1, 2560, 2561}, {128, 192});
  EXPECT_EQ(lists.tiles, (std::vector<SampledTile>{second, first}));
  EXPECT_EQ(lists.workers, (std::vector<int32_t>{0, 2}));
}

TEST(SampledTiles, RowsOf64TakeSixChunks) {
  const Product product(layoutOf({"1111111"}), {64, 64});
  const SampledWorkLists lists = build(product.view, {}, 1);
  ASSERT_EQ(lists.tiles.size(), 2u);
  EXPECT_EQ(lists.tiles[0],
            tileOf({0, 64, 128, 192, 256, 320}, {0, 512, 1024, 1536, 2048, 2560}, {0}));
  EXPECT_EQ(lists.tiles[1].firstCols[0], 384);
  EXPECT_EQ(lists.tiles[1].firstCols[1], -1);
}

TEST(SampledTiles, NarrowerTilesKeepWorkersBusy) {
  const Product product(layoutOf({"1111"}), {128, 128});
  EXPECT_EQ(build(product.view, {}, 3).tiles.size(), 2u);
  EXPECT_EQ(build(product.view, {}, 4).tiles.size(), 4u);
  EXPECT_EQ(build(product.view, {}, 132).tiles.size(), 8u);
  EXPECT_EQ(build(product.view, {1, 2, 1, 1}, 4).tiles.size(), 4u); // two batches
}

/// Lists the forms of products with blocks that share subtiles.
const SampledForm forms[] = {{false, false}, {false, true}, {true, true}};

TEST(SampledTiles, CoverRandomLayouts) {
  for (const BlockLayout &layout : randomLayouts())
    for (BlockShape block : {BlockShape{64, 64}, {128, 64}, {64, 192}, {192, 128}, {256, 512}})
      for (int64_t batches : {1, 3}) {
        const Product product(layout, block);
        const int64_t heads = layout.grid().heads;
        const TileSpace space{1, batches, heads == 1 ? 2 : heads, heads};
        EXPECT_EQ(verifySampledTiles(product.view, build(product.view, space), space), "");
      }
}

TEST(SampledTiles, SmallBlocksCoverRandomLayouts) {
  for (const BlockLayout &layout : randomLayouts())
    for (BlockShape block : {BlockShape{16, 16}, {32, 32}, {16, 64}, {64, 32}, {32, 16}})
      for (SampledForm form : forms) {
        Product product(layout, block);
        product.view.form = form;
        const int64_t heads = layout.grid().heads;
        const TileSpace space{1, 2, heads == 1 ? 2 : heads, heads};
        EXPECT_EQ(verifySampledTiles(product.view, build(product.view, space), space), "");
      }
}

TEST(SampledTiles, FaultsAreFound) {
  for (BlockShape block : {BlockShape{128, 64}, {64, 128}}) {
    const Product product(layoutOf({"1101", "0110", "1011"}), block);
    const TileSpace space{1, 1, 2, 1};
    const SampledWorkLists lists = build(product.view, space);
    ASSERT_EQ(verifySampledTiles(product.view, lists, space), "");
    const int64_t columns = product.view.form.subtileColumns(block);
    for (size_t i = 0; i < lists.tiles.size(); ++i)
      for (int word = 0; word < 20; ++word)
        if (word >= SampledTileTable::Destination ||
            (word < columns && lists.tiles[i].firstCols[word] != -1)) {
          SampledWorkLists other = lists;
          change(other.tiles[i], word);
          EXPECT_NE(verifySampledTiles(product.view, other, space), "")
              << "tile " << i << ", word " << word;
        }
    SampledWorkLists fewer = lists;
    fewer.tiles.pop_back();
    EXPECT_NE(verifySampledTiles(product.view, fewer, space), "");
    fewer.workers.back() -= 1;
    EXPECT_NE(verifySampledTiles(product.view, fewer, space), "");
  }
}

/// Describes the form of clusters of two workers that share the rows of blocks of 128.
const SampledForm clustered = SampledForm::get({128, 128}, {}, false, 2);

TEST(SampledTiles, ClustersShareRows) {
  // The first block row has three blocks, the second one block.
  const Product product(layoutOf({"0111", "1000"}), {128, 128}, clustered);
  const SampledWorkLists lists = build(product.view, {}, 2);
  const SampledTile first =
      tileOf({128, 192, 256, 320}, {0, 1, 1024, 1025, 512, 513, 1536, 1537}, {0, 64});
  const SampledTile second = tileOf({384, 448}, {2048, 2049, -1, -1, 2560, 2561}, {0, 64});
  const SampledTile lower = tileOf({0, 64}, {3072, 3073, -1, -1, 3584, 3585}, {128, 192});
  const SampledTile empty = tileOf({}, {}, {128, 192});
  EXPECT_EQ(lists.tiles, (std::vector<SampledTile>{lower, first, empty, second}));
  EXPECT_EQ(lists.workers, (std::vector<int32_t>{0, 2, 4}));
  EXPECT_EQ(verifySampledTiles(product.view, lists, {}), "");
}

TEST(SampledTiles, WorkersThatFillNoClusterHaveNoList) {
  const Product product(layoutOf({"1111111111111111", "1111111111111111"}), {128, 128}, clustered);
  EXPECT_EQ(build(product.view, {}, 1).workers.size(), 3u);
  EXPECT_EQ(build(product.view, {}, 2).workers.size(), 3u);
  EXPECT_EQ(build(product.view, {}, 5).workers.size(), 5u);
  EXPECT_EQ(build(product.view, {}, 4).workers, (std::vector<int32_t>{0, 4, 8, 12, 16}));
}

TEST(SampledTiles, ClustersTakeNarrowerTilesToo) {
  const Product product(layoutOf({"11", "11"}), {128, 128}, clustered); // four subtileColumns a row
  EXPECT_EQ(build(product.view, {}, 2).tiles[0].firstCols[3], 192);
  const SampledWorkLists lists = build(product.view, {}, 4); // two subtileColumns for each worker
  EXPECT_EQ(lists.workers, (std::vector<int32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(lists.tiles[0].firstCols[1], 64);
  EXPECT_EQ(lists.tiles[0].firstCols[2], -1);
  EXPECT_EQ(lists.tiles[1].firstCols[0], 128);
}

TEST(SampledTiles, OnlyRowsOf128AreSharedByClusters) {
  for (BlockShape block : {BlockShape{128, 64}, {128, 128}, {256, 512}})
    for (int64_t cluster : {1, 2, 4})
      EXPECT_EQ(SampledForm::get(block, {}, false, cluster).cluster, std::min<int64_t>(cluster, 2));
  for (BlockShape block : {BlockShape{64, 64}, {192, 128}, {16, 16}, {128, 32}})
    for (bool gathersRows : {false, true})
      EXPECT_EQ(SampledForm::get(block, {}, gathersRows, 2).cluster, 1);
}

TEST(SampledTiles, ClustersCoverRandomLayouts) {
  for (const BlockLayout &layout : randomLayouts())
    for (BlockShape block : {BlockShape{128, 64}, {128, 192}, {256, 512}})
      for (int64_t batches : {1, 3})
        for (int64_t workers : {1, 4, 132}) {
          const Product product(layout, block, clustered);
          const int64_t heads = layout.grid().heads;
          const TileSpace space{1, batches, heads == 1 ? 2 : heads, heads};
          EXPECT_EQ(verifySampledTiles(product.view, build(product.view, space, workers), space),
                    "");
        }
}

TEST(SampledTiles, ClustersLoadTheirRowsOnce) {
  // The time is that of loads; all tiles are full.
  StageRates rates = hopper.rates.wgmma;
  rates.flopsPerSecond = 1e30;
  rates.launchSeconds = rates.tileSeconds = 0;
  const Product alone(layoutOf({"1111"}), {128, 128});
  const Product shared(layoutOf({"1111"}), {128, 128}, clustered);
  auto estimate = [&](const Product &product) {
    return estimateSampledTime(build(product.view, {}, 2), product.view, 1024, rates);
  };
  rates.clusterSeconds = rates.clusterLaunchSeconds = 0;
  const double seconds = estimate(shared);
  EXPECT_DOUBLE_EQ(seconds, estimate(alone) * (64 + 256) / (128 + 256));
  rates.clusterLaunchSeconds = 1;
  EXPECT_DOUBLE_EQ(estimate(shared), seconds + 1);
  rates.clusterSeconds = 0.5; // of the one tile of each worker
  EXPECT_DOUBLE_EQ(estimate(shared), seconds + 1.5);
}

TEST(SampledTiles, FaultsOfClustersAreFound) {
  const Product product(layoutOf({"111", "100"}), {128, 128}, clustered);
  const TileSpace space{1, 1, 2, 1};
  const SampledWorkLists lists = build(product.view, space, 2);
  // The workers have the tiles of the second and the first block row of two heads.
  ASSERT_EQ(lists.workers, (std::vector<int32_t>{0, 4, 8}));
  ASSERT_EQ(verifySampledTiles(product.view, lists, space), "");
  SampledWorkLists other = lists;
  other.workers = {0, 4, 6, 8};
  EXPECT_EQ(verifySampledTiles(product.view, other, space),
            "expects clusters of 2 workers, but got 3 workers");
  other.workers = {0, 3, 8};
  EXPECT_EQ(verifySampledTiles(product.view, other, space),
            "expects worker 1 to have 3 tiles, as worker 0 of its cluster, but got 5");
  const auto empty = std::find_if(lists.tiles.begin(), lists.tiles.end(),
                                  [](const SampledTile &tile) { return tile.firstCols[0] == -1; });
  ASSERT_NE(empty, lists.tiles.end());
  const int64_t number = empty - lists.tiles.begin();
  ASSERT_GE(number, 4);
  for (int word : {16, 17, 18, 19}) { // rows, batch, head
    other = lists;
    change(other.tiles[number], word);
    auto of = [](const SampledTile &tile) {
      return "batch " + std::to_string(tile.batch) + ", head " + std::to_string(tile.head) +
             " and rows " + std::to_string(tile.firstRows[0]) + " and " +
             std::to_string(tile.firstRows[1]);
    };
    EXPECT_EQ(verifySampledTiles(product.view, other, space),
              "expects tile " + std::to_string(number) + " to have " + of(*empty) + ", as tile " +
                  std::to_string(number - 4) + " of its cluster, but got " +
                  of(other.tiles[number]));
  }
}

TEST(SampledTiles, BlocksOf32ShareTheirPieces) {
  // A row tile has four block rows, a subtile column two block columns; the second subtile column
  // of the first row tile is empty.
  const Product product(layoutOf({"100010", "010000", "000000", "000001", "001000"}), {32, 32});
  const SampledWorkLists lists = build(product.view, {1, 1, 2, 1}, 1);
  const SampledTile first = tileOf({0, 128}, {}, {0, 64});
  SampledTile second = tileOf({64}, {}, {128, 192});
  second.destinationRow = 1;
  std::vector<SampledTile> tiles;
  for (int32_t head : {0, 1})
    for (SampledTile tile : {first, second}) {
      tile.head = head;
      tiles.push_back(tile);
    }
  EXPECT_EQ(lists.tiles, tiles);
  EXPECT_EQ(lists.destinations,
            (std::vector<int32_t>{0,  -1, -1, 2,  1,  -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, //
                                  -1, -1, -1, -1, -1, -1, -1, 3,  -1, -1, -1, -1, -1, -1, -1, -1, //
                                  4,  -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, //
                                  -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}));
}

TEST(SampledTiles, ColumnsAreGathered) {
  // The first row tile has blocks in columns 0, 1 and 5, the second in column 2.
  Product product(layoutOf({"100001", "010000", "000000", "000001", "001000"}), {32, 32});
  product.view.form.gathersColumns = true;
  const SampledWorkLists lists = build(product.view, {}, 1);
  ASSERT_EQ(lists.tiles.size(), 2u);
  SampledTile first = tileOf({pairOf(0, 1), pairOf(5)}, {}, {0, 64});
  first.numBlockCols = 3;
  first.contiguous = 1;
  SampledTile second = tileOf({pairOf(2)}, {}, {128, 192});
  second.destinationRow = second.numBlockCols = 1;
  EXPECT_EQ(lists.tiles, (std::vector<SampledTile>{first, second}));
  EXPECT_EQ(lists.destinations,
            (std::vector<int32_t>{0,  -1, -1, 2,  1,  -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, //
                                  -1, -1, -1, -1, -1, -1, 3,  -1, -1, -1, -1, -1, -1, -1, -1, -1, //
                                  4,  -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, //
                                  -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}));
}

TEST(SampledTiles, RowsOfSwappedProductsAreColumns) {
  // Blocks are 32 x 16: a row tile of 128 columns has eight block columns, a subtile column two
  // block rows.
  Product product(layoutOf({"1000000001", "0000000000", "0010000000"}), {32, 16});
  product.view.form = {true, true};
  const SampledWorkLists lists = build(product.view, {}, 1);
  ASSERT_EQ(lists.tiles.size(), 2u);
  EXPECT_EQ(lists.tiles[0].firstRows[0], 0);
  EXPECT_EQ(lists.tiles[0].numBlockCols, 2);
  EXPECT_EQ(lists.tiles[0].firstCols[0], pairOf(0, 2));
  EXPECT_EQ(lists.tiles[1].firstRows[0], 128);
  EXPECT_EQ(lists.tiles[1].numBlockCols, 1);
  ASSERT_EQ(lists.destinations.size(), 128u);
  EXPECT_EQ(lists.destinations[0], 0); // half 0, subtileColumn 0, first of its columns, row 0
  EXPECT_EQ(lists.destinations[2 * 2 + 1], 2);  // block column 2 of the rowTile, block row 2
  EXPECT_EQ(lists.destinations[64 + 1 * 2], 1); // block column 1 of the second rowTile
}

TEST(SampledTiles, SmallBlocksTakeNarrowerTilesToo) {
  const Product product(layoutOf({"1111111111111111"}), {16, 16}); // four subtileColumns
  EXPECT_EQ(build(product.view, {}, 1).tiles.size(), 1u);
  EXPECT_EQ(build(product.view, {}, 2).tiles.size(), 2u);
  EXPECT_EQ(build(product.view, {}, 132).tiles.size(), 4u);
}

TEST(SampledTiles, FaultsOfSmallBlocksAreFound) {
  for (SampledForm form : forms) {
    Product product(layoutOf({"1101", "0110", "1011", "0000", "1111", "0100"}), {32, 16});
    product.view.form = form;
    const TileSpace space{1, 1, 2, 1};
    const SampledWorkLists lists = build(product.view, space);
    ASSERT_EQ(verifySampledTiles(product.view, lists, space), "");
    for (size_t i = 0; i < lists.destinations.size(); ++i)
      for (int32_t value : {-1, 0, 1, 13, -2})
        if (value != lists.destinations[i]) {
          SampledWorkLists other = lists;
          other.destinations[i] = value;
          EXPECT_NE(verifySampledTiles(product.view, other, space), "") << i;
        }
    for (size_t i = 0; i < lists.tiles.size(); ++i)
      for (int word : {0, 16, 17, 18, 19, 20, 21}) {
        if (word == 21 && !form.gathersColumns)
          continue;
        SampledWorkLists other = lists;
        change(other.tiles[i], word);
        EXPECT_NE(verifySampledTiles(product.view, other, space), "")
            << "tile " << i << ", " << word;
      }
    SampledWorkLists other = lists;
    other.tiles[0].destinationRow = 9;
    EXPECT_EQ(verifySampledTiles(product.view, other, space),
              "in tile 0 expects a row of destinations in [0, " +
                  std::to_string(lists.destinations.size() / 64) + "), but got 9");
    other = lists;
    other.tiles[0].numBlockCols = 17;
    if (form.gathersColumns)
      EXPECT_EQ(verifySampledTiles(product.view, other, space),
                form.swapsAB ? "in tile 0 expects block columns in [0, 8], but got 17"
                             : "in tile 0 expects block columns in [0, 16], but got 17");
    other = lists;
    other.tiles[0].contiguous = 8; // there is no fourth subtileColumn
    if (form.gathersColumns)
      EXPECT_EQ(verifySampledTiles(product.view, other, space),
                "in tile 0 expects neighbouring block columns in subtile column 3, but got others");
    other = lists;
    other.destinations.pop_back();
    EXPECT_EQ(verifySampledTiles(product.view, other, space),
              "expects rows of 64 destinations, but got " +
                  std::to_string(other.destinations.size()) + " numbers");
  }
}

TEST(SampledTiles, RowsSweepTheColumnsTogether) {
  const Product product(
      layoutOf(maskOf({1, 64, 8}, [](int64_t, int64_t, int64_t) { return true; })), {128, 128});
  std::string error;
  WorkOptions options{1};
  options.cacheBytes = 2 * 16 * 128 * 1024 * 2; // 16 block rows in half of it
  const SampledWorkLists lists = buildSampledTiles(product.view, {}, 1024, options, error).value();
  ASSERT_EQ(lists.tiles.size(), 64u * 4);
  for (int32_t i = 0; i < 256; ++i) {
    EXPECT_EQ(lists.tiles[i].firstRows[0], (i / 64 * 16 + i % 16) * 128);
    EXPECT_EQ(lists.tiles[i].firstCols[0], i / 16 % 4 * 256);
  }
}

TEST(SampledTiles, WrongInputIsAnError) {
  std::string error;
  const Product small(layoutOf({"1"}), {8, 64}), wide(layoutOf({"1"}), {64, 576});
  EXPECT_FALSE(buildSampledTiles(small.view, {}, 64, {}, error));
  EXPECT_EQ(error,
            "expects blocks of multiples of 64x64 of at most 512 columns, or of 16, 32 or 64 "
            "rows and columns, but got 8x64");
  EXPECT_FALSE(buildSampledTiles(wide.view, {}, 64, {}, error));
  Product many(layoutOf({"1"}), {16, 16});
  many.view.form.gathersColumns = true;
  many.lut[0].col = 65536;
  EXPECT_FALSE(buildSampledTiles(many.view, {}, 64, {}, error));
  EXPECT_EQ(error, "expects at most 65536 block columns to gather from, but got number 65536");
  many.lut[0].col = 0;
  many.lut[0].row = 65537;
  EXPECT_TRUE(buildSampledTiles(many.view, {}, 64, {}, error));
  many.view.form.gathersRows = true;
  EXPECT_FALSE(buildSampledTiles(many.view, {}, 64, {}, error));
  EXPECT_EQ(error, "expects at most 65536 block rows to gather from, but got number 65537");
  Product far(layoutOf({"1"}), {64, 64});
  far.lut[0].value = 1 << 22;
  EXPECT_FALSE(buildSampledTiles(far.view, {}, 64, {}, error));
  EXPECT_EQ(error,
            "expects coordinates and destinations of at most 2147483647, but got 2147484160");
}

} // namespace
