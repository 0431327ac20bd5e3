// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MmaTile.h"

#include "MmaFragments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t warpSize = 32;

MmaShape MmaShape::get(int64_t m, int64_t n, int64_t k) {
  MmaShape shape{m, n, k};
  int64_t most = m * n >= 128 * 128 ? 8 : 4;
  while (shape.warpsM * shape.warpsN < most) {
    bool splitN = shape.warpN() > 32 || (shape.warpM() <= 32 && shape.warpN() > 16);
    if (splitN)
      shape.warpsN *= 2;
    else if (shape.warpM() > 16)
      shape.warpsM *= 2;
    else
      break;
  }
  return shape;
}

MmaTile::MmaTile(ImplicitLocOpBuilder &b, const MmaShape &shape, Type element, bool aAlongK,
                 bool bAlongK, Value thread)
    : shape(shape), element(element), aAlongK(aAlongK), bAlongK(bAlongK) {
  lane = sharedRem(b, thread, warpSize);
  Value warp = sharedDiv(b, thread, warpSize);
  warpRow = sharedMul(b, sharedDiv(b, warp, shape.warpsN), shape.warpM());
  warpCol = sharedMul(b, sharedRem(b, warp, shape.warpsN), shape.warpN());
}

SharedTile MmaTile::aTile() const {
  return aAlongK ? SharedTile{shape.m, shape.k} : SharedTile{shape.k, shape.m};
}

SharedTile MmaTile::bTile() const {
  return bAlongK ? SharedTile{shape.n, shape.k} : SharedTile{shape.k, shape.n};
}

SmallVector<Value> MmaTile::zeros(ImplicitLocOpBuilder &b) const {
  Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
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
  Value third = sharedRem(b, sharedDiv(b, lane, 8), 2), fourth = sharedDiv(b, lane, 16);
  Value inner = sharedRem(b, lane, 8);
  Value half = chunksLast ? third : fourth;
  return {sharedAdd(b, inner, sharedMul(b, half, 8)), chunksLast ? fourth : third};
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
  Value zero = sharedConstant(b, 0);
  int64_t rows = alongK ? outerStep : k;
  Value base = alongK ? outer : zero;
  Value start = sharedAdd(b, outer, sharedConstant(b, outerStep));
  Value firstChunk = alongK ? sharedConstant(b, k / 8) : sharedDiv(b, start, 8);
  Value place = tile.offset(b, base, address.row, sharedAdd(b, firstChunk, address.chunk));
  Value pointer = memory.at(b, sharedAdd(b, offset, place), rows * tile.rowBytes());
  return loadMatrices(b, pointer, /*transposed=*/!alongK);
}

/// Sums lie as [m / 16][n / 8][4] of the warp's part.
void MmaTile::multiply(ImplicitLocOpBuilder &b, const SharedMemory &memory, Value aOffset,
                       Value bOffset, SmallVectorImpl<Value> &sums) const {
  int64_t tilesM = shape.warpM() / 16, tilesN = shape.warpN() / 8;
  for (int64_t k = 0; k < shape.k; k += 16) {
    SmallVector<SmallVector<Value, 4>> left, right;
    for (int64_t i = 0; i < tilesM; ++i)
      left.push_back(
          loadFragments(b, memory, aTile(), aAlongK, aOffset, warpRow, 16 * i, k, /*isA=*/true));
    for (int64_t j = 0; j < tilesN; j += 2)
      right.push_back(
          loadFragments(b, memory, bTile(), bAlongK, bOffset, warpCol, 8 * j, k, /*isA=*/false));
    for (int64_t i = 0; i < tilesM; ++i)
      for (int64_t j = 0; j < tilesN; ++j)
        multiplyAddFragments(b, element, left[i], ValueRange(right[j / 2]).slice(2 * (j % 2), 2),
                             MutableArrayRef<Value>(sums).slice(4 * (i * tilesN + j), 4));
  }
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

Value MmaTile::sumOffset(ImplicitLocOpBuilder &b, Value row, Value col) const {
  return sharedAdd(b, sharedMul(b, row, sumRowBytes()), sharedMul(b, col, 4));
}

void MmaTile::storeSums(ImplicitLocOpBuilder &b, const SharedMemory &memory,
                        ValueRange sums) const {
  int64_t tilesM = shape.warpM() / 16, tilesN = shape.warpN() / 8;
  Value group = sharedDiv(b, lane, 4);
  Value first = sharedMul(b, sharedRem(b, lane, 4), 2);
  Value start = sumOffset(b, sharedAdd(b, warpRow, group), sharedAdd(b, warpCol, first));
  for (int64_t i = 0; i < tilesM; ++i)
    for (int64_t j = 0; j < tilesN; ++j)
      for (int64_t half = 0; half < 2; ++half) {
        int64_t place = 4 * (i * tilesN + j) + 2 * half;
        Value pair = LLVM::PoisonOp::create(b, VectorType::get(2, b.getF32Type()));
        for (int64_t e = 0; e < 2; ++e)
          pair = LLVM::InsertElementOp::create(b, pair, sums[place + e], sharedConstant(b, e));
        int64_t step = (16 * i + 8 * half) * sumRowBytes() + 8 * j * 4;
        memory.store(b, pair, sharedAdd(b, start, sharedConstant(b, step)), /*alignment=*/8);
      }
}
