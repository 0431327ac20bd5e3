// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The order in which the tiles of a run-time pattern go to workers. Row groups are sorted by
// length, longest first, but their lengths are known on the device alone, so that the order follows
// from the shapes. Column tiles are taken in turns of a few neighbours; the tiles of a turn are in
// the order of the length of their row groups, and tile i of all goes to worker i modulo their
// number. A worker that meets long rows in one turn should meet short ones in another: every other
// turn may begin with the shortest rows, or every other round of workers may go backwards.

#ifndef BLOCKSPARSE_PLAN_TILEORDER_H
#define BLOCKSPARSE_PLAN_TILEORDER_H

#include <cstdint>
#include <span>

namespace blocksparse {

/// Describes an order of tiles.
struct TileOrder {
  /// Column tiles of a turn; divides their number.
  int64_t together = 1;
  /// True if every other turn begins with the shortest row groups.
  bool mirrorsTurns = false;
  /// True if every other round goes from the last worker to the first.
  bool mirrorsRounds = false;
};

/// Counts the tiles of one matrix, and who takes them.
struct TileGrid {
  int64_t groups = 0, columnTiles = 0, workers = 1;

  /// Returns the number of row groups that go through all column tiles together: at most one for
  /// each worker. The last block of groups may be smaller.
  int64_t groupsOfBlock() const;
};

/// Returns the worker that takes the tile of row group `group` and column tile `column`.
int64_t getWorker(const TileOrder &order, const TileGrid &grid, int64_t group, int64_t column);

/// Returns the cost of the busiest worker relative to the mean, where `costs` has the cost of a
/// tile of each row group.
double getImbalance(const TileOrder &order, const TileGrid &grid, std::span<const double> costs);

/// Returns the order of least imbalance for row groups of `meanLength` entries on average, among
/// those with `least` to `most` column tiles in a turn (or the next smaller divisor of their
/// number, if there is none). Two kinds of patterns count alike: lengths of random rows at a
/// density of a quarter, and lengths from 0 to twice the mean. Of orders that differ by less than a
/// hundredth it is the one with the fewest column tiles. Requires at least one column tile.
TileOrder chooseTileOrder(const TileGrid &grid, int64_t least, int64_t most, double meanLength);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_TILEORDER_H
