// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The `stages` of a planned_dsd as its kernels read them; see blocksparse/Plan/Stages.h.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_STAGEDTILES_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_STAGEDTILES_H

#include "../Kit/IntTable.h"
#include "../Kit/TensorMap.h"
#include "../Kit/TileRange.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Plan/Tables.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::blocksparse::device {

using ::blocksparse::SampledOperands;
using ::blocksparse::SampledTileTable;
using ::blocksparse::StageOperands;
using ::blocksparse::StageTileTable;
using ::blocksparse::StreamRecordTable;
using ::blocksparse::WgmmaRecordTable;

/// Holds a row of the table of tiles; all i32.
struct StagedTile {
  Value group, columnTile, first, records, batch, head;
};

class StagedTiles {
public:
  static StagedTiles get(ImplicitLocOpBuilder &b, PlannedDSDOp op, const IRMapping &mapping);

  /// Returns the columns of a column tile, which the CTAs of a cluster share: a multiple of 64.
  static int64_t panelCols(PlannedDSDOp op);
  /// Thread blocks that share a tile of more than 256 columns as a cluster.
  static int64_t clusterSize(PlannedDSDOp op);
  /// Number (i32) of this thread block in its cluster.
  static Value clusterRank(ImplicitLocOpBuilder &b, int64_t size);
  /// On the host: thread blocks, a cluster for each list.
  static Value blocks(ImplicitLocOpBuilder &host, PlannedDSDOp op);

  TileRange tilesOfBlock(ImplicitLocOpBuilder &b) const { return runOfBlock(b, workers, cluster); }
  /// The tiles of this thread block in a list whose runs `workers` gives.
  static TileRange runOfBlock(ImplicitLocOpBuilder &b, const IntTable &workers,
                              int64_t cluster = 1);
  StagedTile read(ImplicitLocOpBuilder &b, Value number) const;
  /// Row unit `place` (i32) of a group, or -1.
  Value rowOf(ImplicitLocOpBuilder &b, Value group, Value place) const;

  /// The place of element (row, col) in the maps of `memref` [.., R, C]: 0 for a batch or a head
  /// that it does not have.
  static MapPlace placeIn(ImplicitLocOpBuilder &b, Value memref, Value row, Value col, Value batch,
                          Value head);

private:
  IntTable tiles, workers, rows;
  int64_t cluster = 1;
};

/// Whether a map can describe the input of the epilogue, as far as types tell: it has the elements
/// and the shape of the result.
bool hasMappedInput(PlannedDSDOp op);

/// Where the value blocks of a batch and a head begin.
struct ValuesOrigin {
  /// Blocks from one batch or head to the next; 0 where all have the same values.
  int64_t perBatch = 0, perHead = 0;
  /// Batches, and heads of one table, that have values of their own.
  int64_t batchCopies = 1, headCopies = 1;

  static ValuesOrigin get(PlannedDSDOp op);
  /// Of the result.
  static ValuesOrigin get(PlannedSDDOp op);
  /// `lut`: the table that lists the blocks.
  static ValuesOrigin get(Value values, Value lut, int64_t lutHeads);
  /// Number (i32) of the first block.
  Value blockOf(ImplicitLocOpBuilder &b, Value batch, Value head) const;
  /// Number (i32) of the copy among batchCopies * headCopies.
  Value copyOf(ImplicitLocOpBuilder &b, Value batch, Value head) const;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_STAGEDTILES_H
