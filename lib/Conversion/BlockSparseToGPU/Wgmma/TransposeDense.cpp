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

/// A thread block takes tiles of 64 x 64 elements: whole lines of 128 bytes on both sides.
static constexpr int64_t tileSize = 64, tileBytes = tileSize * tileSize * 2;
static constexpr int64_t threads = 256;
/// Elements and bytes of what a thread moves at once, and how often it does so for a tile.
static constexpr int64_t chunkElements = 8, chunkBytes = 16, chunksOfRow = tileSize / chunkElements;
static constexpr int64_t chunksOfThread = tileSize * chunksOfRow / threads;

/// Whatever the float type is, bits are moved.
static VectorType getChunkType(ImplicitLocOpBuilder &b) {
  return VectorType::get({chunkElements}, b.getI16Type());
}

namespace {

/// One tile in the hands of one thread. Rows and columns are those of the source. All i32 but where
/// it says otherwise.
///
/// In shared memory row r is 128 bytes, and its chunk c stands at place c ^ (r / 8 % 8). Eight
/// lanes that write the chunks of a row have all 32 banks. A warp that reads one element of each of
/// 8 rows r, r + 8, .. r + 56 in 4 neighbouring columns reads 2 words of 8 places: 16 banks, each
/// of whose words goes to two lanes.
class TileOfThread {
public:
  TileOfThread(const MatrixView &source, const MatrixView &target, SharedMemory memory,
               Value thread)
      : source(source), target(target), memory(memory), thread(thread) {}

  /// `firstRow`, `firstCol`: index.
  void load(ImplicitLocOpBuilder &b, Value firstRow, Value firstCol) const;
  void store(ImplicitLocOpBuilder &b, Value firstRow, Value firstCol) const;

private:
  /// Line and chunk of the thread's `part`th chunk: eight neighbouring threads have those of a
  /// line.
  std::pair<Value, Value> placeOf(ImplicitLocOpBuilder &b, int64_t part) const {
    Value number = Int(b, thread) + (part * threads);
    return {Int(b, number) / chunksOfRow, Int(b, number) % chunksOfRow};
  }
  /// Byte offset of chunk `chunk` of row 8 * `eight` (of the rows behind it: 128 bytes more each).
  static Value offsetOf(ImplicitLocOpBuilder &b, Value eight, Value chunk) {
    Value place = b.createOrFold<arith::XOrIOp>(chunk, eight);
    return Int(b, eight) * (8 * tileSize * 2) + Int(b, place) * chunkBytes;
  }
  /// Column `line` of eight rows of the tile, from shared memory.
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
  // All loads are on their way before the first result is waited for.
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

/// Tiles of all matrices: batches, heads, tiles of the rows and of the columns.
static SmallVector<Value> countTiles(ImplicitLocOpBuilder &b, const DenseView &matrices) {
  Value size = indexConstant(b, tileSize);
  return {matrices.batches(), matrices.heads(), indexCeilDiv(b, matrices.rows(), size),
          indexCeilDiv(b, matrices.cols(), size)};
}

void mlir::blocksparse::device::emitTransposeDense(ImplicitLocOpBuilder &host,
                                                   KernelBuilder &kernels, Value source,
                                                   Value target) {
  Value all = productOf(host, countTiles(host, DenseView::get(host, source)));
  Value blocks = indexMin(host, all, indexConstant(host, KernelBuilder::simtMaxBlocks));
  LaunchShape shape{indexMax(host, blocks, indexConstant(host, 1)), threads, tileBytes};
  kernels.launch(host, "transpose_dense", {source, target}, shape,
                 [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
                   DenseView from = DenseView::get(b, mapping.lookup(source));
                   DenseView to = DenseView::get(b, mapping.lookup(target));
                   SharedMemory memory = SharedMemory::get(b);
                   Value thread = arith::IndexCastOp::create(
                       b, b.getI32Type(), gpu::ThreadIdOp::create(b, gpu::Dimension::x));
                   SmallVector<Value> counts = countTiles(b, from);
                   // All threads of a block have the same tiles: they meet at the barriers.
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
