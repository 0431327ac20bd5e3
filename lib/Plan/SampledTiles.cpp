// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/SampledTiles.h"
#include "Dealer.h"

#include <algorithm>
#include <limits>
#include <tuple>

using namespace blocksparse;

namespace {

constexpr int64_t unit = sampledPiece;
/// Places a row of the values.
constexpr int64_t placesPerRow = 8;
constexpr int64_t bytesPerElement = 2;
constexpr int64_t mostInt = std::numeric_limits<int32_t>::max();

std::string text(int64_t value) { return std::to_string(value); }

/// 64 columns of a band, or a block column of those that are gathered. `place`: of the first half
/// of the band; where blocks share pieces, where its value blocks begin in a list of them.
struct Chunk {
  int64_t col, place;
};

/// Rows that share the columns of their tiles, and the chunks where they have blocks.
struct Band {
  int64_t head, row;
  std::vector<Chunk> chunks;
};

/// A tile before it belongs to a batch and a head of the result.
struct TilePlan {
  /// Block of rows that sweeps the columns together, and the first column.
  int64_t sweep = 0, col = 0;
  int64_t cost = 0;
  SampledTile tile;
};

/// The blocks as the form of the product sees them.
std::vector<BlockCoordinate> getBlocks(const SampledProduct &product) {
  std::vector<BlockCoordinate> blocks(product.lut.begin(), product.lut.end());
  if (product.form.swapped)
    for (BlockCoordinate &at : blocks)
      std::swap(at.row, at.col);
  return blocks;
}

/// Number `i` of the gathered block columns of a tile.
int64_t getColumn(const SampledTile &tile, int64_t i) {
  return static_cast<uint32_t>(tile.cols[i / 2]) >> (16 * (i % 2)) & 0xffff;
}

/// Whether chunk `chunk` of a tile, of `wide` block columns, is full and has neighbours alone.
bool isRun(const SampledTile &tile, int64_t chunk, int64_t wide) {
  if ((chunk + 1) * wide > tile.columns)
    return false;
  for (int64_t i = chunk * wide; i + 1 < (chunk + 1) * wide; ++i)
    if (getColumn(tile, i + 1) != getColumn(tile, i) + 1)
      return false;
  return true;
}

bool checkSizes(const SampledProduct &product, std::string &error) {
  const BlockShape block = product.block;
  if (!hasSampledTiles(block)) {
    error = "expects blocks of multiples of 64x64 of at most 512 columns, or of 16, 32 or 64 rows "
            "and columns, but got " +
            text(block.rows) + "x" + text(block.cols);
    return false;
  }
  const int64_t placesOfBlock = sharesPieces(block) ? 1 : block.rows * placesPerRow;
  int64_t last = 0;
  for (const BlockCoordinate &at : product.lut)
    last = std::max({last, (int64_t{at.row} + 1) * block.rows, (int64_t{at.col} + 1) * block.cols,
                     (int64_t{at.value} + 1) * placesOfBlock});
  if (product.form.gathers)
    for (const BlockCoordinate &at : getBlocks(product))
      if (at.col > 0xffff) {
        error =
            "expects at most 65536 block columns to gather from, but got column " + text(at.col);
        return false;
      }
  if (last <= mostInt)
    return true;
  error = "expects coordinates and places of at most " + text(mostInt) + ", but got " + text(last);
  return false;
}

class SampledTiler {
public:
  SampledTiler(const SampledProduct &product, int64_t k, const WorkOptions &options)
      : block(product.form.of(product.block)), gathers(product.form.gathers), k(k),
        options(options), shared(sharesColumns(product.block)), fine(sharesPieces(product.block)),
        tall(fine ? 2 * unit / block.rows : 1), wide(fine ? unit / block.cols : 1),
        most(sampledChunks(product.block) * (gathers ? wide : 1)), plans(product.heads) {
    makeBands(product);
  }

  /// `copies` tiles stand for each one that is planned.
  void run(int64_t copies) {
    // Narrower tiles, of 64 columns or more, where that many more find workers without a tile.
    while (most > (gathers ? wide : 1) && countTiles(most / 2) * copies <= options.workers)
      most /= 2;
    for (const Band &band : bands)
      for (int64_t first = 0, count = band.chunks.size(); first < count; first += most)
        addTile(band, std::span(band.chunks).subspan(first, std::min(most, count - first)));
    for (std::vector<TilePlan> &head : plans)
      std::stable_sort(head.begin(), head.end(), [](const TilePlan &a, const TilePlan &b) {
        return std::tuple(a.sweep, a.col) < std::tuple(b.sweep, b.col);
      });
  }

