// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The checks of run-time indices, for both backends: a check is a number of items, a block row or a
// list each, and code that finds the faults of one item. The CPU runs it for each item in order; a
// GPU runs it in one thread for each item.

#ifndef BLOCKSPARSE_LIB_CONVERSION_INDEXCHECKS_H
#define BLOCKSPARSE_LIB_CONVERSION_INDEXCHECKS_H

#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Support/IndexFaults.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse {

/// Describes a fault by index values. `position` is a place in the array that holds `value`.
struct FaultPlace {
  Value batch, row, position, value, limit;
};

/// Emits what happens where `isFault` (i1) is true.
using ReportFault = function_ref<void(ImplicitLocOpBuilder &, Value isFault,
                                      ::blocksparse::IndexFault, const FaultPlace &)>;

/// Describes a block of a pattern: its batch, its position in col_indices, the position of the
/// first block of its block row, and its column, which is in range.
struct ListedColumn {
  Value batch, position, rowBegin, col;
};

/// Emits the search for an earlier block of the same block row and column, and returns its position
/// or -1.
using FindEarlier = function_ref<Value(ImplicitLocOpBuilder &, const ListedColumn &)>;

/// Checks the indices of a run-time pattern. An item is an offset of crow_indices and the block row
/// that begins there.
class PatternCheck {
public:
  /// Describes `op` on the host, or in a kernel that `mapping` maps its operands to.
  PatternCheck(ImplicitLocOpBuilder &b, CheckPatternOp op, const IRMapping &mapping);

  /// Returns the number of items of all batches.
  Value items(ImplicitLocOpBuilder &b) const;
  /// Emits the check of one item. Needs `findEarlier` where columns must be unique.
  void emitItem(ImplicitLocOpBuilder &b, Value item, FindEarlier findEarlier,
                ReportFault report) const;
  /// Emits the search for an earlier block by comparing with every one, without a memory of its
  /// own.
  Value emitSearch(ImplicitLocOpBuilder &b, const ListedColumn &listed) const;

  /// Return the number of block columns, and that of the blocks of col_indices in a batch.
  Value getCols() const { return cols; }
  Value getRoom() const { return room; }
  Value getBatches() const { return batches; }
  bool isUnique() const { return unique; }

private:
  Value load(ImplicitLocOpBuilder &b, Value indices, Value batch, Value position) const;
  void emitOffset(ImplicitLocOpBuilder &b, Value batch, Value row, ReportFault report) const;

  Value crow, col, cols, batches, rows, room;
  bool batched, unique;
};

/// Describes a tile of the accumulators, which lies inside them: its position in r_offsets, and the
/// row and column of its first element.
struct PlacedTile {
  Value position, row, col;
};

/// Emits the search for the first tile before `tile` that shares an element with it, and returns
/// the position of that tile, or the own position where there is none.
using FindOverlap = function_ref<Value(ImplicitLocOpBuilder &, const PlacedTile &tile)>;

/// Checks the index tensors of scatter_mm. An item is an offset of a list, with the list that
/// begins there, or a tile of the compressed format.
class ScatterCheck {
public:
  ScatterCheck(ImplicitLocOpBuilder &b, CheckScatterIndicesOp op, const IRMapping &mapping);

  Value items(ImplicitLocOpBuilder &b) const;
  /// Emits the check of one item. Needs `findOverlap` where tiles are placed by offsets.
  void emitItem(ImplicitLocOpBuilder &b, Value item, FindOverlap findOverlap,
                ReportFault report) const;
  /// Returns true if r_offsets place the tiles of the accumulators, so that these may overlap.
  bool placesTiles() const { return format != ScatterFormat::ScatterMM; }
  /// Emits the search by comparing with every tile before `tile`, without a memory of its own.
  Value emitSearch(ImplicitLocOpBuilder &b, const PlacedTile &tile) const;
  /// Returns i1: true if the tile at `position` of r_offsets shares an element with `tile`.
  Value emitOverlap(ImplicitLocOpBuilder &b, const PlacedTile &tile, Value position) const;

  /// Returns the number of tiles that r_offsets place.
  Value getTiles(ImplicitLocOpBuilder &b) const;
  /// Return the columns of the accumulators, and the extents of their tiles.
  Value getCols() const { return accumulators.cols; }
  Value getTileRows() const { return accumulators.height; }
  Value getTileCols() const { return accumulators.width; }

private:
  /// Describes the grid of elements that an offset points into, and the tile that begins there.
  struct Target {
    Value rows, cols, height, width;
  };

  Value index(ImplicitLocOpBuilder &b, unsigned tensor, Value position) const;
  Value listLength(ImplicitLocOpBuilder &b) const;
  /// Emits the check of a range, and returns i1: true if the value is in it.
  Value emitRange(ImplicitLocOpBuilder &b, ::blocksparse::IndexFault fault, const FaultPlace &place,
                  ReportFault report) const;
  /// Emits the check that a tile at `offset` lies inside the target. Returns i1.
  Value emitTile(ImplicitLocOpBuilder &b, const Target &target, ::blocksparse::IndexFault fault,
                 FaultPlace place, ReportFault report) const;
  Value emitAccumulatorTile(ImplicitLocOpBuilder &b, Value position, FindOverlap findOverlap,
                            ReportFault report) const;
  void emitList(ImplicitLocOpBuilder &b, Value list, FindOverlap findOverlap,
                ReportFault report) const;
  void emitProduct(ImplicitLocOpBuilder &b, Value list, Value position, ReportFault report) const;
  void emitCompressedTile(ImplicitLocOpBuilder &b, Value tile, FindOverlap findOverlap,
                          ReportFault report) const;

  ScatterFormat format;
  SmallVector<Value> tensors;
  Value lists, blocks, others, split;
  Target accumulators, factors;
};

/// Returns the type of the record of a fault.
MemRefType getFaultRecordType(MLIRContext *context);
/// Loads and stores a word of a record (index).
Value loadFaultWord(ImplicitLocOpBuilder &b, Value record, ::blocksparse::FaultWord word);
void storeFaultWord(ImplicitLocOpBuilder &b, Value value, Value record,
                    ::blocksparse::FaultWord word);
/// Stores a fault in the record, unless one is there.
void storeFault(ImplicitLocOpBuilder &b, Value record, ::blocksparse::IndexFault fault,
                const FaultPlace &place);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_INDEXCHECKS_H
