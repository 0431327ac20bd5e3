// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TransposeDense.h"

#include "../../Device/Loops.h"
#include "../../OperandView.h"
#include "../Kit/AsyncCopy.h"
#include "../Kit/Chunk.h"
#include "../Kit/SharedTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

/// Extent of the tiles of a CTA, in elements: they read and write complete lines of 128 bytes.
static constexpr int64_t tileSize = 64, tileBytes = tileSize * tileSize * 2;
static constexpr int64_t threads = 256;
/// Elements and bytes of a chunk, which a thread moves at once, chunks of a row, and chunks of a
/// thread in a tile.
static constexpr int64_t chunkElements = 8, chunkBytes = 16, chunksOfRow = tileSize / chunkElements;
static constexpr int64_t chunksOfThread = tileSize * chunksOfRow / threads;

/// Chunks are vectors of i16 for every float type, because only bits are moved.
static VectorType getChunkType(ImplicitLocOpBuilder &b) {
  return VectorType::get({chunkElements}, b.getI16Type());
}

namespace {

/// Emits one thread's share of a tile. Rows and columns are those of the source. Values are i32
/// unless stated otherwise.
///
/// In shared memory row r is 128 bytes, and its chunk c is stored at c ^ (r / 8 % 8). Eight lanes
/// that write the chunks of a row access all 32 banks. A warp that reads one element of each of the
/// 8 rows r, r + 8, .. r + 56 in 4 neighbouring columns reads 2 words of 8 chunks: 16 banks, each
/// of whose words is read by two lanes.
class TileOfThread {
public:
  TileOfThread(const MatrixView &source, const MatrixView &target, SharedMemory memory,
               Value thread)
      : source(source), target(target), memory(memory), thread(thread) {}

  /// Load the tile of the source from (firstRow, firstCol) on to shared memory, and store it
  /// transposed. `firstRow` and `firstCol` are index values. A barrier must separate them.
  void load(ImplicitLocOpBuilder &b, Value firstRow, Value firstCol) const;
  void store(ImplicitLocOpBuilder &b, Value firstRow, Value firstCol) const;

private:
  /// Returns the row and the chunk of the thread's chunk number `part`. Eight neighbouring threads
  /// have the chunks of one row.
  std::pair<Value, Value> placeOf(ImplicitLocOpBuilder &b, int64_t part) const {
    Value number = Int(b, thread) + (part * threads);
    return {Int(b, number) / chunksOfRow, Int(b, number) % chunksOfRow};
  }
  /// Returns the byte offset of chunk `chunk` of row 8 * `eight`. The rows after it follow at 128
  /// bytes each.
  static Value offsetOf(ImplicitLocOpBuilder &b, Value eight, Value chunk) {
    Value swizzled = b.createOrFold<arith::XOrIOp>(chunk, eight);
    return Int(b, eight) * (8 * tileSize * 2) + Int(b, swizzled) * chunkBytes;
  }
  /// Loads column `line` of eight rows of the tile from shared memory.
  Value readColumn(ImplicitLocOpBuilder &b, Value eight, Value line) const;

  const MatrixView &source, &target;
  SharedMemory memory;
  Value thread;
};

} // namespace

void TileOfThread::load(ImplicitLocOpBuilder &b, Value firstRow, Value firstCol) const {
  SmallVector<Value> offsets, chunks;
  for (int64_t part = 0; part < chunksOfThread; ++part) {
    auto [line, chunk] = placeOf(b, part);
    Value row = Int(b, firstRow) + toIndex(b, line);
    Value col = Int(b, firstCol) + (toIndex(b, Int(b, chunk) * chunkElements));
    Value inside = both(b, indexLess(b, row, source.rows), indexLess(b, col, source.cols));
    chunks.push_back(emitChoice(
        b, inside,
        [&](ImplicitLocOpBuilder &b) -> Value {
          Value pointer = globalPointer(b, globalAddress(b, source, row, col));
          return LLVM::LoadOp::create(b, getChunkType(b), pointer, /*alignment=*/chunkBytes);
        },
        [&](ImplicitLocOpBuilder &b) { return zeroChunk(b, b.getI16Type(), chunkElements); }));
    Value inEight = Int(b, line) % 8 * (tileSize * 2);
    offsets.push_back(Int(b, offsetOf(b, Int(b, line) / 8, chunk)) + inEight);
  }
  // All loads are issued before the first result is waited for.
  chunks = afterLoads(b, chunks);
  for (auto [offset, chunk] : llvm::zip_equal(offsets, chunks))
    memory.store(b, chunk, offset, /*alignment=*/chunkBytes);
}

