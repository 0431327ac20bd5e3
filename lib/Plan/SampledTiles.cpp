// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/SampledTiles.h"
#include "Dealer.h"

#include <algorithm>
#include <limits>
#include <tuple>

using namespace blocksparse;

namespace {

/// Rows and columns of one piece of a result.
constexpr int64_t unit = 64;
/// Places a row of the values.
constexpr int64_t placesPerRow = 8;
constexpr int64_t bytesPerElement = 2;

std::string text(int64_t value) { return std::to_string(value); }

/// 64 columns of one block, from one row unit of it.
struct Chunk {
  int64_t col, place;
};

/// A tile before it belongs to a batch and a head of the result.
struct TilePlan {
  /// Block of rows that sweeps the columns together.
  int64_t sweep = 0;
  int64_t cost = 0;
  SampledTile tile;
};

bool checkSizes(const SampledProduct &product, std::string &error) {
  const BlockShape block = product.block;
  const int64_t most = std::numeric_limits<int32_t>::max();
  if (block.rows < unit || block.rows % unit != 0 || block.cols < unit || block.cols % unit != 0 ||
      block.cols > placesPerRow * unit) {
    error = "expects blocks of multiples of 64x64 of at most 512 columns, but got " +
            text(block.rows) + "x" + text(block.cols);
    return false;
  }
  int64_t last = 0;
  for (const BlockCoordinate &at : product.lut)
    last = std::max({last, (int64_t{at.row} + 1) * block.rows, (int64_t{at.col} + 1) * block.cols,
                     (int64_t{at.value} + 1) * block.rows * placesPerRow});
  if (last <= most)
    return true;
  error = "expects coordinates and places of at most " + text(most) + ", but got " + text(last);
  return false;
}

class SampledTiler {
public:
  SampledTiler(const SampledProduct &product, int64_t k, const WorkOptions &options)
      : block(product.block), k(k), options(options), shared(sharesColumns(product.block)),
        most(sampledChunks(product.block)), blocks(product.lut.begin(), product.lut.end()),
        plans(product.heads) {
    std::sort(blocks.begin(), blocks.end(), [](const BlockCoordinate &a, const BlockCoordinate &b) {
      return std::tuple(a.head, a.row, a.col) < std::tuple(b.head, b.row, b.col);
    });
  }

  /// `copies` tiles stand for each one that is planned.
  void run(int64_t copies) {
    // Narrower tiles where that many more find workers without a tile.
    while (most > 1 && countTiles(most / 2) * copies <= options.workers)
      most /= 2;
    for (size_t begin = 0, end; begin < blocks.size(); begin = end) {
      for (end = begin; end < blocks.size() && blocks[end].head == blocks[begin].head &&
                        blocks[end].row == blocks[begin].row;)
        ++end;
      addBlockRow(begin, end);
    }
    for (std::vector<TilePlan> &head : plans)
      std::stable_sort(head.begin(), head.end(), [](const TilePlan &a, const TilePlan &b) {
        return std::tuple(a.sweep, a.tile.cols[0]) < std::tuple(b.sweep, b.tile.cols[0]);
      });
  }

  SampledWorkLists deal(const TileSpace &space) const {
    Dealer<SampledTile> dealer(options.workers);
    for (int64_t batch = 0; batch < space.batches; ++batch)
      for (int64_t head = 0; head < space.heads; ++head)
        for (const TilePlan &plan : plans[plans.size() == 1 ? 0 : head]) {
          SampledTile tile = plan.tile;
          tile.batch = static_cast<int32_t>(batch);
          tile.head = static_cast<int32_t>(head);
          dealer.deal(tile, plan.cost);
        }
    SampledWorkLists lists;
    dealer.take(lists.tiles, lists.workers);
    return lists;
  }

private:
  /// Tiles of at most `chunks` chunks that all heads of the LUT make together.
  int64_t countTiles(int64_t chunks) const {
    int64_t tiles = 0, row = 0;
    for (size_t i = 0; i < blocks.size(); ++i) {
      row += block.cols / unit;
      if (i + 1 == blocks.size() || blocks[i + 1].head != blocks[i].head ||
          blocks[i + 1].row != blocks[i].row) {
        tiles += (row + chunks - 1) / chunks * (block.rows / (shared ? 2 * unit : unit));
        row = 0;
      }
    }
    return tiles;
  }

