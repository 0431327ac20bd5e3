// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Fault.h"
#include "ListScheduler.h"
#include "SampledBlocks.h"

#include <array>
#include <type_traits>

using namespace blocksparse;

namespace {

/// Checks tiles one by one, and marks every subtile or block that they write.
class SampledChecker {
public:
  SampledChecker(const SampledProduct &product, std::span<const int32_t> destinations,
                 const TileSpace &space)
      : product(product), destinations(destinations), space(space),
        shared(product.form.sharesColumns(product.block)), fine(sharesSubtiles(product.block)),
        subtiles(fine ? 1 : product.block.rows / subtileSize * (product.block.cols / subtileSize)) {
  }

  /// Reads the LUT and makes room for the marks of `tiles` tiles. Sizes come from types and tables,
  /// so they are bounded before memory is allocated for them.
  std::string start(int64_t tiles) {
    const int64_t values = product.lut.size();
    byValue.assign(values, {-1, 0, 0, 0});
    for (const BlockCoordinate &at : getBlocks(product)) {
      if (at.value < 0 || at.value >= values)
        return "expects value blocks in [0, " + text(values) + "), but got " + text(at.value);
      byValue[at.value] = at;
    }
    const int64_t most = tiles * (fine ? destinationsPerTile(product.block) : tileDestinations);
    bool overflow = __builtin_mul_overflow(space.batches,
                                           product.heads == 1 ? space.heads : int64_t{1}, &copies);
    overflow |= __builtin_mul_overflow(copies, values, &wanted);
    overflow |= __builtin_mul_overflow(wanted, subtiles, &wanted);
    if (overflow || wanted > most)
      return "expects tiles for all subtiles of " + text(values) + " value blocks in " +
             text(space.batches) + " batches and " + text(space.heads) + " heads, but got " +
             text(tiles) + " tiles with at most " + text(most) + " of them";
    seen.assign(wanted, 0);
    return {};
  }

  std::string check(int64_t index, const SampledTile &tile) {
    const std::string name = "expects tile " + text(index);
    if (tile.batch < 0 || tile.batch >= space.batches)
      return name + " to have a batch in [0, " + text(space.batches) + "), but got " +
             text(tile.batch);
    if (tile.head < 0 || tile.head >= space.heads)
      return name + " to have a head in [0, " + text(space.heads) + "), but got " + text(tile.head);
    const int64_t second = shared ? tile.firstRows[0] + subtileSize : -1;
    if (!product.form.gathersRows && tile.firstRows[1] != second)
      return name + " to have its second half from row " + text(second) + ", but got " +
             text(tile.firstRows[1]);
    std::string error = fine ? checkBlocks(tile) : checkPlaces(tile);
    return error.empty() ? error : "in tile " + text(index) + " " + error;
  }

  std::string finish() const {
    if (written == wanted)
      return {};
    return "expects " + text(wanted) + " subtiles of results to be written, but got " +
           text(written);
  }

private:
  static constexpr int64_t tileDestinations = std::extent_v<decltype(SampledTile::destinations)>;

  std::string checkPlaces(const SampledTile &tile) {
    const int64_t columns = product.form.subtileColumns(product.block);
    for (int i = 0; i < tileDestinations; ++i) {
      if (tile.destinations[i] == -1)
        continue;
      if (!shared && i >= columns)
        return "expects destinations of " + text(columns) + " subtile columns, but got " +
               text(tile.destinations[i]) + " for subtile column " + text(i);
      if (std::string error = checkPlace(tile, i); !error.empty())
        return error;
    }
    return {};
  }

