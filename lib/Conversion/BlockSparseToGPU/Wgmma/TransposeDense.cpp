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
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t threads = 256;
/// Bytes of a chunk, which a thread moves at once, chunks of a row of a tile, and bytes of such a
/// row: tiles are read and written in complete lines.
static constexpr int64_t chunkBytes = 16, chunksOfRow = 8, rowBytes = chunkBytes * chunksOfRow;

namespace {

/// Describes the square tiles of a CTA.
struct TransposedTile {
  explicit TransposedTile(MemRefType type) : elementBytes(type.getElementTypeBitWidth() / 8) {}

  int64_t elementBytes;
  /// Return the elements of a chunk, of a row of a tile, and the size of a tile in bytes.
  int64_t chunkElements() const { return chunkBytes / elementBytes; }
  int64_t size() const { return rowBytes / elementBytes; }
  int64_t bytes() const { return size() * rowBytes; }
  /// Returns the number of chunks of a thread in a tile.
  int64_t chunksOfThread() const { return size() * chunksOfRow / threads; }
  /// Return the types of elements and chunks. They are integers for every float type, because only
  /// bits are moved.
  Type elementType(ImplicitLocOpBuilder &b) const { return b.getIntegerType(8 * elementBytes); }
  VectorType chunkType(ImplicitLocOpBuilder &b) const {
    return VectorType::get({chunkElements()}, elementType(b));
  }
};

/// Emits one thread's share of a tile. Rows and columns are those of the source. Values are i32
/// unless stated otherwise.
///
/// With e elements of a chunk, chunk c of row r is stored in shared memory at c ^ (r / e % 8).
/// Eight lanes that write the chunks of a row access all 32 banks. A warp that reads one element of
/// each of the 8 rows r, r + e, .. r + 7 e in 4 neighbouring columns reads 1 or 2 words of 8
/// chunks: 8 or 16 banks, each of whose words is read by four or two lanes.
class TileOfThread {
public:
  TileOfThread(TransposedTile tile, const MatrixView &source, const MatrixView &target,
               SharedMemory memory, Value thread)
      : tile(tile), source(source), target(target), memory(memory), thread(thread) {}

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
  /// Returns the byte offset of chunk `chunk` of row chunkElements * `run`. The rows after it
  /// follow at 128 bytes each.
  Value offsetOf(ImplicitLocOpBuilder &b, Value run, Value chunk) const {
    Value swizzled = b.createOrFold<arith::XOrIOp>(chunk, run);
    return Int(b, run) * (tile.chunkElements() * rowBytes) + Int(b, swizzled) * chunkBytes;
  }
  /// Loads column `line` of the rows of run `run`, as many as a chunk has elements, from shared
  /// memory.
  Value readColumn(ImplicitLocOpBuilder &b, Value run, Value line) const;

  TransposedTile tile;
  const MatrixView &source, &target;
  SharedMemory memory;
  Value thread;
};

} // namespace

void TileOfThread::load(ImplicitLocOpBuilder &b, Value firstRow, Value firstCol) const {
  SmallVector<Value> offsets, chunks;
  for (int64_t part = 0; part < tile.chunksOfThread(); ++part) {
    auto [line, chunk] = placeOf(b, part);
    Value row = Int(b, firstRow) + toIndex(b, line);
    Value col = Int(b, firstCol) + (toIndex(b, Int(b, chunk) * tile.chunkElements()));
    Value inside = both(b, indexLess(b, row, source.rows), indexLess(b, col, source.cols));
    chunks.push_back(emitChoice(
        b, inside,
        [&](ImplicitLocOpBuilder &b) -> Value {
          Value pointer = globalPointer(b, globalAddress(b, source, row, col));
          return LLVM::LoadOp::create(b, tile.chunkType(b), pointer, /*alignment=*/chunkBytes);
        },
        [&](ImplicitLocOpBuilder &b) {
          return zeroChunk(b, tile.elementType(b), tile.chunkElements());
        }));
    Value inRun = Int(b, line) % tile.chunkElements() * rowBytes;
    offsets.push_back(Int(b, offsetOf(b, Int(b, line) / tile.chunkElements(), chunk)) + inRun);
  }
  // All loads are issued before the first result is waited for.
  chunks = afterLoads(b, chunks);
  for (auto [offset, chunk] : llvm::zip_equal(offsets, chunks))
    memory.store(b, chunk, offset, /*alignment=*/chunkBytes);
}