  SampledWorkLists deal(const TileSpace &space) {
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
    lists.places = std::move(places);
    return lists;
  }

private:
  void makeBands(const SampledProduct &product) {
    std::vector<BlockCoordinate> blocks = getBlocks(product);
    auto bandOf = [&](const BlockCoordinate &at) { return std::tuple(at.head, at.row / tall); };
    std::sort(blocks.begin(), blocks.end(),
              [&](const BlockCoordinate &a, const BlockCoordinate &b) {
                return std::tuple(bandOf(a), a.col) < std::tuple(bandOf(b), b.col);
              });
    for (size_t begin = 0, end; begin < blocks.size(); begin = end) {
      for (end = begin; end < blocks.size() && bandOf(blocks[end]) == bandOf(blocks[begin]);)
        ++end;
      const std::span row = std::span(blocks).subspan(begin, end - begin);
      if (fine)
        addBand(row);
      else
        addBlockRow(row);
    }
  }

  void addBlockRow(std::span<const BlockCoordinate> row) {
    const int64_t step = shared ? 2 * unit : unit;
    for (int64_t m = 0; m < block.rows; m += step) {
      Band band{row[0].head, row[0].row * block.rows + m, {}};
      for (const BlockCoordinate &at : row)
        for (int64_t n = 0; n < block.cols; n += unit)
          band.chunks.push_back(
              {at.col * block.cols + n, (at.value * block.rows + m) * placesPerRow + n / unit});
      bands.push_back(std::move(band));
    }
  }

  /// Block columns of a chunk of the band.
  int64_t columnsOfChunk() const { return gathers ? 1 : wide; }

  void addBand(std::span<const BlockCoordinate> row) {
    const int64_t columns = columnsOfChunk();
    Band band{row[0].head, row[0].row / tall * 2 * unit, {}};
    for (const BlockCoordinate &at : row) {
      const int64_t col = at.col / columns * columns * block.cols;
      if (band.chunks.empty() || band.chunks.back().col != col) {
        band.chunks.push_back({col, static_cast<int64_t>(values.size())});
        values.resize(values.size() + tall * columns, -1);
      }
      values[band.chunks.back().place + at.col % columns * tall + at.row % tall] = at.value;
    }
    bands.push_back(std::move(band));
  }

  /// Tiles of at most `chunks` chunks that all heads of the LUT make together.
  int64_t countTiles(int64_t chunks) const {
    int64_t tiles = 0;
    for (const Band &band : bands)
      tiles += (static_cast<int64_t>(band.chunks.size()) + chunks - 1) / chunks;
    return tiles;
  }

  /// Rows that sweep together: half of the cache for them, the rest for the columns in flight.
  int64_t sweepRows() const {
    const int64_t rowBytes = std::max<int64_t>(1, k * bytesPerElement);
    return std::clamp<int64_t>(options.cacheBytes / 2 / rowBytes, 512, 1 << 20);
  }

  void addTile(const Band &band, std::span<const Chunk> chunks) {
    TilePlan plan;
    plan.sweep = band.row / sweepRows();
    plan.col = chunks[0].col;
    SampledTile &tile = plan.tile;
    tile = {};
    tile.rows[0] = static_cast<int32_t>(band.row);
    tile.rows[1] = static_cast<int32_t>(shared ? band.row + unit : -1);
    std::fill(std::begin(tile.cols), std::end(tile.cols), -1);
    std::fill(std::begin(tile.places), std::end(tile.places), -1);
    for (size_t c = 0; c < chunks.size() && !gathers; ++c) {
      tile.cols[c] = static_cast<int32_t>(chunks[c].col);
      if (fine)
        continue;
      tile.places[c] = static_cast<int32_t>(chunks[c].place);
      if (shared)
        tile.places[4 + c] = static_cast<int32_t>(chunks[c].place + unit * placesPerRow);
    }
    if (fine)
      addPlaces(tile, chunks);
    if (gathers)
      addColumns(tile, chunks);
    const int64_t cols = static_cast<int64_t>(chunks.size()) * (gathers ? block.cols : unit);
    plan.cost = ((shared ? 2 : 1) * unit + cols) * k * bytesPerElement + options.tileBytes;
    plans[band.head].push_back(plan);
  }

  void addColumns(SampledTile &tile, std::span<const Chunk> chunks) const {
    uint32_t words[8] = {};
    for (size_t c = 0; c < chunks.size(); ++c)
      words[c / 2] |= static_cast<uint32_t>(chunks[c].col / block.cols) << (16 * (c % 2));
    std::copy(std::begin(words), std::end(words), std::begin(tile.cols));
    tile.columns = static_cast<int32_t>(chunks.size());
    for (int chunk = 0; chunk < 4; ++chunk)
      tile.runs |= isRun(tile, chunk, wide) << chunk;
  }