  std::string checkPlace(const SampledTile &tile, int i) {
    const int64_t half = shared ? i / 4 : 0, subtileColumn = shared ? i % 4 : i;
    const int64_t y = tile.destinations[i] / SampledTile::destinationsPerRow,
                  x = tile.destinations[i] % SampledTile::destinationsPerRow * subtileSize;
    const int64_t value = y / product.block.rows, m = y % product.block.rows;
    if (tile.destinations[i] < 0 || !isValue(value) || m % subtileSize != 0 ||
        x >= product.block.cols)
      return "expects the destination of a subtile of a block, but got " +
             text(tile.destinations[i]);
    const BlockCoordinate &at = byValue[value];
    const int64_t row = at.row * product.block.rows + m, col = at.col * product.block.cols + x;
    if (tile.firstRows[half] != row || tile.firstCols[subtileColumn] != col)
      return "expects row " + text(row) + " and column " + text(col) + " for destination " +
             text(tile.destinations[i]) + ", but got " + text(tile.firstRows[half]) + " and " +
             text(tile.firstCols[subtileColumn]);
    return markSubtile(tile, value,
                       m / subtileSize * (product.block.cols / subtileSize) + x / subtileSize,
                       tile.destinations[i]);
  }

  /// Checks the destinations of a tile of blocks that share subtiles.
  std::string checkBlocks(const SampledTile &tile) {
    const BlockShape block = product.form.of(product.block);
    const int64_t width = destinationsPerTile(block), each = blocksPerSubtile(block);
    const int64_t wide = subtileSize / block.cols, high = subtileSize / block.rows;
    const int64_t rows = destinations.size() / width;
    const int64_t rowsTogether = product.form.rowsTogether;
    const int64_t colsTogether = product.form.columnsTogether;
    std::string error;
    if (product.form.gathersColumns)
      error = checkGathered("columns", tile.numBlockCols, 4 * wide / colsTogether);
    for (int64_t subtileColumn = 0; error.empty() && subtileColumn < 4; ++subtileColumn)
      if ((tile.contiguous >> subtileColumn & 1) &&
          !isContiguous(tile, subtileColumn, wide / colsTogether))
        error = "expects neighbouring block columns in subtile column " + text(subtileColumn) +
                ", but got others";
    if (error.empty() && product.form.gathersRows)
      error = checkGathered("rows", tile.numBlockRows, 2 * high / rowsTogether);
    if (!error.empty())
      return error;
    if (tile.destinationRow < 0 || tile.destinationRow >= rows)
      return "expects a row of destinations in [0, " + text(rows) + "), but got " +
             text(tile.destinationRow);
    for (int64_t i = 0; i < width; ++i) {
      const int64_t value = destinations[tile.destinationRow * width + i];
      if (value == -1)
        continue;
      if (!isValue(value))
        return "expects a value block, but got " + text(value);
      const BlockCoordinate &at = byValue[value];
      const int64_t subtile = i / each, half = subtile / 4, subtileColumn = subtile % 4;
      const int64_t inHalf = i % each / wide, inSubtileColumn = i % wide;
      int64_t row = tile.firstRows[half] + inHalf * block.rows;
      int64_t col = tile.firstCols[subtileColumn] + inSubtileColumn * block.cols;
      if (product.form.gathersRows)
        row = getFirst(tile.blockRows, tile.numBlockRows, (half * high + inHalf) / rowsTogether,
                       block.rows * rowsTogether) +
              inHalf % rowsTogether * block.rows;
      if (product.form.gathersColumns)
        col = getFirst(tile.blockCols, tile.numBlockCols,
                       (subtileColumn * wide + inSubtileColumn) / colsTogether,
                       block.cols * colsTogether) +
              inSubtileColumn % colsTogether * block.cols;
      if (row != at.row * block.rows || col != at.col * block.cols)
        return "expects value block " + text(value) + " at row " + text(at.row * block.rows) +
               " and column " + text(at.col * block.cols) + ", but got " + text(row) + " and " +
               text(col);
      if (error = markSubtile(tile, value, 0, value); !error.empty())
        return error;
    }
    return {};
  }

  static std::string checkGathered(const std::string &name, int64_t count, int64_t most) {
    if (count >= 0 && count <= most)
      return {};
    return "expects block " + name + " in [0, " + text(most) + "], but got " + text(count);
  }

  /// Returns the first row or column of gathered index `i`, or -1 if i >= count. Each index stands
  /// for `size` rows or columns.
  static int64_t getFirst(const GatheredIndices &indices, int64_t count, int64_t i, int64_t size) {
    return i < count ? indices.get(i) * size : -1;
  }