Value TileOfThread::readColumn(ImplicitLocOpBuilder &b, Value run, Value line) const {
  Value offset = offsetOf(b, run, Int(b, line) / tile.chunkElements());
  offset = Int(b, offset) + Int(b, line) % tile.chunkElements() * tile.elementBytes;
  Value column = LLVM::PoisonOp::create(b, tile.chunkType(b));
  for (int64_t i = 0; i < tile.chunkElements(); ++i) {
    Value pointer = memory.at(b, offset, i * rowBytes);
    Value element = LLVM::LoadOp::create(b, tile.elementType(b), pointer, tile.elementBytes);
    column = LLVM::InsertElementOp::create(b, column, element, i32Constant(b, i));
  }
  return column;
}

void TileOfThread::store(ImplicitLocOpBuilder &b, Value firstRow, Value firstCol) const {
  for (int64_t part = 0; part < tile.chunksOfThread(); ++part) {
    auto [line, chunk] = placeOf(b, part);
    Value row = Int(b, firstCol) + toIndex(b, line);
    Value col = Int(b, firstRow) + (toIndex(b, Int(b, chunk) * tile.chunkElements()));
    Value inside = both(b, indexLess(b, row, target.rows), indexLess(b, col, target.cols));
    Value run = chunk;
    emitIf(b, inside, [&, line = line](ImplicitLocOpBuilder &b) {
      Value pointer = globalPointer(b, globalAddress(b, target, row, col));
      LLVM::StoreOp::create(b, readColumn(b, run, line), pointer, /*alignment=*/chunkBytes);
    });
  }
}

/// Returns the extents of the tiles of all matrices: batches, heads, row tiles and column tiles.
static SmallVector<Value> countTiles(ImplicitLocOpBuilder &b, const TransposedTile &tile,
                                     const DenseView &matrices) {
  Value size = indexConstant(b, tile.size());
  return {matrices.batches(), matrices.heads(), indexCeilDiv(b, matrices.rows(), size),
          indexCeilDiv(b, matrices.cols(), size)};
}

Value mlir::blocksparse::device::emitTransposed(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                                Value source) {
  auto type = cast<MemRefType>(source.getType());
  SmallVector<int64_t> sizes(type.getShape());
  std::swap(sizes[sizes.size() - 2], sizes.back());
  Value target = memref::AllocOp::create(host, MemRefType::get(sizes, type.getElementType()));
  TransposedTile tile(type);
  Value all = productOf(host, countTiles(host, tile, DenseView::get(host, source)));
  Value blocks = indexMin(host, all, indexConstant(host, KernelBuilder::simtMaxCtas));
  LaunchShape shape{indexMax(host, blocks, indexConstant(host, 1)), threads, tile.bytes()};
  kernels.launch(host, "transpose_dense", {source, target}, shape,
                 [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
                   DenseView from = DenseView::get(b, mapping.lookup(source));
                   DenseView to = DenseView::get(b, mapping.lookup(target));
                   SharedMemory memory = SharedMemory::get(b);
                   Value thread = arith::IndexCastOp::create(
                       b, b.getI32Type(), gpu::ThreadIdOp::create(b, gpu::Dimension::x));
                   SmallVector<Value> counts = countTiles(b, tile, from);
                   // All threads of a CTA have the same tiles, so that they meet at the barriers.
                   // The first barrier makes the tile visible to all threads; after the second one
                   // the tile may be overwritten.
                   emitLoop(b, gpu::BlockIdOp::create(b, gpu::Dimension::x), productOf(b, counts),
                            gpu::GridDimOp::create(b, gpu::Dimension::x),
                            [&](ImplicitLocOpBuilder &b, Value number) {
                              SmallVector<Value> at = splitIndex(b, number, counts);
                              Value size = indexConstant(b, tile.size());
                              Value firstRow = Int(b, at[2]) * size,
                                    firstCol = Int(b, at[3]) * size;
                              MatrixView source = from.matrix(b, at[0], at[1]);
                              MatrixView target = to.matrix(b, at[0], at[1]);
                              TileOfThread part(tile, source, target, memory, thread);
                              part.load(b, firstRow, firstCol);
                              emitBarrier(b);
                              part.store(b, firstRow, firstCol);
                              emitBarrier(b);
                            });
                 });
  return target;
}