  /// From the values of each block column to those of each piece.
  void addPlaces(SampledTile &tile, std::span<const Chunk> chunks) {
    const int64_t first = places.size(), each = blocksPerPiece(block);
    tile.blocks = static_cast<int32_t>(first / placesPerTile(block));
    places.resize(first + placesPerTile(block), -1);
    for (size_t i = 0; i < chunks.size() * columnsOfChunk(); ++i) {
      const int64_t from = chunks[i / columnsOfChunk()].place + i % columnsOfChunk() * tall;
      for (int64_t row = 0; row < tall; ++row) {
        const int64_t half = row * 2 / tall, chunk = i / wide;
        places[first + (half * 4 + chunk) * each + row % (tall / 2) * wide + i % wide] =
            values[from + row];
      }
    }
  }

  const BlockShape block;
  const bool gathers;
  const int64_t k;
  const WorkOptions &options;
  const bool shared, fine;
  /// Of blocks that share pieces, block rows of a band and block columns of 64 columns.
  const int64_t tall, wide;
  /// Chunks of a tile.
  int64_t most;
  std::vector<Band> bands;
  /// The value blocks of the chunks of all bands, column by column of blocks.
  std::vector<int32_t> values;
  std::vector<int32_t> places;
  /// The tiles of each head of the LUT.
  std::vector<std::vector<TilePlan>> plans;
};

/// Marks every piece that a table of tiles writes.
class SampledChecker {
public:
  SampledChecker(const SampledProduct &product, std::span<const int32_t> places,
                 const TileSpace &space)
      : product(product), places(places), space(space), shared(sharesColumns(product.block)),
        fine(sharesPieces(product.block)),
        pieces(fine ? 1 : product.block.rows / unit * (product.block.cols / unit)) {
    int64_t values = 0;
    for (const BlockCoordinate &at : product.lut)
      values = std::max(values, int64_t{at.value} + 1);
    byValue.assign(values, {-1, 0, 0, 0});
    for (const BlockCoordinate &at : getBlocks(product))
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
    std::string error = fine ? checkBlocks(tile) : checkPlaces(tile);
    return error.empty() ? error : "in tile " + text(index) + " " + error;
  }

  std::string finish() const {
    const int64_t wanted = copies * product.lut.size() * pieces;
    if (written == wanted)
      return {};
    return "expects " + text(wanted) + " pieces of results to be written, but got " + text(written);
  }

private:
  std::string checkPlaces(const SampledTile &tile) {
    for (int i = 0; i < 8; ++i)
      if (tile.places[i] != -1)
        if (std::string error = checkPlace(tile, i); !error.empty())
          return error;
    return {};
  }

  std::string checkPlace(const SampledTile &tile, int i) {
    const int64_t half = shared ? i / 4 : 0, chunk = shared ? i % 4 : i;
    const int64_t y = tile.places[i] / placesPerRow, x = tile.places[i] % placesPerRow * unit;
    const int64_t value = y / product.block.rows, m = y % product.block.rows;
    if (tile.places[i] < 0 || !isValue(value) || m % unit != 0 || x >= product.block.cols)
      return "expects the place of a piece of a block, but got " + text(tile.places[i]);
    const BlockCoordinate &at = byValue[value];
    const int64_t row = at.row * product.block.rows + m, col = at.col * product.block.cols + x;
    if (tile.rows[half] != row || tile.cols[chunk] != col)
      return "expects row " + text(row) + " and column " + text(col) + " for place " +
             text(tile.places[i]) + ", but got " + text(tile.rows[half]) + " and " +
             text(tile.cols[chunk]);
    return markPiece(tile, value, m / unit * (product.block.cols / unit) + x / unit,
                     tile.places[i]);
  }

