// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy of rows that begin at any address. Memory takes and gives 16 bytes at a time only at
// multiples of 16 bytes, and a copy by single elements has too few bytes in flight to reach the
// rate of memory. So each lane stores chunks of 16 bytes to aligned addresses of the target row,
// and makes each of two neighbouring chunks of the source row by shifting bytes. The distance
// between the two rows, modulo 16, is the same for a whole row. The ends of a row, where a chunk of
// either row would lie outside of it, are copied element by element.

#include "RowCopy.h"

#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "../../OperandView.h"
#include "../Kit/AsyncCopy.h"
#include "../Kit/MmaFragments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t chunkBytes = 16, wordsOfChunk = 4;
/// Chunks that a lane moves at a time, at a distance of a warp, and those of its warp together.
static constexpr int64_t chunksOfLane = 4, chunksOfSegment = chunksOfLane * warpSize;

/// Returns the extents of the work: all axes but the last, and the segments of a row with one more
/// item for its ends.
static SmallVector<Value> getExtents(ImplicitLocOpBuilder &b, Value memref) {
  SmallVector<Value> extents;
  for (int64_t axis = 0, rank = cast<MemRefType>(memref.getType()).getRank(); axis < rank; ++axis)
    extents.push_back(memrefDim(b, memref, axis));
  const int64_t perSegment = chunksOfSegment * chunkBytes / getElementBytes(memref);
  extents.back() = Int(b, indexCeilDiv(b, extents.back(), indexConstant(b, perSegment))) + 1;
  return extents;
}

namespace {
/// Copies one row by one warp for each of its segments, and one for its ends, so that no warp waits
/// for these after its chunks.
class RowCopy {
public:
  /// `row` is the index of the first element of the row in both memrefs.
  RowCopy(ImplicitLocOpBuilder &b, Value source, Value target, SmallVector<Value> row)
      : source(source), target(target), row(std::move(row)), bytes(getElementBytes(source)) {
    this->row.back() = indexConstant(b, 0);
    cols = memrefDim(b, source, static_cast<int64_t>(this->row.size()) - 1);
  }

  /// Copies the elements of a segment one by one, in rows of any kind.
  void copyElements(ImplicitLocOpBuilder &b, Value segment, Value lane) const {
    const int64_t perSegment = chunksOfSegment * chunkBytes / bytes;
    Value first = Int(b, segment) * perSegment;
    Value end = indexMin(b, Int(b, first) + perSegment, cols);
    emitLoop(b, Int(b, first) + lane, end, indexConstant(b, warpSize),
             [&](ImplicitLocOpBuilder &b, Value col) { copyElement(b, col); });
  }

  /// Copies a segment of a row whose elements are contiguous, in `source` and in `target`; copies
  /// the ends of the row if `isEnds` is true.
  void copyChunks(ImplicitLocOpBuilder &b, Value segment, Value isEnds, Value lane) const {
    Chunks chunks = getChunks(b);
    Value start = Int(b, segment) * chunksOfSegment, last = Int(b, chunks.count) - 1;
    emitIf(b, indexLess(b, start, chunks.count), [&](ImplicitLocOpBuilder &b) {
      // All loads are issued before the first result is waited for. Lanes behind the last chunk
      // load it again.
      SmallVector<Value> numbers;
      SmallVector<SmallVector<Value>> loaded;
      for (int64_t i = 0; i < chunksOfLane; ++i) {
        numbers.push_back(Int(b, start) + lane + i * warpSize);
        loaded.push_back(loadTwoChunks(b, chunks, indexMin(b, numbers.back(), last)));
      }
      for (auto [number, words] : llvm::zip_equal(numbers, loaded))
        emitIf(b, indexLess(b, number, chunks.count),
               [&](ImplicitLocOpBuilder &b) { storeChunk(b, chunks, number, words); });
    });
    emitIf(b, isEnds, [&](ImplicitLocOpBuilder &b) {
      Value total =
          Int(b, chunks.head) + indexMax(b, Int(b, cols) - chunks.tail, indexConstant(b, 0));
      emitLoop(
          b, lane, total, indexConstant(b, warpSize), [&](ImplicitLocOpBuilder &b, Value edge) {
            Value col = arith::SelectOp::create(b, indexLess(b, edge, chunks.head), edge,
                                                Int(b, chunks.tail) + (Int(b, edge) - chunks.head));
            copyElement(b, col);
          });
    });
  }

private:
  /// Describes the chunks of a row: addresses in bytes, and elements before and behind the chunks.
  struct Chunks {
    /// The address of the first chunk of the target; the address, a multiple of 16, of the first of
    /// the two chunks of the source that hold its bytes; and the first of these bytes in them.
    Value target, source, shift;
    Value count;
    /// The columns [0, head) and [tail, cols) are in no chunk.
    Value head, tail;
  };

