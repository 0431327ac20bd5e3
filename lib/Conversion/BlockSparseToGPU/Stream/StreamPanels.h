// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How the panels of a stage (blocksparse/Plan/Stages.h) lie in shared memory, and where the lanes
// of a warp find them for ldmatrix.
//
// A copy brings its panels as one box, swizzled as in Kit/SharedTile.h:
//   k across the stored rows     one panel: [col / 64][k][64]
//   k along them                 `panelsPerCopy` panels: [col][k]
// Four panels of 16 along k are rows of 128 bytes: panel e of them is at bytes 32 e of each row.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMPANELS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMPANELS_H

#include "../Kit/SharedTile.h"
#include "../Kit/TensorMap.h"
#include "blocksparse/Plan/Stages.h"

namespace mlir::blocksparse::device {

/// Lane addresses as in Kit/MmaFragments.h: of the four matrices, the second half of the rows comes
/// second (`rowsFirst`) or third.
struct LanePlace {
  static LanePlace get(ImplicitLocOpBuilder &b, Value lane, bool rowsFirst);
  Value row, piece;
};

/// `address`, this lane's in a tile, moved by an even number of pieces along its row: tiles are
/// aligned to their rows, so that this is a bit of the place that the swizzle changes.
Value movePieces(ImplicitLocOpBuilder &b, Value address, int64_t pieces);

struct StreamPanels {
  ::blocksparse::StreamShape shape;
  /// Columns of the product that a panel has: 128 or 64.
  int64_t cols = 0;

  int64_t perCopy() const { return shape.panelsPerCopy(); }
  MapBox box() const {
    return shape.alongK ? MapBox{cols, 1, shape.block * perCopy()}
                        : MapBox{shape.block, cols / chunkCols};
  }
  int64_t bytes() const { return shape.block * cols * 2; }
  /// Bytes from a panel's place to the next: those of the widest, for which the planner counts.
  int64_t stride() const { return shape.block * 256; }

  /// Order of the four matrices that ldmatrix reads of 16 values of k and 16 columns: the second is
  /// 8 values of k on (two fragments of B) or 8 columns on (one of A, the columns being its rows).
  enum class Order { KFirst, ColumnsFirst };
  /// Where in a panel the lane reads the first 16 columns from `col` on (i32, a multiple of 16).
  Value laneOffset(ImplicitLocOpBuilder &b, Value lane, Order order, Value col) const;
  /// The lane's address in panel `number` (i32), from that in the first panel of the stage.
  Value select(ImplicitLocOpBuilder &b, Value first, Value number) const;
  /// The lane's address for k .. k + 15 and 16 columns `n` behind those of its place in a panel.
  Value corner(ImplicitLocOpBuilder &b, Value panel, int64_t k, int64_t n) const;

private:
  SharedTile tile() const {
    return shape.alongK ? SharedTile{cols, shape.block * perCopy()}
                        : SharedTile{shape.block, chunkCols};
  }
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_STREAM_STREAMPANELS_H
