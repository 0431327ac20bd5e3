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

/// Part of the reduction of a tile: `depth` consecutive values of k whose elements have one
/// origin in memory. Those from `depth` on are zeros.
struct ReductionRun {
  /// Address of element (first row or column of the tile, first k).
  Value address;
  /// Number of values of k that may be read; anything below 0 counts as 0.
  Value depth;
};

/// How a factor of a product lies in memory.
struct FactorGeometry {
  /// Neighbours in memory are neighbours in k (the shared tile is [m or n][k]), else in m or n
  /// (the shared tile is [k][m or n]).
  bool alongK;
  /// Bytes from one row of the shared tile to the next.
  Value pitch;
  /// Rows m (columns n) of the tile that may be read; the others become zeros.
  Value limit;
};

/// Starts the copies of one thread block's tile of a factor; k is cut into equal `runs`. The
/// places of the tile that must not be read are filled with zeros, byte by byte.
void emitTileCopy(ImplicitLocOpBuilder &b, const SharedMemory &memory, const SharedTile &tile,
                  Value offset, const FactorGeometry &geometry, ArrayRef<ReductionRun> runs,
                  Value thread, int64_t threads);

/// Closes the group of copies that this thread has started since the last group.
void emitCommitCopies(ImplicitLocOpBuilder &b);
/// Waits until at most the last `pending` groups of this thread are under way.
void emitWaitCopies(ImplicitLocOpBuilder &b, int64_t pending);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_ASYNCCOPY_H
