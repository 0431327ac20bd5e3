// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The layout of the panels of a stage (blocksparse/Plan/Stages.h) in shared memory, and the
// addresses that the lanes of a warp pass to ldmatrix. A panel is one dense block, i.e. `block`
// values of k, by the columns of a column tile.
//
// A TMA load brings its panels as one box, swizzled as in Kit/SharedTile.h:
//   MN-major  one panel: [col / 64][k][64]
//   K-major   `panelsPerCopy` panels: [col][k]
// Four K-major panels of 16 values of k are rows of 128 bytes: panel e is at bytes 32 e of each
// row.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMPANELS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMPANELS_H

#include "../Kit/SharedTile.h"
#include "../Kit/TensorMap.h"
#include "blocksparse/Plan/Stages.h"

namespace mlir::blocksparse::device {

/// Holds the row and the 16-byte chunk that a lane addresses for ldmatrix, as in
/// Kit/MmaFragments.h. Of the four matrices, the second one is 8 rows below the first if
/// `rowsFirst` is set; otherwise the third one is.
struct LaneAddress {
  static LaneAddress get(ImplicitLocOpBuilder &b, Value lane, bool rowsFirst);
  Value row, chunk;
};

/// Moves `address`, a lane's address in a tile, by an even number of 16-byte chunks along its row.
/// Tiles are aligned to their rows, so that this inverts bits of the address to which the swizzle
/// applies an xor.
Value moveChunks(ImplicitLocOpBuilder &b, Value address, int64_t chunks);

/// Computes addresses in the panels of a stage. Addresses and offsets are i32 bytes in shared
/// memory.
struct StreamPanels {
  ::blocksparse::StreamShape shape;
  /// Columns of a panel: 128 or 64.
  int64_t cols = 0;

  /// Returns the number of panels that one TMA load brings.
  int64_t perCopy() const { return shape.panelsPerCopy; }
  /// Returns the box of one TMA load.
  TensorBox box() const {
    return shape.kMajor ? TensorBox{cols, 1, shape.block * perCopy()}
                        : TensorBox{shape.block, cols / subtileCols};
  }
  /// Returns the size of a panel in bytes.
  int64_t bytes() const { return shape.block * cols * 2; }
  /// Returns the distance in bytes between panels in a stage: the size of the widest panel, for
  /// which the planner reserves space.
  int64_t stride() const { return shape.block * 256; }

  /// Selects the order of the four matrices that ldmatrix reads of 16 values of k and 16 columns.
  /// `KFirst`: the second one is 8 values of k further (two fragments of B). `ColumnsFirst`: it is
  /// 8 columns further (one fragment of A, whose rows are the columns).
  enum class Order { KFirst, ColumnsFirst };
  /// Returns the offset in a panel at which the lane reads the 16 columns from `col` on (i32, a
  /// multiple of 16).
  Value laneOffset(ImplicitLocOpBuilder &b, Value lane, Order order, Value col) const;
  /// Returns the lane's address in panel `number` (i32), given its address `first` in the first
  /// panel of the stage.
  Value select(ImplicitLocOpBuilder &b, Value first, Value number) const;
  /// Returns the lane's address for k .. k + 15 and the 16 columns that are `n` after those of its
  /// address in the panel.
  Value fragmentAddress(ImplicitLocOpBuilder &b, Value panel, int64_t k, int64_t n) const;

private:
  SharedTile tile() const {
    return shape.kMajor ? SharedTile{cols, shape.block * perCopy()}
                        : SharedTile{shape.block, subtileCols};
  }
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMPANELS_H
