// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Copies between global and shared memory by the copy engine (TMA, sm_90 and later).
//
// A tensor map describes an array of up to five dimensions and the box that one instruction
// moves; what lies outside of the array is read as 0 and not written. All maps here are of matrices
// of 16-bit elements in one of two forms, with rows and columns as they are stored (a
// column is contiguous with its neighbours):
//   plain    [batch][head][row][col],              box 1 x 1 x rows x 64
//   chunked  [batch][head][col / 64][row][64],     box 1 x 1 x chunks x rows x 64
// Either way shared memory gets matrices of rows x 64, chunk after chunk, a row being 128 bytes
// whose eight 16-byte pieces are swizzled: piece c of row r is stored at piece c ^ (r % 8). The
// pattern repeats every 1024 bytes, so a chunk must begin at a multiple of that. Chunked maps move
// several chunks at once; they need a multiple of 64 columns.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_TENSORMAP_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_TENSORMAP_H

#include "../../OperandView.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::blocksparse::device {

/// Columns of a chunk: 128 bytes of 16-bit elements.
static constexpr int64_t chunkCols = 64;

/// What one copy moves: `rows` (at most 256) of `chunks` chunks; chunked form where `chunks` > 1,
/// then of 64 columns.
struct MapBox {
  int64_t rows, chunks = 1, cols = chunkCols;

  bool isChunked() const { return chunks > 1; }
  int64_t bytes() const { return rows * chunks * cols * 2; }
};

/// A place in a matrix as it is stored; all i32.
struct MapPlace {
  Value row, col, head, batch;
};

/// On the host: the map of the matrices of `memref`, as an operand of launches (!llvm.ptr, first
/// among the operands). `axes` tells the roles of the axes; whichever of row and col is the last
/// axis is the stored column. Its strides must be multiples of 16 bytes, see isAligned16.
Value createTensorMap(ImplicitLocOpBuilder &host, Value memref, DenseAxes axes, MapBox box);

/// The same for values [S, r, c] or [B, S, r, c] without gaps (see isRowMajor), seen as one matrix
/// [B * S * r, c].
Value createValuesMap(ImplicitLocOpBuilder &host, Value memref, MapBox box);

/// On the host, i1: the strides of `memref` are those of a row-major array without gaps.
Value isRowMajor(ImplicitLocOpBuilder &host, Value memref);

/// Marks the first `count` arguments of a kernel as maps: parameters of 128 bytes in place of
/// pointers.
void setTensorMapArguments(gpu::GPUFuncOp kernel, int64_t count);

/// Whether others read it too; what is used once leaves the L2 cache first.
enum class CacheUse { Again, Once };

/// One thread starts the copy of the box at `place` to shared memory at address `shared` (i32);
/// its bytes are counted by the mbarrier `barrier` (!llvm.ptr<3>). With `cluster` above 1, all
/// blocks of a cluster of that size get the box at the same place, counted by their own barriers.
void emitTensorLoad(ImplicitLocOpBuilder &b, Value map, MapBox box, const MapPlace &place,
                    Value shared, Value barrier, int64_t cluster = 1,
                    CacheUse use = CacheUse::Again);

/// One thread starts the copy of a plain box from shared memory to `place`.
void emitTensorStore(ImplicitLocOpBuilder &b, Value map, const MapPlace &place, Value shared);

/// One thread starts the copy of `bytes` (i32, a multiple of 16) consecutive bytes from global
/// memory (!llvm.ptr<1>) to shared memory; both are aligned to 16 bytes.
void emitBulkLoad(ImplicitLocOpBuilder &b, Value source, Value bytes, Value shared, Value barrier);

/// The stores that this thread has started since the last group.
void emitCommitStores(ImplicitLocOpBuilder &b);
/// Waits for this thread's groups of stores: until shared memory was read, or all is written.
void emitWaitStoresRead(ImplicitLocOpBuilder &b);
void emitWaitStores(ImplicitLocOpBuilder &b);

/// What this thread has written to shared memory becomes visible to the copy engine.
void emitCopyFence(ImplicitLocOpBuilder &b);

/// !llvm.ptr<3> of an address (i32) in shared memory.
Value sharedPointer(ImplicitLocOpBuilder &b, Value address);

/// Address (i32) of the dynamic shared memory of a block, rounded up to 1024 bytes. A kernel asks
/// for 1024 more bytes than it uses.
Value alignedSharedBase(ImplicitLocOpBuilder &b);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_TENSORMAP_H
