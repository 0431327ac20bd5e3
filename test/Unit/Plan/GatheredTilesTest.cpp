// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests tiles of any block rows by any block columns, and the time estimates of both kinds of
// tiles.

#include "SampledProducts.h"

#include <algorithm>
#include <array>

using namespace blocksparse;
using namespace blocksparse::test;

namespace {

/// Holds two bools: true if A is transposed, and true if B is transposed.
constexpr std::pair<bool, bool> transposes[] = {
    {false, false}, {false, true}, {true, false}, {true, true}};
constexpr BlockShape blocks[] = {{16, 16}, {32, 32}, {64, 64},  {16, 64},
                                 {64, 32}, {32, 16}, {64, 128}, {192, 64}};

TEST(GatheredTiles, FormsAreThoseOfTheFactors) {
  struct {
    BlockShape block;
    bool transposeA, transposeB;
    // The form without gathered rows, then what is gathered together with them.
    bool swapsAB, gathersColumns;
    int64_t rowsTogether, columnsTogether, groupBlockRows;
  } const cases[] = {
      {{16, 32}, false, false, true, true, 2, 1, 4},
      {{16, 32}, false, true, false, true, 1, 1, 8},
      {{16, 32}, true, false, false, false, 4, 2, 8},
      {{16, 32}, true, true, false, true, 4, 1, 8},
      {{64, 16}, false, false, true, true, 4, 1, 8},
      {{64, 16}, false, true, false, true, 1, 1, 2},
      {{64, 16}, true, false, false, false, 1, 4, 2},
      {{64, 16}, true, true, false, true, 1, 1, 2},
      {{64, 64}, false, false, false, false, 1, 1, 2},
      {{64, 64}, true, true, false, false, 1, 1, 2},
      {{192, 64}, true, false, false, false, 1, 1, 2},
  };
  for (const auto &c : cases) {
    const bool fine = sharesSubtiles(c.block);
    for (bool gathersRows : {false, true}) {
      const SampledForm form = SampledForm::get(c.block, {c.transposeA, c.transposeB}, gathersRows);
      SCOPED_TRACE(std::to_string(c.block.rows) + "x" + std::to_string(c.block.cols) + " " +
                   std::to_string(c.transposeA) + std::to_string(c.transposeB));
      EXPECT_EQ(form.swapsAB, c.swapsAB);
      EXPECT_EQ(form.gathersColumns, c.gathersColumns || (fine && gathersRows));
      EXPECT_EQ(form.gathersRows, gathersRows);
      EXPECT_EQ(form.rowsTogether, gathersRows ? c.rowsTogether : 1);
      EXPECT_EQ(form.columnsTogether, gathersRows ? c.columnsTogether : 1);
      EXPECT_EQ(form.groupBlockRows(c.block), gathersRows ? c.groupBlockRows : 1);
      EXPECT_EQ(form.sharesColumns(c.block), fine || gathersRows);
      EXPECT_EQ(form.subtileColumns(c.block), fine || gathersRows ? 4 : 6);
    }
  }
}

TEST(GatheredTiles, FactorsAreTransposedWhereThatIsAskedForAndHelps) {
  for (auto [transposeA, transposeB] : transposes) {
    const SampledFactors operands{transposeA, transposeB}, kMajor{false, true};
    for (BlockShape block : blocks) {
      EXPECT_EQ(SampledFactors::get(KernelFamily::CUDAWgmma, block, operands), operands);
      EXPECT_FALSE(SampledFactors::get(KernelFamily::CUDAMma, block, operands));
      const auto transposed =
          SampledFactors::get(KernelFamily::CUDAWgmmaTransposed, block, operands);
      EXPECT_EQ(transposed.has_value(), sharesSubtiles(block) && operands != kMajor);
      if (transposed) {
        EXPECT_EQ(*transposed, kMajor);
      }
    }
  }
}

TEST(GatheredTiles, TurningTakesItsLaunchAndItsBytes) {
  EXPECT_NEAR(estimateTransposeTime(hopper.rates, 0), 5e-6, 1e-9);
  // 128 MB are read and written.
  EXPECT_NEAR(estimateTransposeTime(hopper.rates, 8192 * 8192 * 2), 104.4e-6, 0.1e-6);
}

TEST(GatheredTiles, RowsOfWholeTilesAreNotGathered) {
  for (BlockShape block : {BlockShape{128, 64}, {256, 128}, {384, 64}}) {
    EXPECT_FALSE(canGatherRows(block));
    const SampledForm form = SampledForm::get(block, {false, false}, true);
    EXPECT_FALSE(form.gathersRows);
    EXPECT_TRUE(form.sharesColumns(block));
    EXPECT_EQ(form.groupBlockRows(block), 1);
  }
  for (BlockShape block : {BlockShape{8, 16}, {48, 48}, {32, 128}, {64, 576}})
    EXPECT_FALSE(canGatherRows(block)); // no tiles at all
  for (BlockShape block : blocks)
    EXPECT_TRUE(canGatherRows(block));
}

TEST(GatheredTiles, HalvesAreAnyRowsOf64) {
  const Product product(layoutOf({"101", "000", "010", "101"}), {64, 64},
                        SampledForm::get({64, 64}, {false, false}, true));
  const SampledWorkLists lists = build(product.view, {}, 1);
  EXPECT_EQ(lists.tiles, (std::vector<SampledTile>{
                             tileOf({0, 128}, {0, 512, -1, -1, 1536, 2048, -1, -1}, {0, 192}),
                             tileOf({64}, {1024}, {128})}));
  EXPECT_TRUE(lists.destinations.empty());
}

TEST(GatheredTiles, HalvesAreOfAnyBlocks) {
  // A block of 192 x 128 is three by two subtiles: two blocks make three tiles, and one of these
  // has subtiles of both.
  const Product product(layoutOf({"10", "10"}), {192, 128},
                        SampledForm::get({192, 128}, {false, false}, true));
  const SampledWorkLists lists = build(product.view, {}, 1);
  ASSERT_EQ(lists.tiles.size(), 3u);
  EXPECT_EQ(lists.tiles[0], tileOf({0, 64}, {0, 1, -1, -1, 512, 513, -1, -1}, {0, 64}));
  EXPECT_EQ(lists.tiles[1], tileOf({0, 64}, {1024, 1025, -1, -1, 1536, 1537, -1, -1}, {128, 192}));
  EXPECT_EQ(lists.tiles[2], tileOf({0, 64}, {2048, 2049, -1, -1, 2560, 2561, -1, -1}, {256, 320}));
}

TEST(GatheredTiles, BlocksOf32ShareTheirPieces) {
  // Rows 0 and 3 have blocks in columns 0 and 2, rows 2 and 4 in columns 1 and 3.
  const Product product(layoutOf({"1010", "0000", "0101", "1010", "0101"}), {32, 32},
                        SampledForm::get({32, 32}, {false, true}, true));
  const SampledWorkLists lists = build(product.view, {1, 1, 2, 1}, 1);
  SampledTile first = tileOf({pairOf(0, 2)}, {pairOf(0, 3)}, {});
  SampledTile second = tileOf({pairOf(1, 3)}, {pairOf(2, 4)}, {});
  second.destinationRow = 1;
  std::vector<SampledTile> tiles;
  for (int32_t head : {0, 1})
    for (SampledTile tile : {first, second}) {
      tile.numBlockCols = tile.numBlockRows = 2;
      tile.head = head;
      tiles.push_back(tile);
    }
  EXPECT_EQ(lists.tiles, tiles);
  std::vector<int32_t> destinations(64, -1);
  std::copy_n(std::array{0, 1, 4, 5}.begin(), 4, destinations.begin());
  std::copy_n(std::array{2, 3, 6, 7}.begin(), 4, destinations.begin() + 32);
  EXPECT_EQ(lists.destinations, destinations);
}

TEST(GatheredTiles, WholePiecesComeTogether) {
  // If both factors are MN-major, four block rows (columns) of 16 are gathered as one: there are
  // rows 0 and 1 (block row 7) and columns 0 and 2 (block column 9).
  std::vector<std::string> rows(8, std::string(12, '0'));
  rows[1][2] = rows[1][9] = rows[7][0] = rows[6][11] = '1';
  const Product product(layoutOf(rows), {16, 16}, SampledForm::get({16, 16}, {true, false}, true));
  const SampledWorkLists lists = build(product.view, {}, 1);
  SampledTile tile = tileOf({pairOf(0, 2)}, {pairOf(0, 1)}, {});
  tile.numBlockCols = tile.numBlockRows = 2;
  tile.contiguous = 3; // the columns of a subtile are neighbours
  EXPECT_EQ(lists.tiles, std::vector<SampledTile>{tile});
  std::vector<int32_t> destinations(128, -1);
  destinations[1 * 4 + 2] = 0;           // half 0, subtileColumn 0, row 1, column 2
  destinations[16 + 1 * 4 + 1] = 1;      // subtileColumn 1
  destinations[64 + 16 + 2 * 4 + 3] = 2; // half 1
  destinations[64 + 3 * 4] = 3;
  EXPECT_EQ(lists.destinations, destinations);
}

TEST(GatheredTiles, RunsAreNeighboursOfAChunk) {
  // Columns 0 to 3 and 5 to 8 each fill a subtile column with neighbours; of 10 to 13 one is
  // missing.
  const Product product(layoutOf({"11110111101101", "11110111101101"}), {16, 16},
                        SampledForm::get({16, 16}, {false, true}, true));
  const SampledWorkLists lists = build(product.view, {}, 1);
  ASSERT_EQ(lists.tiles.size(), 1u);
  EXPECT_EQ(lists.tiles[0].numBlockCols, 11);
  EXPECT_EQ(lists.tiles[0].contiguous, 3);
}

TEST(GatheredTiles, CoverRandomLayouts) {
  for (const BlockLayout &layout : randomLayouts())
    for (BlockShape block : blocks)
      for (auto [transposeA, transposeB] : transposes) {
        const Product product(layout, block,
                              SampledForm::get(block, {transposeA, transposeB}, true));
        const int64_t heads = layout.grid().heads;
        const TileSpace space{1, 2, heads == 1 ? 2 : heads, heads};
        EXPECT_EQ(verifySampledTiles(product.view, build(product.view, space), space), "")
            << block.rows << "x" << block.cols << ", " << transposeA << transposeB;
      }
}

TEST(GatheredTiles, NarrowerTilesKeepWorkersBusy) {
  const SampledForm form = SampledForm::get({64, 64}, {false, false}, true);
  const Product product(layoutOf({"1111", "1111"}), {64, 64}, form);
  EXPECT_EQ(build(product.view, {}, 1).tiles.size(), 1u);
  EXPECT_EQ(build(product.view, {}, 3).tiles.size(), 2u);
  EXPECT_EQ(build(product.view, {}, 4).tiles.size(), 4u);
  EXPECT_EQ(build(product.view, {}, 132).tiles.size(), 4u);
  EXPECT_EQ(build(product.view, {1, 2, 1, 1}, 4).tiles.size(), 4u); // two batches
  const Product small(layoutOf({std::string(16, '1')}), {16, 16},
                      SampledForm::get({16, 16}, {false, true}, true));
  EXPECT_EQ(build(small.view, {}, 1).tiles.size(), 1u);
  EXPECT_EQ(build(small.view, {}, 132).tiles.size(), 4u); // of a subtile each
}

void expectEqualShares(const SampledWorkLists &lists, int64_t workers) {
  const int64_t tiles = static_cast<int64_t>(lists.tiles.size());
  ASSERT_EQ(static_cast<int64_t>(lists.workers.size()), workers + 1);
  for (int64_t worker = 0; worker < workers; ++worker) {
    const int64_t has = lists.workers[worker + 1] - lists.workers[worker];
    EXPECT_GE(has, tiles / workers) << tiles << " tiles, worker " << worker;
    EXPECT_LE(has, (tiles + workers - 1) / workers) << tiles << " tiles, worker " << worker;
  }
}

TEST(GatheredTiles, WorkersHaveEquallyManyTiles) {
  for (BlockShape block : {BlockShape{16, 16}, {32, 32}, {64, 64}}) {
    const Product product(layoutOf(randomMask({1, 120, 90}, 4)), block,
                          SampledForm::get(block, {false, true}, true));
    for (int64_t workers : {1, 2, 7, 13, 132})
      expectEqualShares(build(product.view, {}, workers), workers);
  }
  // Every head has one tile. By their loads alone, of 6 and 5 subtiles, one worker would get the
  // full tiles and the other one, with more tiles, the rest.
  const std::string full = "10010101010";
  const BlockGrid grid{static_cast<int64_t>(full.size()), 2, 4};
  const Product product(
      layoutOf(maskOf(grid, [&](int64_t head, int64_t row,
                                int64_t col) { return full[head] == '1' || row + col == 0; })),
      {64, 64}, SampledForm::get({64, 64}, {false, true}, true));
  expectEqualShares(build(product.view, {1, 10, grid.heads, grid.heads}, 2), 2);
}

TEST(GatheredTiles, WindowsAreOfTheCache) {
  // Half of the cache holds 8192 rows of 1024 values: 128 block rows.
  const Product product(layoutOf(randomMask({1, 150, 150}, 5)), {64, 64},
                        SampledForm::get({64, 64}, {false, false}, true));
  std::string error;
  WorkOptions options{1};
  options.cacheBytes = 2 * 8192 * 1024 * 2;
  const SampledWorkLists lists = buildSampledTiles(product.view, {}, 1024, options, error).value();
  const TileSpace space;
  EXPECT_EQ(verifySampledTiles(product.view, lists, space), "");
  for (const SampledTile &tile : lists.tiles) {
    if (tile.firstRows[1] >= 0)
      EXPECT_EQ(tile.firstRows[0] / 8192, tile.firstRows[1] / 8192);
    for (int32_t col : tile.firstCols)
      if (col >= 0)
        EXPECT_EQ(col / 8192, tile.firstCols[0] / 8192);
  }
}

TEST(GatheredTiles, FaultsOfPiecesAreFound) {
  for (BlockShape block : {BlockShape{64, 64}, {64, 128}, {192, 64}}) {
    const Product product(layoutOf({"1101", "0110", "1011"}), block,
                          SampledForm::get(block, {false, true}, true));
    const TileSpace space{1, 1, 2, 1};
    const SampledWorkLists lists = build(product.view, space);
    ASSERT_EQ(verifySampledTiles(product.view, lists, space), "");
    for (size_t i = 0; i < lists.tiles.size(); ++i)
      for (int word = 0; word < 20; ++word) {
        const SampledTile &tile = lists.tiles[i];
        const bool isThere = word < SampledTileTable::Destination
                                 ? tile.firstCols[word] >= 0
                                 : word < SampledTileTable::FirstRow ||
                                       word >= SampledTileTable::Batch ||
                                       tile.firstRows[word - SampledTileTable::FirstRow] >= 0;
        if (!isThere)
          continue; // what nobody looks at
        SampledWorkLists other = lists;
        change(other.tiles[i], word);
        EXPECT_NE(verifySampledTiles(product.view, other, space), "")
            << "tile " << i << ", word " << word;
      }
    SampledWorkLists other = lists;
    std::swap(other.tiles[0].firstRows[0], other.tiles[0].firstRows[1]);
    EXPECT_NE(verifySampledTiles(product.view, other, space), "");
    other = lists;
    other.tiles.pop_back();
    other.workers.back() -= 1;
    EXPECT_NE(verifySampledTiles(product.view, other, space), "");
  }
}

/// Expects that every change of the tables of a product with small blocks is found.
void expectFaults(const SampledProduct &product, const TileSpace &space) {
  const SampledWorkLists lists = build(product, space);
  ASSERT_EQ(verifySampledTiles(product, lists, space), "");
  for (size_t i = 0; i < lists.destinations.size(); ++i)
    for (int32_t value : {-1, 0, 1, 13, -2})
      if (value != lists.destinations[i]) {
        SampledWorkLists other = lists;
        other.destinations[i] = value;
        EXPECT_NE(verifySampledTiles(product, other, space), "") << "place " << i;
      }
  for (size_t i = 0; i < lists.tiles.size(); ++i) {
    const SampledTile &tile = lists.tiles[i];
    auto expectFault = [&](int word, int32_t number) {
      SampledWorkLists other = lists;
      reinterpret_cast<int32_t *>(&other.tiles[i])[word] = number;
      EXPECT_NE(verifySampledTiles(product, other, space), "")
          << "tile " << i << ", word " << word << ": " << number;
    };
    // Numbers of gathered columns and rows.
    for (int32_t col = 0; col < tile.numBlockCols; ++col)
      expectFault(col / 2, tile.blockCols.words[col / 2] ^ 1 << 16 * (col % 2));
    for (int32_t row = 0; row < tile.numBlockRows; ++row)
      expectFault(SampledTileTable::BlockRows + row / 2,
                  tile.blockRows.words[row / 2] ^ 1 << 16 * (row % 2));
    for (int word : {18, 19, 20, 21, 23}) {
      SampledWorkLists other = lists;
      change(other.tiles[i], word);
      EXPECT_NE(verifySampledTiles(product, other, space), "") << "tile " << i << ", word " << word;
    }
    expectFault(SampledTileTable::NumBlockCols, tile.numBlockCols - 1);
    expectFault(SampledTileTable::NumBlockCols, 33);
    expectFault(SampledTileTable::NumBlockRows, tile.numBlockRows - 1);
    expectFault(SampledTileTable::NumBlockRows, 17);
  }
}

TEST(GatheredTiles, FaultsOfSmallBlocksAreFound) {
  const BlockLayout layout = layoutOf({"1101", "0110", "1011", "0000", "1111", "0100"});
  for (BlockShape block : {BlockShape{32, 16}, {16, 64}})
    for (auto [transposeA, transposeB] : transposes) {
      SCOPED_TRACE(std::to_string(transposeA) + std::to_string(transposeB));
      const Product product(layout, block, SampledForm::get(block, {transposeA, transposeB}, true));
      expectFaults(product.view, {1, 1, 2, 1});
    }
}

TEST(GatheredTiles, FaultsHaveNames) {
  const Product product(layoutOf({"1101", "0110", "1011", "0000", "1111", "0100"}), {32, 16},
                        SampledForm::get({32, 16}, {false, true}, true));
  const TileSpace space;
  const SampledWorkLists lists = build(product.view, space, 1);
  auto expectError = [&](auto &&break_, const std::string &error) {
    SampledWorkLists other = lists;
    break_(other.tiles[0]);
    EXPECT_EQ(verifySampledTiles(product.view, other, space), error);
  };
  expectError([](SampledTile &tile) { tile.numBlockCols = 17; },
              "in tile 0 expects block columns in [0, 16], but got 17");
  expectError([](SampledTile &tile) { tile.numBlockRows = 5; },
              "in tile 0 expects block rows in [0, 4], but got 5");
  expectError([](SampledTile &tile) { tile.contiguous = 8; },
              "in tile 0 expects neighbouring block columns in subtile column 3, but got others");
  expectError([](SampledTile &tile) { tile.destinationRow = 2; },
              "in tile 0 expects a row of destinations in [0, 2), but got 2");
}

/// Returns rates by which times are whole seconds: a tile of 128 x 256 over 1024 loads 384 rows.
StageRates ratesOf(double loadsPerSecond, double tilesPerSecond) {
  StageRates rates = hopper.rates.wgmma;
  rates.loadedBytesPerSecond = loadsPerSecond * 384 * 1024 * 2;
  rates.flopsPerSecond = tilesPerSecond * 2 * 128 * 256 * 1024;
  rates.tileSeconds = 0;
  rates.launchSeconds = 10;
  return rates;
}

double estimate(const Product &product, int64_t workers, const StageRates &rates) {
  return estimateSampledTime(build(product.view, {}, workers), product.view, 1024, rates);
}

TEST(GatheredTiles, LoadsOrTheLastRoundTakeTime) {
  // Each tile has two blocks. Four tiles are two rounds of two workers; three are two rounds with
  // fewer loads.
  const Product four(layoutOf({"11111111"}), {128, 128}), three(layoutOf({"111111"}), {128, 128});
  EXPECT_DOUBLE_EQ(estimate(four, 2, ratesOf(1, 1.25)), 12);
  EXPECT_DOUBLE_EQ(estimate(three, 2, ratesOf(1, 1.25)), 11.6);
  EXPECT_DOUBLE_EQ(estimate(three, 2, ratesOf(.5, 1.25)), 13);
  EXPECT_DOUBLE_EQ(estimate(three, 1, ratesOf(1, 1.25)), 13);
  StageRates rates = ratesOf(1, 1.25);
  rates.tileSeconds = 1;
  EXPECT_DOUBLE_EQ(estimate(three, 2, rates), 13.6);
}

TEST(GatheredTiles, TilesLoadWhatTheyHave) {
  // A half of 64 rows and a subtile column of 64 columns load a third of the rows of a full tile,
  // but take the time of its products.
  const SampledForm form = SampledForm::get({64, 64}, {false, true}, true);
  const Product one(layoutOf({"1"}), {64, 64}, form);
  EXPECT_DOUBLE_EQ(estimate(one, 1, ratesOf(.25, 100)), 10 + 4 / 3.);
  EXPECT_DOUBLE_EQ(estimate(one, 1, ratesOf(100, 1)), 11);
  // Two halves.
  const Product two(layoutOf({"1", "1"}), {64, 64}, form);
  EXPECT_DOUBLE_EQ(estimate(two, 1, ratesOf(.25, 100)), 12);
  // One half of 64 rows by 384 columns: 7 subtile columns in two tiles.
  const Product wide(layoutOf({"1111111"}), {64, 64});
  EXPECT_DOUBLE_EQ(estimate(wide, 1, ratesOf(.25, 100)), 10 + 4 * 9 * 64 / 384.);
  EXPECT_DOUBLE_EQ(estimate(wide, 1, ratesOf(100, 1)), 11.5);
  // Two block rows by three block columns of 32; if both factors are MN-major, complete subtiles.
  for (bool together : {false, true}) {
    const Product small(layoutOf({"11100", "11100"}), {32, 32},
                        SampledForm::get({32, 32}, {together, !together}, true));
    EXPECT_DOUBLE_EQ(estimate(small, 1, ratesOf(.25, 100)),
                     10 + 4 * (together ? 64 + 128 : 64 + 96) / 384.);
  }
  // A row tile has 128 rows, whichever blocks it has.
  const Product rowTile(layoutOf({"11100", "11100"}), {32, 32},
                        SampledForm::get({32, 32}, {false, true}, false));
  EXPECT_DOUBLE_EQ(estimate(rowTile, 1, ratesOf(.25, 100)), 10 + 4 * (128 + 96) / 384.);
}

} // namespace
