// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Asynchronous 16-byte copies from global to shared memory (cp.async, sm_80 and later). The
// mma.sync kernels (`cuda.mma`) fill their stages with them: every thread of the CTA copies the
// same number of 16-byte chunks of A and of B for each k step. Global addresses are values of type
// `index`, in bytes; offsets in shared memory are i32 bytes.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_ASYNCCOPY_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_ASYNCCOPY_H

#include "../../OperandView.h"
#include "SharedTile.h"

namespace mlir::blocksparse::device {

/// Returns the address in global memory (index, bytes) of element (row, col) of the matrix.
Value globalAddress(ImplicitLocOpBuilder &b, const MatrixView &matrix, Value row, Value col);
/// Returns the address in global memory (index, bytes) of an element of a memref of any rank but 0.
Value elementAddress(ImplicitLocOpBuilder &b, Value memref, ArrayRef<Value> index);
/// Returns `address` (index, bytes) as !llvm.ptr<1>.
Value globalPointer(ImplicitLocOpBuilder &b, Value address);
/// Returns the distance in bytes (index) between neighbouring rows (axis 0) or columns (axis 1).
Value globalStride(ImplicitLocOpBuilder &b, const MatrixView &matrix, int64_t axis);

/// Emits a test on the host and returns its i1: the elements of the last axis of `memref` are
/// contiguous, and the address of its first element and all other strides are multiples of 16
/// bytes. cp.async, TMA and 16-byte vector loads require this.
Value isAligned16(ImplicitLocOpBuilder &b, Value memref);
/// Emits the same test for elements that are contiguous along axis `contiguous` and for multiples
/// of `bytes`, a power of two.
Value isAligned(ImplicitLocOpBuilder &b, Value memref, int64_t contiguous, int64_t bytes);

/// Describes consecutive values of k that have one address and constant strides in global memory:
/// all values of k of a stage, or those of one block. The first `depth` values of k are read; the
/// rest of the run is filled with zeros.
struct ReductionRun {
  /// Address (index, bytes) of the first row m (or column n) of the tile at the first k of the run.
  Value address;
  /// Number of values of k that may be read (index); a negative number means 0. Null if all may be
  /// read.
  Value depth;
};

/// Describes the storage of a factor of a product.
struct FactorGeometry {
  /// True if the factor is K-major: the tile in shared memory is then [m or n][k]. Otherwise the
  /// factor is MN-major and the tile is [k][m or n].
  bool kMajor;
  /// Distance in global memory, in bytes (index), between two neighbouring rows of the shared tile.
  Value pitch;
  /// Number of rows m (or columns n) of the tile that may be read (index); the others become zeros.
  /// Null if all may be read.
  Value limit;
  int64_t elementBytes = 2;
};

/// Emits one thread's share of the copies that bring a CTA's tile of a factor to shared memory. The
/// k extent of the tile is divided into `runs` equal runs. Addresses that do not depend on the k
/// step are computed once, by the constructor, before the main loop.
class TileCopy {
public:
  /// Requires `thread` (i32) below `threads`, and `threads` to be a power of two that is not less
  /// than the number of 16-byte chunks in a row of the tile.
  TileCopy(ImplicitLocOpBuilder &b, const SharedTile &tile, const FactorGeometry &geometry,
           int64_t runs, Value thread, int64_t threads);

  /// Returns i1: no element of the tile must be replaced by zero. Returns null if the compiler
  /// knows that.
  Value isWhole(ImplicitLocOpBuilder &b, ArrayRef<ReductionRun> runs) const;
  /// Starts the copies to byte `offset` (i32) of shared memory. Elements that must not be read are
  /// replaced by zeros, in units of bytes (the source size operand of cp.async). Requires that
  /// isWhole() is true if `whole` is set; the copies then have no source size operand.
  void emit(ImplicitLocOpBuilder &b, const SharedMemory &memory, Value offset,
            ArrayRef<ReductionRun> runs, bool whole) const;

private:
  /// Describes one 16-byte chunk that the thread copies.
  struct Part {
    /// Index of the chunk's run (i32).
    Value run;
    /// Byte offset of the chunk in the shared tile: `chunkOffset` (i32) + `offsetStep`.
    Value chunkOffset;
    int64_t offsetStep;
    /// True if this is the thread's first chunk of its run. Every other chunk is `distance` bytes
    /// after the previous one in global memory.
    bool opensRun;
    /// Index of the chunk's first element along k in its run, and along m or n in the tile (both
    /// i32).
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
  /// Distance in bytes (index) from the address of a run to the thread's first chunk of that run.
  Value first;
  /// Distance in bytes (i64) in global memory between two consecutive chunks of a run.
  Value distance;
  /// The limit of the geometry (i32), clamped to the size of the tile. Null if all may be read.
  Value limit;
  /// True (i1) if the thread copies at least one chunk. Null if every thread does.
  Value active;
};

/// Commits the copies that this thread has started since its last commit group to a new commit
/// group.
void emitCommitCopies(ImplicitLocOpBuilder &b);
/// Waits until at most the newest `pending` commit groups of this thread are in flight. Only this
/// thread's copies are waited for: a CTA barrier must follow before other threads read the data.
void emitWaitCopies(ImplicitLocOpBuilder &b, int64_t pending);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_ASYNCCOPY_H