  Chunks getChunks(ImplicitLocOpBuilder &b) const {
    Value zero = indexConstant(b, 0), from = elementAddress(b, source, row),
          to = elementAddress(b, target, row), rowBytes = Int(b, cols) * bytes;
    Chunks chunks;
    // Chunk c would have the bytes from skipped + 16 c on.
    Value skipped = (Int(b, indexConstant(b, chunkBytes)) - Int(b, to) % chunkBytes) % chunkBytes;
    chunks.shift = (Int(b, from) + skipped) % chunkBytes;
    // The first chunk is left out if its bytes come from a source chunk that begins before the row.
    Value first = arith::SelectOp::create(b, indexLess(b, skipped, chunks.shift),
                                          Int(b, skipped) + chunkBytes, skipped);
    Value end = Int(b, rowBytes) - chunkBytes - first + chunks.shift;
    chunks.count = Int(b, indexMax(b, end, zero)) / chunkBytes;
    chunks.target = Int(b, to) + first;
    chunks.source = Int(b, from) + first - chunks.shift;
    chunks.head = indexMin(b, Int(b, first) / bytes, cols);
    chunks.tail = Int(b, first) / bytes + Int(b, chunks.count) * (chunkBytes / bytes);
    return chunks;
  }

  void copyElement(ImplicitLocOpBuilder &b, Value col) const {
    SmallVector<Value> index(row);
    index.back() = col;
    memref::StoreOp::create(b, memref::LoadOp::create(b, source, index), target, index);
  }

  /// Returns the words of the two chunks of the source that hold the bytes of a chunk.
  static SmallVector<Value> loadTwoChunks(ImplicitLocOpBuilder &b, const Chunks &chunks,
                                          Value chunk) {
    auto type = VectorType::get(wordsOfChunk, b.getI32Type());
    Value address = Int(b, chunks.source) + Int(b, chunk) * chunkBytes;
    SmallVector<Value> words;
    for (int64_t i = 0; i < 2; ++i) {
      Value pointer = globalPointer(b, Int(b, address) + i * chunkBytes);
      Value loaded = LLVM::LoadOp::create(b, type, pointer, chunkBytes);
      for (int64_t word = 0; word < wordsOfChunk; ++word)
        words.push_back(LLVM::ExtractElementOp::create(b, loaded, i32Constant(b, word)));
    }
    return words;
  }

  static void storeChunk(ImplicitLocOpBuilder &b, const Chunks &chunks, Value chunk,
                         SmallVector<Value> words) {
    // The lower bits of the shift are bytes of a word; the others are words.
    Value shift = arith::IndexCastOp::create(b, b.getI32Type(), chunks.shift);
    for (int64_t distance : {2, 1}) {
      Value isFar = isEqual(b, Int(b, shift) / (wordsOfChunk * distance) % 2, i32Constant(b, 1));
      for (size_t i = 0; i + distance < words.size(); ++i)
        words[i] = arith::SelectOp::create(b, isFar, words[i + distance], words[i]);
      words.resize(words.size() - distance);
    }
    // Byte i of the result is byte i + shift of two words.
    Value selector = Int(b, Int(b, shift) % wordsOfChunk) * 0x1111 + 0x3210;
    Value result = LLVM::PoisonOp::create(b, VectorType::get(wordsOfChunk, b.getI32Type()));
    for (int64_t i = 0; i < wordsOfChunk; ++i) {
      Value word = joinBytes(b, words[i], words[i + 1], selector);
      result = LLVM::InsertElementOp::create(b, result, word, i32Constant(b, i));
    }
    Value address = Int(b, chunks.target) + Int(b, chunk) * chunkBytes;
    LLVM::StoreOp::create(b, result, globalPointer(b, address), chunkBytes);
  }

  Value source, target, cols;
  SmallVector<Value> row;
  int64_t bytes;
};
} // namespace

/// Returns i1: the elements of the last axis are contiguous.
static Value isContiguous(ImplicitLocOpBuilder &b, Value memref) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  auto strides = metadata.getConstifiedMixedStrides();
  Value stride = getValueOrCreateConstantIndexOp(b, b.getLoc(), strides.back());
  return indexEqual(b, stride, indexConstant(b, 1));
}

void mlir::blocksparse::device::emitCopyRows(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                             Value source, Value target) {
  kernels.launchForEachWarp(
      host, "align_rows", {source, target}, productOf(host, getExtents(host, source)),
      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item, Value lane) {
        Value from = mapping.lookup(source), to = mapping.lookup(target);
        SmallVector<Value> extents = getExtents(b, from), row = splitIndex(b, item, extents);
        Value segment = row.back(), isEnds = isEqual(b, segment, Int(b, extents.back()) - 1);
        RowCopy copy(b, from, to, row);
        Value inChunks = both(b, isContiguous(b, from), isContiguous(b, to));
        emitChoices(
            b, inChunks,
            [&](ImplicitLocOpBuilder &b) {
              copy.copyChunks(b, segment, isEnds, lane);
              return SmallVector<Value>();
            },
            [&](ImplicitLocOpBuilder &b) {
              copy.copyElements(b, segment, lane);
              return SmallVector<Value>();
            });
      });
}
