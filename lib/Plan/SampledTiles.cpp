// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/SampledTiles.h"
#include "Fault.h"
#include "ListScheduler.h"
#include "SampledBlocks.h"
#include "blocksparse/Plan/BlockCover.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

using namespace blocksparse;

namespace {

constexpr int64_t bytesPerElement = 2;
constexpr int64_t mostInt = std::numeric_limits<int32_t>::max();

/// Describes 64 columns of a row tile, or one block column if columns are gathered. `place` is the
/// destination of its subtile in the first half; if blocks share subtiles, it is the index of the
/// first of its value blocks in SampledTiler::values.
struct SubtileColumn {
  int64_t col, place;
};

/// Describes rows that share the columns of their tiles, and the columns in which they have blocks.
struct RowTile {
  int64_t head, row;
  std::vector<SubtileColumn> subtileColumns;
};

/// Holds a tile, or the tiles of a cluster, before they belong to a batch and a head of the result.
struct TilePlan {
  /// Index of the block of rows that goes through the columns together, and the first column.
  int64_t sweep = 0, col = 0;
  /// Cost of each tile in bytes.
  int64_t cost = 0;
  std::array<SampledTile, wgmmaClusterSize> tiles;
};

/// Holds a plan for one batch and head.
struct ClusterTiles {
  const TilePlan *plan;
  int32_t batch, head;
};

bool checkSizes(const SampledProduct &product, std::string &error) {
  const BlockShape block = product.block;
  if (!hasSampledTiles(block)) {
    error = "expects blocks of multiples of 64x64 of at most 512 columns, or of 16, 32 or 64 rows "
            "and columns, but got " +
            text(block.rows) + "x" + text(block.cols);
    return false;
  }
  const int64_t destinationsOfBlock =
      sharesSubtiles(block) ? 1 : block.rows * SampledTile::destinationsPerRow;
  int64_t last = 0;
  for (const BlockCoordinate &at : product.lut)
    last = std::max({last, (int64_t{at.row} + 1) * block.rows, (int64_t{at.col} + 1) * block.cols,
                     (int64_t{at.value} + 1) * destinationsOfBlock});
  if (product.form.gathersColumns)
    for (const BlockCoordinate &at : getBlocks(product)) {
      const bool row = product.form.gathersRows && at.row > 0xffff;
      if (row || at.col > 0xffff) {
        error = std::string("expects at most 65536 block ") + (row ? "rows" : "columns") +
                " to gather from, but got number " + text(row ? at.row : at.col);
        return false;
      }
    }
  if (last <= mostInt)
    return true;
  error = "expects coordinates and destinations of at most " + text(mostInt) + ", but got " +
          text(last);
  return false;
}

int64_t countThere(std::span<const int32_t> words) {
  return std::count_if(words.begin(), words.end(), [](int32_t word) { return word >= 0; });
}

/// Returns the number of rows and columns of the factors that a tile loads, in elements. `block` is
/// the shape as the form sees it. A cluster loads its rows once.
int64_t loadedExtent(const SampledTile &tile, const SampledForm &form, BlockShape block) {
  const int64_t rows = form.gathersRows && sharesSubtiles(block)
                           ? tile.numBlockRows * block.rows * form.rowsTogether
                           : countThere(tile.firstRows) * subtileSize;
  const int64_t cols = form.gathersColumns ? tile.numBlockCols * block.cols * form.columnsTogether
                                           : countThere(tile.firstCols) * subtileSize;
  return rows / form.cluster + cols;
}

/// Plans the tiles of one product and assigns them to workers.
class SampledTiler {
public:
  SampledTiler(const SampledProduct &product, int64_t k, const WorkOptions &options)
      : block(product.form.of(product.block)), k(k), options(options), form(product.form),
        shared(product.form.sharesColumns(product.block)), fine(sharesSubtiles(product.block)),
        tall(fine ? 2 * subtileSize / block.rows : 1), wide(fine ? subtileSize / block.cols : 1),
        most(product.form.subtileColumns(product.block) * (form.gathersColumns ? wide : 1)),
        plans(product.heads) {
    if (product.form.gathersRows)
      findSubtiles(product);
    else
      makeRowTiles(product);
  }