  /// The places of a tile of blocks that share pieces.
  std::string checkBlocks(const SampledTile &tile) {
    const BlockShape block = product.form.of(product.block);
    const int64_t width = placesPerTile(block), each = blocksPerPiece(block);
    const int64_t wide = unit / block.cols, rows = places.size() / width;
    if (product.form.gathers && (tile.columns < 0 || tile.columns > 4 * wide))
      return "expects block columns in [0, " + text(4 * wide) + "], but got " + text(tile.columns);
    for (int64_t chunk = 0; product.form.gathers && chunk < 4; ++chunk)
      if ((tile.runs >> chunk & 1) && !isRun(tile, chunk, wide))
        return "expects neighbouring block columns in chunk " + text(chunk) + ", but got others";
    if (tile.blocks < 0 || tile.blocks >= rows)
      return "expects a row of places in [0, " + text(rows) + "), but got " + text(tile.blocks);
    for (int64_t i = 0; i < width; ++i) {
      const int64_t value = places[tile.blocks * width + i];
      if (value == -1)
        continue;
      if (!isValue(value))
        return "expects a value block, but got " + text(value);
      const BlockCoordinate &at = byValue[value];
      const int64_t piece = i / each, half = piece / 4, chunk = piece % 4;
      const int64_t row = tile.rows[half] + i % each / wide * block.rows;
      const int64_t column = chunk * wide + i % wide;
      int64_t col = tile.cols[chunk] + i % wide * block.cols;
      if (product.form.gathers)
        col = column < tile.columns ? getColumn(tile, column) * block.cols : -1;
      if (row != at.row * block.rows || col != at.col * block.cols)
        return "expects value block " + text(value) + " at row " + text(at.row * block.rows) +
               " and column " + text(at.col * block.cols) + ", but got " + text(row) + " and " +
               text(col);
      if (std::string error = markPiece(tile, value, 0, value); !error.empty())
        return error;
    }
    return {};
  }

  bool isValue(int64_t value) const {
    return value >= 0 && value < static_cast<int64_t>(byValue.size()) && byValue[value].head >= 0;
  }

  /// Notes that the tile writes a piece of a value block, which its table has as `place`.
  std::string markPiece(const SampledTile &tile, int64_t value, int64_t piece, int64_t place) {
    const BlockCoordinate &at = byValue[value];
    if (product.heads != 1 && at.head != tile.head)
      return "expects a block of head " + text(tile.head) + ", but got one of " + text(at.head);
    const int64_t copy = product.heads == 1 ? tile.batch * space.heads + tile.head : tile.batch;
    uint8_t &mark = seen[(copy * byValue.size() + value) * pieces + piece];
    if (mark)
      return "expects place " + text(place) + " to be written once, but got it again";
    mark = 1;
    ++written;
    return {};
  }

  const SampledProduct &product;
  const std::span<const int32_t> places;
  const TileSpace &space;
  const bool shared, fine;
  /// Pieces of a block, or 1 where blocks share them.
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
  SampledWorkLists lists = tiler.deal(space);
  if (static_cast<int64_t>(lists.places.size()) > mostInt) {
    error = "expects at most " + text(mostInt) + " places, but got " + text(lists.places.size());
    return std::nullopt;
  }
  return lists;
}

int64_t blocksparse::countSampledTiles(const BlockLayout &layout, SampledForm form) {
  if (form.swapped)
    return countSampledTiles(layout.transposed(), {false, form.gathers});
  const BlockShape block = layout.block();
  const BlockGrid grid = layout.grid();
  const int64_t tall = 2 * unit / block.rows, wide = unit / block.cols;
  const int64_t columns = form.gathers ? 1 : wide;
  const int64_t most = sampledChunks(block) * (form.gathers ? wide : 1);
  // The band that was last seen to have a block in a chunk.
  std::vector<int64_t> lastBand((grid.cols + columns - 1) / columns, -1);
  int64_t tiles = 0, band = 0;
  for (int64_t head = 0; head < grid.heads; ++head)
    for (int64_t first = 0; first < grid.rows; first += tall, ++band) {
      int64_t chunks = 0;
      for (int64_t row = first; row < std::min(first + tall, grid.rows); ++row)
        for (int32_t col : layout.row(head, row))
          if (lastBand[col / columns] != band) {
            lastBand[col / columns] = band;
            ++chunks;
          }
      tiles += (chunks + most - 1) / most;
    }
  return tiles;
}

std::string blocksparse::verifySampledTiles(const SampledProduct &product,
                                            const SampledWorkLists &lists, const TileSpace &space) {
  if (std::string error =
          checkWorkerRuns(lists.workers.data(), lists.workers.size(), lists.tiles.size());
      !error.empty())
    return error;
  const int64_t width = sharesPieces(product.block) ? placesPerTile(product.block) : 1;
  if (lists.places.size() % width != 0)
    return "expects rows of " + text(width) + " places, but got " + text(lists.places.size()) +
           " numbers";
  SampledChecker checker(product, lists.places, space);
  for (size_t i = 0; i < lists.tiles.size(); ++i)
    if (std::string error = checker.check(i, lists.tiles[i]); !error.empty())
      return error;
  return checker.finish();
}