  /// Rows that sweep together: half of the cache for them, the rest for the columns in flight.
  int64_t sweepRows() const {
    const int64_t rowBytes = std::max<int64_t>(1, k * bytesPerElement);
    return std::clamp<int64_t>(options.cacheBytes / 2 / rowBytes, 512, 1 << 20);
  }

  void addBlockRow(size_t begin, size_t end) {
    const int64_t step = shared ? 2 * unit : unit;
    for (int64_t m = 0; m < block.rows; m += step) {
      std::vector<Chunk> chunks;
      for (size_t i = begin; i < end; ++i)
        for (int64_t n = 0; n < block.cols; n += unit)
          chunks.push_back({blocks[i].col * block.cols + n,
                            (blocks[i].value * block.rows + m) * placesPerRow + n / unit});
      for (int64_t first = 0, count = chunks.size(); first < count; first += most)
        addTile(blocks[begin], m, std::span(chunks).subspan(first, std::min(most, count - first)));
    }
  }

  void addTile(const BlockCoordinate &at, int64_t m, std::span<const Chunk> chunks) {
    TilePlan plan;
    const int64_t row = at.row * block.rows + m;
    plan.sweep = row / sweepRows();
    SampledTile &tile = plan.tile;
    tile = {};
    tile.rows[0] = static_cast<int32_t>(row);
    tile.rows[1] = static_cast<int32_t>(shared ? row + unit : -1);
    std::fill(std::begin(tile.cols), std::end(tile.cols), -1);
    std::fill(std::begin(tile.places), std::end(tile.places), -1);
    for (size_t c = 0; c < chunks.size(); ++c) {
      tile.cols[c] = static_cast<int32_t>(chunks[c].col);
      tile.places[c] = static_cast<int32_t>(chunks[c].place);
      if (shared)
        tile.places[4 + c] = static_cast<int32_t>(chunks[c].place + unit * placesPerRow);
    }
    const int64_t loaded = (shared ? 2 : 1) + static_cast<int64_t>(chunks.size());
    plan.cost = loaded * unit * k * bytesPerElement + options.tileBytes;
    plans[at.head].push_back(plan);
  }

  const BlockShape block;
  const int64_t k;
  const WorkOptions &options;
  const bool shared;
  /// Chunks of a tile.
  int64_t most;
  std::vector<BlockCoordinate> blocks;
  /// The tiles of each head of the LUT.
  std::vector<std::vector<TilePlan>> plans;
};

/// Marks every piece that a table of tiles writes.
class SampledChecker {
public:
  SampledChecker(const SampledProduct &product, const TileSpace &space)
      : product(product), space(space), shared(sharesColumns(product.block)),
        pieces(product.block.rows / unit * (product.block.cols / unit)) {
    int64_t values = 0;
    for (const BlockCoordinate &at : product.lut)
      values = std::max(values, int64_t{at.value} + 1);
    byValue.assign(values, {-1, 0, 0, 0});
    for (const BlockCoordinate &at : product.lut)
      byValue[at.value] = at;
    copies = space.batches * (product.heads == 1 ? space.heads : 1);
    seen.assign(copies * values * pieces, 0);
  }