  /// Plans all tiles. There will be `copies` tiles for each one that is planned.
  void run(int64_t copies) {
    if (form.gathersRows)
      return coverSubtiles(copies);
    // Make tiles narrower, but not below 64 columns, while some workers would get no tile.
    while (most > (form.gathersColumns ? wide : 1) &&
           countTiles(most / 2) * copies <= options.workers)
      most /= 2;
    const int64_t each = most * form.cluster;
    for (const RowTile &rowTile : rowTiles)
      for (int64_t first = 0, count = rowTile.subtileColumns.size(); first < count; first += each)
        addTiles(rowTile,
                 std::span(rowTile.subtileColumns).subspan(first, std::min(each, count - first)));
    for (std::vector<TilePlan> &head : plans)
      std::stable_sort(head.begin(), head.end(), [](const TilePlan &a, const TilePlan &b) {
        return std::tuple(a.sweep, a.col) < std::tuple(b.sweep, b.col);
      });
  }

  SampledWorkLists deal(const TileSpace &space) {
    ListScheduler<ClusterTiles> scheduler(options.workers / form.cluster);
    for (int64_t batch = 0; batch < space.batches; ++batch)
      for (int64_t head = 0; head < space.heads; ++head)
        for (const TilePlan &plan : plans[plans.size() == 1 ? 0 : head])
          scheduler.assign({&plan, static_cast<int32_t>(batch), static_cast<int32_t>(head)},
                           plan.cost);
    std::vector<ClusterTiles> clusterTiles;
    std::vector<int32_t> clusters;
    scheduler.take(clusterTiles, clusters);
    SampledWorkLists lists{{}, {0}, std::move(destinations)};
    for (size_t i = 1; i < clusters.size(); ++i)
      for (int64_t rank = 0; rank < form.cluster; ++rank) {
        for (int32_t turn = clusters[i - 1]; turn < clusters[i]; ++turn) {
          SampledTile &tile = lists.tiles.emplace_back(clusterTiles[turn].plan->tiles[rank]);
          tile.batch = clusterTiles[turn].batch;
          tile.head = clusterTiles[turn].head;
        }
        lists.workers.push_back(static_cast<int32_t>(lists.tiles.size()));
      }
    return lists;
  }

private:
  void makeRowTiles(const SampledProduct &product) {
    std::vector<BlockCoordinate> blocks = getBlocks(product);
    auto rowTileOf = [&](const BlockCoordinate &at) { return std::tuple(at.head, at.row / tall); };
    std::sort(blocks.begin(), blocks.end(),
              [&](const BlockCoordinate &a, const BlockCoordinate &b) {
                return std::tuple(rowTileOf(a), a.col) < std::tuple(rowTileOf(b), b.col);
              });
    for (size_t begin = 0, end; begin < blocks.size(); begin = end) {
      for (end = begin; end < blocks.size() && rowTileOf(blocks[end]) == rowTileOf(blocks[begin]);)
        ++end;
      const std::span row = std::span(blocks).subspan(begin, end - begin);
      if (fine)
        addRowTile(row);
      else
        addBlockRow(row);
    }
  }

  void addBlockRow(std::span<const BlockCoordinate> row) {
    const int64_t step = shared ? 2 * subtileSize : subtileSize;
    for (int64_t m = 0; m < block.rows; m += step) {
      RowTile rowTile{row[0].head, row[0].row * block.rows + m, {}};
      for (const BlockCoordinate &at : row)
        for (int64_t n = 0; n < block.cols; n += subtileSize)
          rowTile.subtileColumns.push_back(
              {at.col * block.cols + n,
               (at.value * block.rows + m) * SampledTile::destinationsPerRow + n / subtileSize});
      rowTiles.push_back(std::move(rowTile));
    }
  }

  /// Returns the number of block columns of a SubtileColumn of blocks that share subtiles.
  int64_t columnsOfSubtile() const { return form.gathersColumns ? 1 : wide; }

  void addRowTile(std::span<const BlockCoordinate> row) {
    const int64_t columns = columnsOfSubtile();
    RowTile rowTile{row[0].head, row[0].row / tall * 2 * subtileSize, {}};
    for (const BlockCoordinate &at : row) {
      const int64_t col = at.col / columns * columns * block.cols;
      if (rowTile.subtileColumns.empty() || rowTile.subtileColumns.back().col != col) {
        rowTile.subtileColumns.push_back({col, static_cast<int64_t>(values.size())});
        values.resize(values.size() + tall * columns, -1);
      }
      values[rowTile.subtileColumns.back().place + at.col % columns * tall + at.row % tall] =
          at.value;
    }
    rowTiles.push_back(std::move(rowTile));
  }

