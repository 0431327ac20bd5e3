// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Copies between global and shared memory by TMA (sm_90 and later). The kernels of `cuda.wgmma`,
// `cuda.stream` and `cuda.stream_wgmma` load all factors and store their results with them.
//
// A tensor map describes an array of up to five dimensions and the box that one instruction moves.
// Elements of the box outside of the array are read as 0 and are not written. All maps here
// describe matrices of elements of 16 bits, or of 8 bits in the plain form, in one of two forms.
// Rows and columns are those of the matrix as it is stored, so that neighbouring columns are
// contiguous:
//   plain    [batch][head][row][col],              box 1 x 1 x rows x 64
//   split  [batch][head][col / 64][row][64],     box 1 x 1 x subtiles x rows x 64
// In both forms the box arrives in shared memory as subtiles of rows x 64, one after another. A row
// of a subtile is 128 bytes, whose eight 16-byte chunks are swizzled: chunk c of row r is stored at
// chunk c ^ (r % 8). The pattern repeats every 1024 bytes, so a subtile must begin at a multiple of
// 1024 bytes. The second form moves several subtiles by one instruction; it requires a multiple of
// 64 columns. A row of 64 elements of 8 bits is 64 bytes, whose four chunks are swizzled by the
// row / 2.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_TENSORMAP_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_TENSORMAP_H

#include "../../OperandView.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::blocksparse::device {

/// Columns of a subtile: 128 bytes of 16-bit elements, the span of the swizzle.
static constexpr int64_t subtileCols = 64;

/// Describes the box that one instruction moves: `rows` (at most 256) by `subtiles` subtiles of
/// `cols` columns. A box of several subtiles has the second form above and requires 64 columns.
struct TensorBox {
  int64_t rows, subtiles = 1, cols = subtileCols;
  int64_t elementBytes = 2;

  /// Returns true if the map splits the columns into a dimension of subtiles (the second form
  /// above).
  bool isSplit() const { return subtiles > 1; }
  /// Returns the size of the box in shared memory, in bytes.
  int64_t bytes() const { return rows * subtiles * cols * elementBytes; }
};

/// Holds the coordinate of a box: its first element in the matrix as it is stored; all i32.
struct TensorCoord {
  Value row, col, head, batch;
};

/// Creates, on the host, the tensor map of the matrices of `memref`, as an operand of launches
/// (!llvm.ptr; maps are the first operands). `axes` names the roles of the axes; whichever of row
/// and col is the last axis is the stored column. Requires all other strides and the address to be
/// multiples of 16 bytes (see isAligned16).
Value createTensorMap(ImplicitLocOpBuilder &host, Value memref, DenseAxes axes, TensorBox box);

/// Creates, on the host, the tensor map of values [S, r, c] or [B, S, r, c], seen as one matrix [B
/// * S * r, c]. Requires isRowMajor.
Value createValuesMap(ImplicitLocOpBuilder &host, Value memref, TensorBox box);

/// Emits a test on the host and returns its i1: the strides of `memref` are those of a contiguous
/// row-major array.
Value isRowMajor(ImplicitLocOpBuilder &host, Value memref);

/// Marks the first `count` arguments of a kernel as tensor maps: the lowering makes them parameters
/// of 128 bytes instead of pointers.
void setTensorMapArguments(gpu::GPUFuncOp kernel, int64_t count);

/// Selects the L2 eviction policy of a load. `Once`: no other CTA reads the data, so it is evicted
/// first.
enum class CacheUse { Again, Once };

/// Starts the TMA load of the box at `coord` to shared memory at address `shared` (i32), whose
/// completed bytes count down the mbarrier `barrier` (!llvm.ptr<3>). With `cluster` above 1, the
/// load is a multicast: all CTAs of a cluster of that size receive the box at the same address, and
/// each counts at its own barrier. One thread calls it, after expect-tx for the box.bytes() bytes
/// or before, but in the same phase.
void emitTensorLoad(ImplicitLocOpBuilder &b, Value map, TensorBox box, const TensorCoord &coord,
                    Value shared, Value barrier, int64_t cluster = 1,
                    CacheUse use = CacheUse::Again);

/// Fetches a tensor map before its first use, so that the first load or store need not wait for it.
/// One thread calls it.
void emitPrefetchMap(ImplicitLocOpBuilder &b, Value map);

/// Starts the TMA store of a box of the first form from shared memory to `coord`. One thread calls
/// it, after a proxy fence of the threads that wrote the box and a barrier; emitCommitStores must
/// follow.
void emitTensorStore(ImplicitLocOpBuilder &b, Value map, const TensorCoord &coord, Value shared);

/// Starts a bulk copy of `bytes` (i32, a multiple of 16) consecutive bytes from global memory
/// (!llvm.ptr<1>) to shared memory; completed bytes count down `barrier`. Both addresses are
/// aligned to 16 bytes. One thread calls it.
void emitBulkLoad(ImplicitLocOpBuilder &b, Value source, Value bytes, Value shared, Value barrier);

/// Commits the TMA stores that this thread has started since its last commit to a commit group.
void emitCommitStores(ImplicitLocOpBuilder &b);
/// Waits until all commit groups of this thread have read shared memory: it may then be
/// overwritten.
void emitWaitStoresRead(ImplicitLocOpBuilder &b);
/// Waits until all commit groups of this thread are complete: their data is in global memory.
void emitWaitStores(ImplicitLocOpBuilder &b);

/// Emits a proxy fence: the calling thread's earlier writes to shared memory become visible to TMA.
void emitProxyFence(ImplicitLocOpBuilder &b);

/// Returns the shared-memory address `address` (i32) as !llvm.ptr<3>.
Value sharedPointer(ImplicitLocOpBuilder &b, Value address);

/// Returns the address (i32) of the dynamic shared memory of a CTA, rounded up to 1024 bytes, as
/// the swizzle requires. A kernel requests 1024 bytes more than it uses.
Value alignedSharedBase(ImplicitLocOpBuilder &b);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_TENSORMAP_H