  std::string check(int64_t index, const SampledTile &tile) {
    const std::string name = "expects tile " + text(index);
    if (tile.batch < 0 || tile.batch >= space.batches)
      return name + " to have a batch in [0, " + text(space.batches) + "), but got " +
             text(tile.batch);
    if (tile.head < 0 || tile.head >= space.heads)
      return name + " to have a head in [0, " + text(space.heads) + "), but got " + text(tile.head);
    if (tile.rows[1] != (shared ? tile.rows[0] + unit : -1))
      return name + " to have its second half from row " + text(shared ? tile.rows[0] + unit : -1) +
             ", but got " + text(tile.rows[1]);
    for (int i = 0; i < 8; ++i)
      if (tile.places[i] != -1)
        if (std::string error = checkPlace(tile, i); !error.empty())
          return "in tile " + text(index) + " " + error;
    return {};
  }

  std::string finish() const {
    const int64_t wanted = copies * product.lut.size() * pieces;
    if (written == wanted)
      return {};
    return "expects " + text(wanted) + " pieces of results to be written, but got " + text(written);
  }

private:
  std::string checkPlace(const SampledTile &tile, int i) {
    const int64_t half = shared ? i / 4 : 0, chunk = shared ? i % 4 : i;
    const int64_t y = tile.places[i] / placesPerRow, x = tile.places[i] % placesPerRow * unit;
    const int64_t value = y / product.block.rows, m = y % product.block.rows;
    if (tile.places[i] < 0 || value >= static_cast<int64_t>(byValue.size()) ||
        byValue[value].head < 0 || m % unit != 0 || x >= product.block.cols)
      return "expects the place of a piece of a block, but got " + text(tile.places[i]);
    const BlockCoordinate &at = byValue[value];
    const int64_t row = at.row * product.block.rows + m, col = at.col * product.block.cols + x;
    if (tile.rows[half] != row || tile.cols[chunk] != col)
      return "expects row " + text(row) + " and column " + text(col) + " for place " +
             text(tile.places[i]) + ", but got " + text(tile.rows[half]) + " and " +
             text(tile.cols[chunk]);
    if (product.heads != 1 && at.head != tile.head)
      return "expects a block of head " + text(tile.head) + ", but got one of " + text(at.head);
    const int64_t copy = product.heads == 1 ? tile.batch * space.heads + tile.head : tile.batch;
    const int64_t piece = m / unit * (product.block.cols / unit) + x / unit;
    uint8_t &mark = seen[(copy * byValue.size() + value) * pieces + piece];
    if (mark)
      return "expects place " + text(tile.places[i]) + " to be written once, but got it again";
    mark = 1;
    ++written;
    return {};
  }

  const SampledProduct &product;
  const TileSpace &space;
  const bool shared;
  /// Pieces of a block.
  const int64_t pieces;
  int64_t copies = 0, written = 0;
  std::vector<BlockCoordinate> byValue;
  std::vector<uint8_t> seen;
};

} // namespace

std::optional<SampledWorkLists> blocksparse::buildSampledTiles(const SampledProduct &product,
                                                               const TileSpace &space, int64_t k,
                                                               const WorkOptions &options,
                                                               std::string &error) {
  if (!checkSizes(product, error))
    return std::nullopt;
  for (const BlockCoordinate &at : product.lut)
    if (at.head < 0 || at.head >= product.heads) {
      error = "expects heads in [0, " + text(product.heads) + "), but got " + text(at.head);
      return std::nullopt;
    }
  SampledTiler tiler(product, k, options);
  tiler.run(space.batches * (product.heads == 1 ? space.heads : 1));
  return tiler.deal(space);
}

std::string blocksparse::verifySampledTiles(const SampledProduct &product,
                                            std::span<const SampledTile> tiles,
                                            std::span<const int32_t> workers,
                                            const TileSpace &space) {
  if (std::string error = checkWorkerRuns(workers.data(), workers.size(), tiles.size());
      !error.empty())
    return error;
  SampledChecker checker(product, space);
  for (size_t i = 0; i < tiles.size(); ++i)
    if (std::string error = checker.check(i, tiles[i]); !error.empty())
      return error;
  return checker.finish();
}