Value TileOfThread::readColumn(ImplicitLocOpBuilder &b, Value eight, Value line) const {
  Value offset = offsetOf(b, eight, Int(b, line) / chunkElements);
  offset = Int(b, offset) + Int(b, line) % chunkElements * 2;
  Value column = LLVM::PoisonOp::create(b, getChunkType(b));
  for (int64_t i = 0; i < chunkElements; ++i) {
    Value pointer = memory.at(b, offset, i * tileSize * 2);
    Value element = LLVM::LoadOp::create(b, b.getI16Type(), pointer, /*alignment=*/2);
    column = LLVM::InsertElementOp::create(b, column, element, i32Constant(b, i));
  }
  return column;
}

void TileOfThread::store(ImplicitLocOpBuilder &b, Value firstRow, Value firstCol) const {
  for (int64_t part = 0; part < chunksOfThread; ++part) {
    auto [line, chunk] = placeOf(b, part);
    Value row = Int(b, firstCol) + toIndex(b, line);
    Value col = Int(b, firstRow) + (toIndex(b, Int(b, chunk) * chunkElements));
    Value inside = both(b, indexLess(b, row, target.rows), indexLess(b, col, target.cols));
    Value eight = chunk;
    emitIf(b, inside, [&, line = line](ImplicitLocOpBuilder &b) {
      Value pointer = globalPointer(b, globalAddress(b, target, row, col));
      LLVM::StoreOp::create(b, readColumn(b, eight, line), pointer, /*alignment=*/chunkBytes);
    });
  }
}

/// Returns the extents of the tiles of all matrices: batches, heads, row tiles and column tiles.
static SmallVector<Value> countTiles(ImplicitLocOpBuilder &b, const DenseView &matrices) {
  Value size = indexConstant(b, tileSize);
  return {matrices.batches(), matrices.heads(), indexCeilDiv(b, matrices.rows(), size),
          indexCeilDiv(b, matrices.cols(), size)};
}

void mlir::blocksparse::device::emitTransposeDense(ImplicitLocOpBuilder &host,
                                                   KernelBuilder &kernels, Value source,
                                                   Value target) {
  Value all = productOf(host, countTiles(host, DenseView::get(host, source)));
  Value blocks = indexMin(host, all, indexConstant(host, KernelBuilder::simtMaxCtas));
  LaunchShape shape{indexMax(host, blocks, indexConstant(host, 1)), threads, tileBytes};
  kernels.launch(host, "transpose_dense", {source, target}, shape,
                 [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
                   DenseView from = DenseView::get(b, mapping.lookup(source));
                   DenseView to = DenseView::get(b, mapping.lookup(target));
                   SharedMemory memory = SharedMemory::get(b);
                   Value thread = arith::IndexCastOp::create(
                       b, b.getI32Type(), gpu::ThreadIdOp::create(b, gpu::Dimension::x));
                   SmallVector<Value> counts = countTiles(b, from);
                   // All threads of a CTA have the same tiles, so that they meet at the barriers.
                   // The first barrier makes the tile visible to all threads; after the second one
                   // the tile may be overwritten.
                   emitLoop(b, gpu::BlockIdOp::create(b, gpu::Dimension::x), productOf(b, counts),
                            gpu::GridDimOp::create(b, gpu::Dimension::x),
                            [&](ImplicitLocOpBuilder &b, Value tile) {
                              SmallVector<Value> at = splitIndex(b, tile, counts);
                              Value size = indexConstant(b, tileSize);
                              Value firstRow = Int(b, at[2]) * size,
                                    firstCol = Int(b, at[3]) * size;
                              MatrixView source = from.matrix(b, at[0], at[1]);
                              MatrixView target = to.matrix(b, at[0], at[1]);
                              TileOfThread part(source, target, memory, thread);
                              part.load(b, firstRow, firstCol);
                              emitBarrier(b);
                              part.store(b, firstRow, firstCol);
                              emitBarrier(b);
                            });
                 });
}
