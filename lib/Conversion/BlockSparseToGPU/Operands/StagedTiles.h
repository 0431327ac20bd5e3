// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reads the `stages` of a planned_dsd in its kernels; see blocksparse/Plan/Stages.h.

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

/// Reads the work lists of a planned_dsd: the tiles of each worker and the rows of each row group.
class StagedTiles {
public:
  static StagedTiles get(ImplicitLocOpBuilder &b, PlannedDSDOp op, const IRMapping &mapping);

  /// Returns the columns of a column tile, which the CTAs of a cluster share: a multiple of 64.
  static int64_t columnTileCols(PlannedDSDOp op);
  /// Returns how many CTAs share a tile as a cluster: more than 1 if it has more than 256 columns.
  static int64_t clusterSize(PlannedDSDOp op);
  /// Returns the rank (i32) of this CTA in its cluster.
  static Value clusterRank(ImplicitLocOpBuilder &b, int64_t size);
  /// Returns, on the host, the number of CTAs: one cluster for each work list.
  static Value blocks(ImplicitLocOpBuilder &host, PlannedDSDOp op);

  /// Returns the tiles of this CTA.
  TileRange tilesOfCta(ImplicitLocOpBuilder &b) const { return rangeOfCta(b, workers, cluster); }
  /// Returns the tiles of this CTA from the table `workers`, which holds the first tile of each
  /// work list.
  static TileRange rangeOfCta(ImplicitLocOpBuilder &b, const IntTable &workers,
                              int64_t cluster = 1);
  /// Returns tile `number` (i32) of the table.
  StagedTile read(ImplicitLocOpBuilder &b, Value number) const;
  /// Returns slab `index` (i32) of row group `rowGroup` (i32), or -1 if it has fewer.
  Value rowOf(ImplicitLocOpBuilder &b, Value rowGroup, Value index) const;

  /// Returns the TMA coordinate of element (row, col) in the maps of `memref` [.., R, C]. Batch or
  /// head are 0 if `memref` has no such axis.
  static TensorCoord coordIn(ImplicitLocOpBuilder &b, Value memref, Value row, Value col,
                             Value batch, Value head);

private:
  IntTable tiles, workers, rows;
  int64_t cluster = 1;
};

/// Returns true if a tensor map can describe the input of the epilogue, as far as types tell: it
/// has the element type and the shape of the result.
bool hasMappedInput(PlannedDSDOp op);

/// Describes where the value blocks of a batch and a head begin.
struct ValuesOrigin {
  /// Blocks from one batch or head to the next; 0 if all have the same values.
  int64_t perBatch = 0, perHead = 0;
  /// Batches, and heads of one table, that have values of their own.
  int64_t batchCopies = 1, headCopies = 1;

  /// Returns the origin of the sparse operand.
  static ValuesOrigin get(PlannedDSDOp op);
  /// Returns the origin of the result.
  static ValuesOrigin get(PlannedSDDOp op);
  /// Returns the origin of `values`, whose blocks the table `lut` lists.
  static ValuesOrigin get(Value values, Value lut, int64_t lutHeads);
  /// Returns the index (i32) of the first block of a batch and a head.
  Value blockOf(ImplicitLocOpBuilder &b, Value batch, Value head) const;
  /// Returns the index (i32) of the values of a batch and a head among the batchCopies * headCopies
  /// that exist.
  Value copyOf(ImplicitLocOpBuilder &b, Value batch, Value head) const;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_STAGEDTILES_H