  /// Lists the blocks of each head. Blocks that are made of subtiles are cut into them: block rows
  /// and columns are then those of subtiles, and values are destinations.
  void findSubtiles(const SampledProduct &product) {
    headSubtiles.resize(product.heads);
    const int64_t rows = fine ? 1 : block.rows / subtileSize,
                  cols = fine ? 1 : block.cols / subtileSize;
    for (const BlockCoordinate &at : getBlocks(product))
      for (int64_t m = 0; m < rows; ++m)
        for (int64_t n = 0; n < cols; ++n) {
          BlockCoordinate subtile = at;
          subtile.row = static_cast<int32_t>(at.row * rows + m);
          subtile.col = static_cast<int32_t>(at.col * cols + n);
          if (!fine)
            subtile.value = static_cast<int32_t>(
                (at.value * block.rows + m * subtileSize) * SampledTile::destinationsPerRow + n);
          headSubtiles[at.head].push_back(subtile);
        }
  }

  /// Returns tiles of at most `cols` block columns for all heads. At any time the workers read the
  /// rows and columns of one window of the factors, which must fit in the L2 cache or are read from
  /// memory; docs/Performance.md has the measurements.
  std::vector<std::vector<CoverTile>> coverHeads(int64_t cols) const {
    constexpr int64_t leastExtent = 4096;
    const int64_t extent =
        std::max(leastExtent, options.cacheBytes / 2 / std::max<int64_t>(1, k * bytesPerElement));
    CoverShape shape;
    shape.rows = (fine ? tall : 2) / form.rowsTogether;
    shape.cols = cols / form.columnsTogether;
    shape.rowsTogether = form.rowsTogether;
    shape.colsTogether = form.columnsTogether;
    shape.windowRows = extent / (fine ? block.rows : subtileSize);
    shape.windowCols = extent / (fine ? block.cols : subtileSize);
    std::vector<std::vector<CoverTile>> tiles;
    for (const std::vector<BlockCoordinate> &head : headSubtiles)
      tiles.push_back(coverBlocks(head, shape));
    return tiles;
  }

  void coverSubtiles(int64_t copies) {
    std::vector<std::vector<CoverTile>> heads = coverHeads(most);
    auto hasAll = [&](const std::vector<std::vector<CoverTile>> &heads) {
      int64_t count = 0;
      for (const std::vector<CoverTile> &tiles : heads)
        count += static_cast<int64_t>(tiles.size());
      return count * copies <= options.workers;
    };
    // Make tiles narrower, as in run().
    while (most > (form.gathersColumns ? wide : 1) && hasAll(heads)) {
      std::vector<std::vector<CoverTile>> narrow = coverHeads(most / 2);
      if (!hasAll(narrow))
        break;
      heads = std::move(narrow);
      most /= 2;
    }
    for (size_t head = 0; head < heads.size(); ++head)
      for (const CoverTile &cover : heads[head])
        addCover(static_cast<int64_t>(head), cover);
  }

  void addCover(int64_t head, const CoverTile &cover) {
    TilePlan plan;
    SampledTile &tile = plan.tiles[0] = emptyTile();
    const int64_t rows = cover.rows.size(), cols = cover.cols.size();
    if (fine) {
      for (int64_t i = 0; i < rows; ++i)
        tile.blockRows.set(i, cover.rows[i]);
      for (int64_t i = 0; i < cols; ++i)
        tile.blockCols.set(i, cover.cols[i]);
      tile.numBlockCols = static_cast<int32_t>(cols);
      tile.numBlockRows = static_cast<int32_t>(rows);
      findContiguous(tile);
      int32_t *const out = addDestinations(tile);
      const int64_t blockCols = cols * form.columnsTogether;
      for (int64_t row = 0; row < rows * form.rowsTogether; ++row)
        for (int64_t col = 0; col < blockCols; ++col)
          out[placeOf(row, col)] = cover.values[row * blockCols + col];
    } else {
      for (int64_t i = 0; i < rows; ++i)
        tile.firstRows[i] = static_cast<int32_t>(cover.rows[i] * subtileSize);
      for (int64_t i = 0; i < cols; ++i)
        tile.firstCols[i] = static_cast<int32_t>(cover.cols[i] * subtileSize);
      for (int64_t row = 0; row < rows; ++row)
        std::copy_n(&cover.values[row * cols], cols, &tile.destinations[row * 4]);
    }
    // Workers get equally many tiles, and begin them together: the time of the products of a full
    // tile is a lower bound of the cost, which the loads of most tiles do not exceed.
    constexpr int64_t ofTile = int64_t{1} << 40;
    const int64_t loaded = std::max<int64_t>(loadedExtent(tile, form, block), 5 * subtileSize);
    plan.cost = ofTile + loaded * k * bytesPerElement;
    plans[head].push_back(plan);
  }

