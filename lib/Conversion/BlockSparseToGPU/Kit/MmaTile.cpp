// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MmaTile.h"

#include "../../Device/Warp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

/// Largest extent of a warp tile along m and along n.
static constexpr int64_t maxWarpAccumulators = 64;
static constexpr int64_t wordBytes = 4;

/// A warp reads each fragment of a 64 x 64 warp tile once for 4 or 8 products: shared memory then
/// delivers fragments about as fast as the tensor cores consume them. A smaller warp tile reads
/// more for each product.
MmaShape MmaShape::get(int64_t m, int64_t n, int64_t k, const FactorKind &kind) {
  MmaShape shape{m, n, k};
  shape.warpsM = llvm::divideCeil(m, maxWarpAccumulators);
  bool wide = kind.split || kind.sumBytes() == 8;
  shape.warpsN = llvm::divideCeil(n, wide ? maxWarpAccumulators / 2 : maxWarpAccumulators);
  if (shape.warpsM * shape.warpsN > 1)
    return shape;
  if (n >= m && n > 16)
    shape.warpsN = 2;
  else if (m > 16)
    shape.warpsM = 2;
  return shape;
}

MmaTile::MmaTile(ImplicitLocOpBuilder &b, const MmaShape &shape, const FactorKind &kind,
                 bool aKMajor, bool bKMajor, Value thread)
    : shape(shape), kind(kind), aKMajor(aKMajor), bKMajor(bKMajor) {
  lane = Int(b, thread) % warpSize;
  Value warp = Int(b, thread) / warpSize;
  warpRow = Int(b, warp) / shape.warpsN * shape.warpM();
  warpCol = Int(b, warp) % shape.warpsN * shape.warpN();
  if (hasPairs(aKMajor) || hasPairs(bKMajor))
    selectors = ByteSelectors::get(b, lane);
}

/// Returns the layout of a tile. A SharedTile counts elements of 16 bits, so the K extent is
/// scaled. Elements that lanes load one by one need pairs of chunks: those of f64, of which four
/// fill a pair, and those of 32 bits that ldmatrix would have to transpose.
static SharedTile getTile(const FactorKind &kind, int64_t outer, int64_t k, bool kMajor) {
  int64_t bytes = kind.bytes();
  bool pairs = kind.isF64MMA() || (!kMajor && bytes >= 4);
  return kMajor ? SharedTile{outer, k * bytes / 2, pairs} : SharedTile{k, outer * bytes / 2, pairs};
}

SharedTile MmaTile::aTile() const { return getTile(kind, shape.m, shape.k, aKMajor); }

SharedTile MmaTile::bTile() const { return getTile(kind, shape.n, shape.k, bKMajor); }

FmaTile MmaTile::getFmaTile() const {
  return {kind.element,
          shape.warpM(),
          shape.warpN(),
          kind.sliceDepth(),
          {aTile(), aKMajor, warpRow},
          {bTile(), bKMajor, warpCol},
          lane};
}

SmallVector<Value> MmaTile::zeros(ImplicitLocOpBuilder &b) const {
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(kind.sum()));
  return SmallVector<Value>(shape.warpM() * shape.warpN() / warpSize, zero);
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// Returns the row and the chunk, in a 16 x 16 part of a stored tile, whose address this lane
/// passes. Lanes 8i .. 8i + 7 address matrix i:
///   chunksLast:  matrices (row, chunk) = (0, 0), (8, 0), (0, 1), (8, 1)
///   otherwise:   matrices (row, chunk) = (0, 0), (0, 1), (8, 0), (8, 1)
MmaTile::LaneAddress MmaTile::laneAddress(ImplicitLocOpBuilder &b, bool chunksLast) const {
  Value third = Int(b, lane) / 8 % 2, fourth = Int(b, lane) / 16;
  Value inner = Int(b, lane) % 8;
  Value half = chunksLast ? third : fourth;
  return {Int(b, inner) + Int(b, half) * 8, chunksLast ? fourth : third};
}

/// Loads four registers by ldmatrix.x4 at m (or n) = outer + outerStep and k. `outer` is a multiple
/// of 16 that depends on the warp; `outerStep` and `k` are constant multiples of 16.
SmallVector<Value, 4> MmaTile::loadFragments(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                                             const SharedTile &tile, bool kMajor, Value offset,
                                             Value outer, int64_t outerStep, int64_t k,
                                             bool isA) const {
  // In a K-major tile, rows are m or n: the second matrix of A is at m + 8, the second matrix of B
  // is at k + 8. In an MN-major tile, rows are k and the order is reversed.
  LaneAddress address = laneAddress(b, isA == kMajor);
  // A distance of a multiple of 16 rows is a constant number of bytes, and becomes the immediate
  // offset of the instruction. A distance along a row changes the swizzle and can't be one.
  Value zero = i32Constant(b, 0);
  int64_t rows = kMajor ? outerStep : k;
  Value base = kMajor ? outer : zero;
  Value start = Int(b, outer) + outerStep;
  Value firstChunk = kMajor ? i32Constant(b, k / 8) : Int(b, start) / 8;
  Value inTile = tile.offset(b, base, address.row, Int(b, firstChunk) + address.chunk);
  Value pointer = memory.at(b, Int(b, offset) + inTile, rows * tile.rowBytes());
  return loadMatrices(b, pointer, /*transposed=*/!kMajor);
}

