// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MmaTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t warpSize = 32;
/// Most sums of a warp along m and along n.
static constexpr int64_t mostWarpSums = 64;
static constexpr int64_t wordBytes = 4;

/// A warp's fragments of 64 x 64 sums are read once for 4 or 8 products each: shared memory gives
/// them just about as fast as the tensor cores take them. Smaller warps read more.
MmaShape MmaShape::get(int64_t m, int64_t n, int64_t k, const FactorKind &kind) {
  MmaShape shape{m, n, k};
  shape.warpsM = llvm::divideCeil(m, mostWarpSums);
  shape.warpsN = llvm::divideCeil(n, kind.split ? mostWarpSums / 2 : mostWarpSums);
  if (shape.warpsM * shape.warpsN > 1)
    return shape;
  if (n >= m && n > 16)
    shape.warpsN = 2;
  else if (m > 16)
    shape.warpsM = 2;
  return shape;
}

MmaTile::MmaTile(ImplicitLocOpBuilder &b, const MmaShape &shape, const FactorKind &kind,
                 bool aAlongK, bool bAlongK, Value thread)
    : shape(shape), kind(kind), aAlongK(aAlongK), bAlongK(bAlongK) {
  lane = Int(b, thread) % warpSize;
  Value warp = Int(b, thread) / warpSize;
  warpRow = Int(b, warp) / shape.warpsN * shape.warpM();
  warpCol = Int(b, warp) % shape.warpsN * shape.warpN();
  if (hasPairs(aAlongK) || hasPairs(bAlongK))
    selectors = ByteSelectors::get(b, lane);
}

/// Tiles are measured in elements of 16 bits.
static SharedTile getTile(const FactorKind &kind, int64_t outer, int64_t k, bool alongK) {
  int64_t bytes = kind.bytes();
  return alongK ? SharedTile{outer, k * bytes / 2}
                : SharedTile{k, outer * bytes / 2, /*pairs=*/bytes == 4};
}

SharedTile MmaTile::aTile() const { return getTile(kind, shape.m, shape.k, aAlongK); }

SharedTile MmaTile::bTile() const { return getTile(kind, shape.n, shape.k, bAlongK); }

SmallVector<Value> MmaTile::zeros(ImplicitLocOpBuilder &b) const {
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(kind.sum()));
  return SmallVector<Value>(shape.warpM() * shape.warpN() / warpSize, zero);
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// The row and chunk, in a 16 x 16 corner of a stored tile, whose address this lane gives.
/// Lanes 8i .. 8i + 7 stand for matrix i:
///   chunksLast:  matrices (row, chunk) = (0, 0), (8, 0), (0, 1), (8, 1)
///   otherwise:   matrices (row, chunk) = (0, 0), (0, 1), (8, 0), (8, 1)
MmaTile::LaneAddress MmaTile::laneAddress(ImplicitLocOpBuilder &b, bool chunksLast) const {
  Value third = Int(b, lane) / 8 % 2, fourth = Int(b, lane) / 16;
  Value inner = Int(b, lane) % 8;
  Value half = chunksLast ? third : fourth;
  return {Int(b, inner) + Int(b, half) * 8, chunksLast ? fourth : third};
}

/// The four registers of ldmatrix.x4 at m (or n) = outer + outerStep, k; `outer` is a
/// multiple of 16 that the warp decides, `outerStep` and `k` are multiples of 16.
SmallVector<Value, 4> MmaTile::loadFragments(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                                             const SharedTile &tile, bool alongK, Value offset,
                                             Value outer, int64_t outerStep, int64_t k,
                                             bool isA) const {
  // Stored along k, rows are m or n: A wants the second half of m before that of k, B the
  // other way round. Stored across, rows are k and it is the reverse.
  LaneAddress address = laneAddress(b, isA == alongK);
  // A multiple of 16 rows is a constant number of bytes, the offset of the instruction; steps
  // along a row meet the swizzle.
  Value zero = i32Constant(b, 0);
  int64_t rows = alongK ? outerStep : k;
  Value base = alongK ? outer : zero;
  Value start = Int(b, outer) + outerStep;
  Value firstChunk = alongK ? i32Constant(b, k / 8) : Int(b, start) / 8;
  Value place = tile.offset(b, base, address.row, Int(b, firstChunk) + address.chunk);
  Value pointer = memory.at(b, Int(b, offset) + place, rows * tile.rowBytes());
  return loadMatrices(b, pointer, /*transposed=*/!alongK);
}