  static SampledTile emptyTile() {
    SampledTile tile{};
    std::fill(std::begin(tile.firstCols), std::end(tile.firstCols), -1);
    std::fill(std::begin(tile.destinations), std::end(tile.destinations), -1);
    std::fill(std::begin(tile.firstRows), std::end(tile.firstRows), -1);
    return tile;
  }

  /// Marks the subtile columns whose gathered columns are contiguous.
  void findContiguous(SampledTile &tile) const {
    for (int column = 0; column < 4; ++column)
      tile.contiguous |= isContiguous(tile, column, wide / form.columnsTogether) << column;
  }

  /// Appends a row to the table of destinations for the tile and returns it.
  int32_t *addDestinations(SampledTile &tile) {
    const int64_t width = destinationsPerTile(block), first = destinations.size();
    tile.destinationRow = static_cast<int32_t>(first / width);
    destinations.resize(first + width, -1);
    return &destinations[first];
  }

  /// Returns the index of a block of a tile in its row of destinations.
  int64_t placeOf(int64_t row, int64_t col) const {
    const int64_t half = row * 2 / tall, subtileColumn = col / wide;
    return (half * 4 + subtileColumn) * blocksPerSubtile(block) + row % (tall / 2) * wide +
           col % wide;
  }

  /// Returns the number of tiles of at most `subtileColumns` subtile columns (or gathered block
  /// columns) that all heads of the LUT make together.
  int64_t countTiles(int64_t subtileColumns) const {
    const int64_t each = subtileColumns * form.cluster;
    int64_t plans = 0;
    for (const RowTile &rowTile : rowTiles)
      plans += (static_cast<int64_t>(rowTile.subtileColumns.size()) + each - 1) / each;
    return plans * form.cluster;
  }

  /// Returns the number of rows that go through the columns together: they fill half of the cache,
  /// and the columns in flight have the rest.
  int64_t sweepRows() const {
    const int64_t rowBytes = std::max<int64_t>(1, k * bytesPerElement);
    return std::clamp<int64_t>(options.cacheBytes / 2 / rowBytes, 512, 1 << 20);
  }

  /// Plans the tile of some columns of a row tile, or the tiles of a cluster, of which the first
  /// has most columns.
  void addTiles(const RowTile &rowTile, std::span<const SubtileColumn> subtileColumns) {
    TilePlan plan;
    plan.sweep = rowTile.row / sweepRows();
    plan.col = subtileColumns[0].col;
    for (int64_t rank = 0; rank < form.cluster; ++rank) {
      const size_t first = std::min<size_t>(rank * most, subtileColumns.size());
      plan.tiles[rank] = makeTile(
          rowTile,
          subtileColumns.subspan(first, std::min<size_t>(most, subtileColumns.size() - first)));
    }
    plan.cost = loadedExtent(plan.tiles[0], form, block) * k * bytesPerElement + options.tileBytes;
    plans[rowTile.head].push_back(plan);
  }

  SampledTile makeTile(const RowTile &rowTile, std::span<const SubtileColumn> subtileColumns) {
    SampledTile tile = emptyTile();
    tile.firstRows[0] = static_cast<int32_t>(rowTile.row);
    tile.firstRows[1] = static_cast<int32_t>(shared ? rowTile.row + subtileSize : -1);
    for (size_t c = 0; c < subtileColumns.size() && !form.gathersColumns; ++c) {
      tile.firstCols[c] = static_cast<int32_t>(subtileColumns[c].col);
      if (fine)
        continue;
      tile.destinations[c] = static_cast<int32_t>(subtileColumns[c].place);
      if (shared)
        tile.destinations[4 + c] = static_cast<int32_t>(
            subtileColumns[c].place + subtileSize * SampledTile::destinationsPerRow);
    }
    if (fine)
      addDestinations(tile, subtileColumns);
    if (form.gathersColumns)
      addColumns(tile, subtileColumns);
    return tile;
  }