/// Loads the same words as loadFragments from an MN-major tile of 32-bit elements, which ldmatrix
/// can't transpose: each lane loads its four elements one by one.
SmallVector<Value, 4> MmaTile::loadWords(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                                         const SharedTile &tile, Value offset, Value outer,
                                         int64_t outerStep, int64_t slice, bool isA) const {
  Value group = Int(b, lane) / 4, row = Int(b, lane) % 4;
  Value start = Int(b, outer) + outerStep;
  SmallVector<Value, 4> words(4);
  for (int64_t outerHalf = 0; outerHalf < 2; ++outerHalf) {
    Value chunk = Int(b, start) / 4 + (2 * outerHalf);
    chunk = Int(b, chunk) + Int(b, group) / 4;
    Value inTile =
        Int(b, tile.offset(b, i32Constant(b, 0), row, chunk)) + Int(b, group) % 4 * wordBytes;
    for (int64_t kHalf = 0; kHalf < 2; ++kHalf) {
      // Rows whose distance is a multiple of 4 have the same swizzle.
      int64_t rows = kind.sliceDepth() * slice + 4 * kHalf;
      Value pointer = memory.at(b, Int(b, offset) + inTile, rows * tile.rowBytes());
      words[isA ? outerHalf + 2 * kHalf : 2 * outerHalf + kHalf] =
          LLVM::LoadOp::create(b, b.getI32Type(), pointer, wordBytes);
    }
  }
  return words;
}

/// Loads this lane's elements of f64 at (g, t) and (g + 8, t) of a 16 x 4 part of the tile, rows m
/// (or n) by k, where g = lane / 4 and t = lane % 4: a fragment of A, or one of each of two of B.
/// Half a warp, 4 rows of 4 elements, meets no bank twice.
SmallVector<Value, 4> MmaTile::loadDoubles(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                                           const SharedTile &tile, bool kMajor, Value offset,
                                           Value outer, int64_t outerStep, int64_t slice) const {
  constexpr int64_t bytes = 8, perChunk = SharedTile::chunkBytes / bytes;
  const int64_t k = kind.sliceDepth() * slice;
  Value group = Int(b, lane) / 4, inSlice = Int(b, lane) % 4, zero = i32Constant(b, 0);
  SmallVector<Value, 4> elements;
  for (int64_t half = 0; half < 2; ++half) {
    // Rows whose distance is a multiple of 4 have the same swizzle.
    const int64_t step = outerStep + 8 * half;
    Value col = kMajor ? Value(Int(b, inSlice) + k) : Value(Int(b, outer) + step + group);
    Value inTile =
        tile.offset(b, kMajor ? outer : zero, kMajor ? group : inSlice, Int(b, col) / perChunk);
    inTile = Int(b, inTile) + Int(b, col) % perChunk * bytes;
    Value pointer = memory.at(b, Int(b, offset) + inTile, (kMajor ? step : k) * tile.rowBytes());
    elements.push_back(LLVM::LoadOp::create(b, kind.element, pointer, bytes));
  }
  return elements;
}

/// Loads the words of an MN-major tile of bytes: 32 values of k by one 16-byte chunk of m or n.
SmallVector<Value, 4> MmaTile::loadBytes(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                                         const SharedTile &tile, Value offset, Value outer,
                                         int64_t outerStep, int64_t slice) const {
  Value start = Int(b, outer) + outerStep;
  Value inTile = tile.offset(b, i32Constant(b, 0), getByteRow(b, lane), Int(b, start) / 16);
  int64_t rows = kind.sliceDepth() * slice;
  Value pointer = memory.at(b, Int(b, offset) + inTile, rows * tile.rowBytes());
  return loadMatrices(b, pointer, /*transposed=*/true);
}

SmallVector<Value> MmaTile::loadSlice(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                                      Value aOffset, Value bOffset, int64_t slice) const {
  if (kind.exact)
    return getFmaTile().loadSlice(b, memory, aOffset, bOffset, slice);
  SmallVector<Value> words;
  auto append = [&](const SharedTile &tile, bool kMajor, Value offset, Value outer, int64_t size,
                    bool isA) {
    for (int64_t step = 0; step < size; step += 16)
      llvm::append_range(
          words, kind.isF64MMA() ? loadDoubles(b, memory, tile, kMajor, offset, outer, step, slice)
                 : tile.pairs    ? loadWords(b, memory, tile, offset, outer, step, slice, isA)
                 : hasPairs(kMajor) ? loadBytes(b, memory, tile, offset, outer, step, slice)
                                    : loadFragments(b, memory, tile, kMajor, offset, outer, step,
                                                    16 * slice, isA));
  };
  append(aTile(), aKMajor, aOffset, warpRow, shape.warpM(), /*isA=*/true);
  append(bTile(), bKMajor, bOffset, warpCol, shape.warpN(), /*isA=*/false);
  return words;
}