  bool isValue(int64_t value) const {
    return value >= 0 && value < static_cast<int64_t>(byValue.size()) && byValue[value].head >= 0;
  }

  /// Marks a subtile of a value block as written by the tile; `place` is its destination, for
  /// errors.
  std::string markSubtile(const SampledTile &tile, int64_t value, int64_t subtile, int64_t place) {
    const BlockCoordinate &at = byValue[value];
    if (product.heads != 1 && at.head != tile.head)
      return "expects a block of head " + text(tile.head) + ", but got one of " + text(at.head);
    const int64_t copy = product.heads == 1 ? tile.batch * space.heads + tile.head : tile.batch;
    uint8_t &mark = seen[(copy * byValue.size() + value) * subtiles + subtile];
    if (mark)
      return "expects destination " + text(place) + " to be written once, but got it again";
    mark = 1;
    ++written;
    return {};
  }

  const SampledProduct &product;
  const std::span<const int32_t> destinations;
  const TileSpace &space;
  const bool shared, fine;
  /// Subtiles of a block, or 1 if blocks share subtiles.
  const int64_t subtiles;
  /// Number of times that the blocks of the LUT are stored, of subtiles to write, and of those that
  /// are written.
  int64_t copies = 0, wanted = 0, written = 0;
  std::vector<BlockCoordinate> byValue;
  std::vector<uint8_t> seen;
};

} // namespace

/// Checks that the workers of a cluster have equally many tiles, with the same rows of the same
/// matrix.
static std::string checkClusters(const SampledWorkLists &lists, int64_t cluster) {
  const int64_t workers = static_cast<int64_t>(lists.workers.size()) - 1;
  if (workers % cluster != 0)
    return "expects clusters of " + text(cluster) + " workers, but got " + text(workers) +
           " workers";
  auto countTiles = [&](int64_t worker) {
    return lists.workers[worker + 1] - lists.workers[worker];
  };
  auto shared = [](const SampledTile &tile) {
    return std::array{tile.batch, tile.head, tile.firstRows[0], tile.firstRows[1]};
  };
  auto list = [](const std::array<int32_t, 4> &of) {
    return "batch " + text(of[0]) + ", head " + text(of[1]) + " and rows " + text(of[2]) + " and " +
           text(of[3]);
  };
  for (int64_t worker = 0; worker < workers; ++worker) {
    const int64_t first = worker / cluster * cluster;
    if (countTiles(worker) != countTiles(first))
      return "expects worker " + text(worker) + " to have " + text(countTiles(first)) +
             " tiles, as worker " + text(first) + " of its cluster, but got " +
             text(countTiles(worker));
    for (int64_t i = 0; i < countTiles(first); ++i) {
      const int64_t tile = lists.workers[worker] + i, other = lists.workers[first] + i;
      const auto wanted = shared(lists.tiles[other]), got = shared(lists.tiles[tile]);
      if (got != wanted)
        return "expects tile " + text(tile) + " to have " + list(wanted) + ", as tile " +
               text(other) + " of its cluster, but got " + list(got);
    }
  }
  return {};
}

std::string blocksparse::verifySampledTiles(const SampledProduct &product,
                                            const SampledWorkLists &lists, const TileSpace &space) {
  if (std::string error =
          checkWorkerRuns(lists.workers.data(), lists.workers.size(), lists.tiles.size());
      !error.empty())
    return error;
  if (std::string error = checkClusters(lists, product.form.cluster); !error.empty())
    return error;
  const int64_t width = sharesSubtiles(product.block) ? destinationsPerTile(product.block) : 1;
  if (lists.destinations.size() % width != 0)
    return "expects rows of " + text(width) + " destinations, but got " +
           text(lists.destinations.size()) + " numbers";
  SampledChecker checker(product, lists.destinations, space);
  if (std::string error = checker.start(lists.tiles.size()); !error.empty())
    return error;
  for (size_t i = 0; i < lists.tiles.size(); ++i)
    if (std::string error = checker.check(i, lists.tiles[i]); !error.empty())
      return error;
  return checker.finish();
}
