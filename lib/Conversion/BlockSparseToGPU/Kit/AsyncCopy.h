// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Asynchronous copies of 16 bytes from global to shared memory (cp.async, sm_80 and later).

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_ASYNCCOPY_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_ASYNCCOPY_H

#include "../../OperandView.h"
#include "SharedTile.h"

namespace mlir::blocksparse::device {

/// Global addresses are index values, in bytes.
Value globalAddress(ImplicitLocOpBuilder &b, const MatrixView &matrix, Value row, Value col);
/// !llvm.ptr<1> of an address.
Value globalPointer(ImplicitLocOpBuilder &b, Value address);
/// Bytes between neighbours along the rows (axis 0: from row to row) or the columns (axis 1).
Value globalStride(ImplicitLocOpBuilder &b, const MatrixView &matrix, int64_t axis);

/// On the host, i1: neighbours along the last axis of `memref` are neighbours in memory, and
/// all else (the first element, every stride) is a multiple of 16 bytes.
Value isAligned16(ImplicitLocOpBuilder &b, Value memref);

/// Part of the reduction of a tile: consecutive values of k whose elements have one origin in
/// memory, `depth` of them and then zeros.
struct ReductionRun {
  /// Address of element (first row or column of the tile, first k).
  Value address;
  /// Number of values of k that may be read; anything below 0 counts as 0. Null: all of the run.
  Value depth;
};

/// How a factor of a product lies in memory.
struct FactorGeometry {
  /// Neighbours in memory are neighbours in k (the shared tile is [m or n][k]), else in m or n
  /// (the shared tile is [k][m or n]).
  bool alongK;
  /// Bytes from one row of the shared tile to the next.
  Value pitch;
  /// Rows m (columns n) of the tile that may be read; the others become zeros. Null: all.
  Value limit;
  int64_t elementBytes = 2;
};

/// A thread's part of the copies of a thread block's tiles of a factor, k cut into equal runs.
/// What the steps of a reduction have in common is computed once, where the object is made.
class TileCopy {
public:
  /// `thread` is i32, below `threads`, a power of two that is at least the tile's chunks in a row.
  TileCopy(ImplicitLocOpBuilder &b, const SharedTile &tile, const FactorGeometry &geometry,
           int64_t runs, Value thread, int64_t threads);

  /// i1: all of the tile may be read; null where that is known.
  Value isWhole(ImplicitLocOpBuilder &b, ArrayRef<ReductionRun> runs) const;
  /// Starts the copies to byte `offset` of shared memory. The places of the tile that must not be
  /// read are filled with zeros, byte by byte; when `whole`, there are none.
  void emit(ImplicitLocOpBuilder &b, const SharedMemory &memory, Value offset,
            ArrayRef<ReductionRun> runs, bool whole) const;

private:
  /// A chunk that the thread copies.
  struct Part {
    /// Number of the run, i32.
    Value run;
    /// Place in the shared tile, in bytes; i32 and a constant.
    Value place;
    int64_t placeStep;
    /// The first chunk of its run; others lie `distance` behind the part before.
    bool opensRun;
    /// Place along k in the run, and along m or n in the tile, i32.
    Value k, outer;
  };
  int64_t chunkElements() const;
  int64_t runDepth() const;
  int64_t outerSize() const;
  Value getBytes(ImplicitLocOpBuilder &b, const ReductionRun &run, const Part &part) const;

  SharedTile tile;
  FactorGeometry geometry;
  int64_t runs;
  SmallVector<Part> parts;
  /// Bytes from the address of a run to the thread's first chunk of it, index.
  Value first;
  /// Bytes between neighbouring parts of a run, i64.
  Value distance;
  /// The geometry's, from 0 to the size of the tile, i32; null: all may be read.
  Value limit;
  /// i1: the thread copies anything; null: all do.
  Value active;
};

/// Closes the group of copies that this thread has started since the last group.
void emitCommitCopies(ImplicitLocOpBuilder &b);
/// Waits until at most the last `pending` groups of this thread are under way.
void emitWaitCopies(ImplicitLocOpBuilder &b, int64_t pending);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_ASYNCCOPY_H