/// The accumulators are in the order [m / 16][n / 8][4] of the warp tile.
void MmaTile::multiplyWords(ImplicitLocOpBuilder &b, ValueRange left, ValueRange right,
                            MutableArrayRef<Value> accumulators) const {
  int64_t tilesM = shape.warpM() / 16, tilesN = shape.warpN() / 8;
  Type element = kind.isF8() ? Type(b.getF16Type()) : kind.element;
  for (int64_t i = 0; i < tilesM; ++i)
    for (int64_t j = 0; j < tilesN; ++j)
      multiplyAddFragments(b, element, left.slice(leftWords() * i, leftWords()),
                           right.slice(rightWords() * j, rightWords()),
                           accumulators.slice(4 * (i * tilesN + j), 4));
}

/// Returns the difference between the f32 in `word` and its rounding `large`, rounded to tf32; 0 if
/// the number is not finite, so that infinity minus infinity adds no NaN.
static Value getSmallPart(ImplicitLocOpBuilder &b, Value word, Value large) {
  Type f32 = b.getF32Type();
  Value number = LLVM::BitcastOp::create(b, f32, word);
  Value rounded = LLVM::BitcastOp::create(b, f32, large);
  Value left = arith::SubFOp::create(b, number, rounded);
  // In infinity and NaN all bits of the exponent are set.
  Value exponent = arith::ConstantIntOp::create(b, b.getI32Type(), 0x7f800000);
  Value bits = b.createOrFold<arith::AndIOp>(large, exponent);
  Value finite = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bits, exponent);
  Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
  left = arith::SelectOp::create(b, finite, left, zero);
  return roundToTF32(b, LLVM::BitcastOp::create(b, b.getI32Type(), left));
}

/// Each four words become two words of even and two words of odd positions along m (or n). In the
/// order of fragments of A, the index along k is the slower one; in that of B, the index of the
/// column fragment is.
SmallVector<Value> MmaTile::joinWords(ImplicitLocOpBuilder &b, ValueRange words) const {
  SmallVector<Value> joined(words);
  size_t lefts = shape.warpM() / 4;
  for (size_t first = 0; first < words.size(); first += 4) {
    bool isA = first < lefts;
    if (!hasPairs(isA ? aKMajor : bKMajor))
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
                            MutableArrayRef<Value> accumulators) const {
  if (kind.exact)
    return getFmaTile().multiplySlice(b, words, accumulators);
  int64_t lefts = shape.warpM() / 16 * leftWords();
  auto multiply = [&](ArrayRef<Value> left, ArrayRef<Value> right) {
    multiplyWords(b, left.take_front(lefts), right.drop_front(lefts), accumulators);
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
// Accumulators
//===----------------------------------------------------------------------===//

Value MmaTile::accumulatorOffset(ImplicitLocOpBuilder &b, Value row, Value col) const {
  return Int(b, row) * accumulatorRowBytes() + Int(b, col) * kind.sumBytes();
}

void MmaTile::storeAccumulators(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                                ValueRange accumulators) const {
  if (kind.exact)
    return getFmaTile().storeAccumulators(b, memory, accumulators, [&](Value row, Value col) {
      return accumulatorOffset(b, row, col);
    });
  int64_t tilesM = shape.warpM() / 16, tilesN = shape.warpN() / 8;
  // Joined words give fragments of even and of odd rows or columns: neighbouring rows or columns
  // belong to different fragments or to rows g and g + 8 of one.
  bool rowPairs = hasPairs(aKMajor), colPairs = hasPairs(bKMajor);
  Value row = Int(b, lane) / 4 * (rowPairs ? 2 : 1);
  Value col = Int(b, lane) % 4 * (colPairs ? 4 : 2);
  Value start = accumulatorOffset(b, Int(b, warpRow) + row, Int(b, warpCol) + col);
  for (int64_t i = 0; i < tilesM; ++i)
    for (int64_t j = 0; j < tilesN; ++j)
      for (int64_t half = 0; half < 2; ++half) {
        // The two accumulators stored together are neighbours in one fragment, or have the same
        // position in a fragment of even and in one of odd columns.
        int64_t even = colPairs ? j / 2 * 2 : j, inner = j - even;
        int64_t first = 4 * (i * tilesN + even) + 2 * half + inner;
        Value pair = LLVM::PoisonOp::create(b, VectorType::get(2, kind.sum()));
        for (int64_t e = 0; e < 2; ++e)
          pair = LLVM::InsertElementOp::create(
              b, pair, accumulators[first + (colPairs ? 4 : 1) * e], i32Constant(b, e));
        int64_t down = 16 * i + (rowPairs ? 1 : 8) * half;
        int64_t step = down * accumulatorRowBytes() + (8 * even + 2 * inner) * kind.sumBytes();
        memory.store(b, pair, Int(b, start) + step, /*alignment=*/2 * kind.sumBytes());
      }
}