/// The same words of 32-bit elements stored across k, which ldmatrix can't transpose.
SmallVector<Value, 4> MmaTile::loadWords(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                                         const SharedTile &tile, Value offset, Value outer,
                                         int64_t outerStep, int64_t slice, bool isA) const {
  Value group = Int(b, lane) / 4, row = Int(b, lane) % 4;
  Value start = Int(b, outer) + outerStep;
  SmallVector<Value, 4> words(4);
  for (int64_t outerHalf = 0; outerHalf < 2; ++outerHalf) {
    Value chunk = Int(b, start) / 4 + (2 * outerHalf);
    chunk = Int(b, chunk) + Int(b, group) / 4;
    Value place =
        Int(b, tile.offset(b, i32Constant(b, 0), row, chunk)) + Int(b, group) % 4 * wordBytes;
    for (int64_t kHalf = 0; kHalf < 2; ++kHalf) {
      // Rows that are a multiple of 4 apart are swizzled alike.
      int64_t rows = kind.sliceDepth() * slice + 4 * kHalf;
      Value pointer = memory.at(b, Int(b, offset) + place, rows * tile.rowBytes());
      words[isA ? outerHalf + 2 * kHalf : 2 * outerHalf + kHalf] =
          LLVM::LoadOp::create(b, b.getI32Type(), pointer, wordBytes);
    }
  }
  return words;
}

/// The words of bytes stored across k: 32 values of k by a chunk of 16 bytes.
SmallVector<Value, 4> MmaTile::loadBytes(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                                         const SharedTile &tile, Value offset, Value outer,
                                         int64_t outerStep, int64_t slice) const {
  Value start = Int(b, outer) + outerStep;
  Value place = tile.offset(b, i32Constant(b, 0), getByteRow(b, lane), Int(b, start) / 16);
  int64_t rows = kind.sliceDepth() * slice;
  Value pointer = memory.at(b, Int(b, offset) + place, rows * tile.rowBytes());
  return loadMatrices(b, pointer, /*transposed=*/true);
}

SmallVector<Value> MmaTile::loadSlice(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                                      Value aOffset, Value bOffset, int64_t slice) const {
  SmallVector<Value> words;
  auto append = [&](const SharedTile &tile, bool alongK, Value offset, Value outer, int64_t size,
                    bool isA) {
    for (int64_t step = 0; step < size; step += 16)
      llvm::append_range(words,
                         tile.pairs ? loadWords(b, memory, tile, offset, outer, step, slice, isA)
                         : hasPairs(alongK) ? loadBytes(b, memory, tile, offset, outer, step, slice)
                                            : loadFragments(b, memory, tile, alongK, offset, outer,
                                                            step, 16 * slice, isA));
  };
  append(aTile(), aAlongK, aOffset, warpRow, shape.warpM(), /*isA=*/true);
  append(bTile(), bAlongK, bOffset, warpCol, shape.warpN(), /*isA=*/false);
  return words;
}

/// Sums lie as [m / 16][n / 8][4] of the warp's part.
void MmaTile::multiplyWords(ImplicitLocOpBuilder &b, ValueRange left, ValueRange right,
                            MutableArrayRef<Value> sums) const {
  int64_t tilesM = shape.warpM() / 16, tilesN = shape.warpN() / 8;
  Type element = kind.isF8() ? Type(b.getF16Type()) : kind.element;
  for (int64_t i = 0; i < tilesM; ++i)
    for (int64_t j = 0; j < tilesN; ++j)
      multiplyAddFragments(b, element, left.slice(4 * i, 4), right.slice(2 * j, 2),
                           sums.slice(4 * (i * tilesN + j), 4));
}