  void addColumns(SampledTile &tile, std::span<const SubtileColumn> subtileColumns) const {
    for (size_t c = 0; c < subtileColumns.size(); ++c)
      tile.blockCols.set(static_cast<int64_t>(c), subtileColumns[c].col / block.cols);
    tile.numBlockCols = static_cast<int32_t>(subtileColumns.size());
    findContiguous(tile);
  }

  /// Stores the destinations of a tile: value blocks are listed by block column, destinations are
  /// by subtile.
  void addDestinations(SampledTile &tile, std::span<const SubtileColumn> subtileColumns) {
    int32_t *const out = addDestinations(tile);
    const int64_t columns = columnsOfSubtile();
    for (int64_t col = 0; col < static_cast<int64_t>(subtileColumns.size()) * columns; ++col)
      for (int64_t row = 0; row < tall; ++row)
        out[placeOf(row, col)] =
            values[subtileColumns[col / columns].place + col % columns * tall + row];
  }

  const BlockShape block;
  const int64_t k;
  const WorkOptions &options;
  const SampledForm form;
  const bool shared, fine;
  /// If blocks share subtiles: the block rows of a row tile, and the block columns of 64 columns.
  const int64_t tall, wide;
  /// The largest number of Chunks of a tile.
  int64_t most;
  std::vector<RowTile> rowTiles;
  /// The blocks or subtiles of each head, if rows are gathered; `rowTiles` is then empty.
  std::vector<std::vector<BlockCoordinate>> headSubtiles;
  /// The value blocks of the Chunks of all row tiles, block column by block column.
  std::vector<int32_t> values;
  std::vector<int32_t> destinations;
  /// The tiles of each head of the LUT.
  std::vector<std::vector<TilePlan>> plans;
};

} // namespace

std::vector<BlockCoordinate> blocksparse::getBlocks(const SampledProduct &product) {
  std::vector<BlockCoordinate> blocks(product.lut.begin(), product.lut.end());
  if (product.form.swapsAB)
    for (BlockCoordinate &at : blocks)
      std::swap(at.row, at.col);
  return blocks;
}

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
  SampledWorkLists lists = tiler.deal(space);
  if (static_cast<int64_t>(lists.destinations.size()) > mostInt) {
    error = "expects at most " + text(mostInt) + " destinations, but got " +
            text(lists.destinations.size());
    return std::nullopt;
  }
  return lists;
}

double blocksparse::estimateSampledTime(const SampledWorkLists &lists,
                                        const SampledProduct &product, int64_t k,
                                        const StageRates &rates) {
  const SampledForm &form = product.form;
  const int64_t workers = static_cast<int64_t>(lists.workers.size()) - 1;
  const int64_t halves = form.sharesColumns(product.block) ? 2 : 1;
  const int64_t subtileColumns = form.subtileColumns(product.block);
  double loaded = 0;
  for (const SampledTile &tile : lists.tiles)
    loaded += static_cast<double>(loadedExtent(tile, form, form.of(product.block)));
  loaded *= static_cast<double>(k * bytesPerElement);
  int64_t most = 0;
  for (int64_t worker = 0; worker < workers; ++worker)
    most = std::max<int64_t>(most, lists.workers[worker + 1] - lists.workers[worker]);
  const double flops =
      2.0 * static_cast<double>(halves * subtileSize * subtileColumns * subtileSize * k);
  const double seconds =
      rates.launchSeconds +
      std::max(loaded / (static_cast<double>(workers) * rates.loadedBytesPerSecond),
               static_cast<double>(most) * (flops / rates.flopsPerSecond + rates.tileSeconds));
  if (form.cluster == 1)
    return seconds;
  return seconds + rates.clusterLaunchSeconds + static_cast<double>(most) * rates.clusterSeconds;
}

double blocksparse::estimateTransposeTime(const ChipRates &rates, int64_t bytes) {
  return rates.transposeLaunchSeconds +
         2.0 * static_cast<double>(bytes) / rates.transposeBytesPerSecond;
}