/// What rounding to `large` left of the f32 in `word`; nothing of what is not finite.
static Value getSmallPart(ImplicitLocOpBuilder &b, Value word, Value large) {
  Type f32 = b.getF32Type();
  Value number = LLVM::BitcastOp::create(b, f32, word);
  Value rounded = LLVM::BitcastOp::create(b, f32, large);
  Value left = arith::SubFOp::create(b, number, rounded);
  // Infinity and NaN have all bits of the exponent.
  Value exponent = arith::ConstantIntOp::create(b, b.getI32Type(), 0x7f800000);
  Value bits = b.createOrFold<arith::AndIOp>(large, exponent);
  Value finite = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bits, exponent);
  Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
  left = arith::SelectOp::create(b, finite, left, zero);
  return roundToTF32(b, LLVM::BitcastOp::create(b, b.getI32Type(), left));
}

/// Each four words are two of an even and two of an odd place along m (or n): of A the halves of k
/// come last, of B the two fragments of columns do.
SmallVector<Value> MmaTile::joinWords(ImplicitLocOpBuilder &b, ValueRange words) const {
  SmallVector<Value> joined(words);
  size_t lefts = shape.warpM() / 4;
  for (size_t first = 0; first < words.size(); first += 4) {
    bool isA = first < lefts;
    if (!hasPairs(isA ? aAlongK : bAlongK))
      continue;
    for (size_t kHalf = 0; kHalf < 2; ++kHalf)
      for (size_t odd = 0; odd < 2; ++odd)
        joined[first + (isA ? odd + 2 * kHalf : 2 * odd + kHalf)] =
            joinBytes(b, words[first + 2 * kHalf], words[first + 2 * kHalf + 1],
                      odd ? selectors.odd : selectors.even);
  }
  return joined;
}

void MmaTile::multiplySlice(ImplicitLocOpBuilder &b, ValueRange words,
                            MutableArrayRef<Value> sums) const {
  int64_t lefts = shape.warpM() / 4;
  auto multiply = [&](ArrayRef<Value> left, ArrayRef<Value> right) {
    multiplyWords(b, left.take_front(lefts), right.drop_front(lefts), sums);
  };
  SmallVector<Value> large = joinWords(b, words);
  if (kind.isF8()) {
    for (int64_t half : {0, 1}) {
      SmallVector<Value> wide = llvm::map_to_vector(
          large, [&](Value word) { return widenF8(b, kind.element, word, half); });
      multiply(wide, wide);
    }
    return;
  }
  if (!kind.element.isF32())
    return multiply(large, large);
  for (Value &word : large)
    word = roundToTF32(b, word);
  if (kind.split) {
    SmallVector<Value> small;
    for (auto [word, rounded] : llvm::zip_equal(words, large))
      small.push_back(getSmallPart(b, word, rounded));
    multiply(small, large);
    multiply(large, small);
  }
  multiply(large, large);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

Value MmaTile::sumOffset(ImplicitLocOpBuilder &b, Value row, Value col) const {
  return Int(b, row) * sumRowBytes() + Int(b, col) * 4;
}

void MmaTile::storeSums(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                        ValueRange sums) const {
  int64_t tilesM = shape.warpM() / 16, tilesN = shape.warpN() / 8;
  // Rows and columns of joined words lie in pairs.
  bool rowPairs = hasPairs(aAlongK), colPairs = hasPairs(bAlongK);
  Value row = Int(b, lane) / 4 * (rowPairs ? 2 : 1);
  Value col = Int(b, lane) % 4 * (colPairs ? 4 : 2);
  Value start = sumOffset(b, Int(b, warpRow) + row, Int(b, warpCol) + col);
  for (int64_t i = 0; i < tilesM; ++i)
    for (int64_t j = 0; j < tilesN; ++j)
      for (int64_t half = 0; half < 2; ++half) {
        // Neighbours are those of a fragment, or the same place of an even and an odd one.
        int64_t even = colPairs ? j / 2 * 2 : j, inner = j - even;
        int64_t place = 4 * (i * tilesN + even) + 2 * half + inner;
        Value pair = LLVM::PoisonOp::create(b, VectorType::get(2, kind.sum()));
        for (int64_t e = 0; e < 2; ++e)
          pair = LLVM::InsertElementOp::create(b, pair, sums[place + (colPairs ? 4 : 1) * e],
                                               i32Constant(b, e));
        int64_t down = 16 * i + (rowPairs ? 1 : 8) * half;
        int64_t step = down * sumRowBytes() + (8 * even + 2 * inner) * 4;
        memory.store(b, pair, Int(b, start) + step, /*alignment=*/8);
      }
}
