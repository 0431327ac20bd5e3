// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FewColumns.h"

#include "ElementConversion.h"
#include "TaskLoop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::blocksparse;

std::optional<FewColumns> FewColumns::choose(Type accumulator, int64_t lanes, int64_t height,
                                             int64_t depth, int64_t width, bool transposed) {
  if (ShapedType::isDynamic(width) || width < 1 || width * 2 > lanes)
    return std::nullopt;
  FewColumns few{accumulator, 1, width, std::gcd(lanes, transposed ? height : depth), transposed};
  // Vectors of two lanes are no faster than scalars.
  if (few.lanes < 4 && few.lanes < lanes)
    return std::nullopt;
  // Registers hold the accumulators, a vector of each column, and one of values.
  const int64_t registers = lanes * accumulator.getIntOrFloatBitWidth() >= 512 ? 32 : 16;
  const int64_t most =
      llvm::bit_floor<uint64_t>(std::clamp<int64_t>((registers - 1 - width) / width, 1, 8));
  if (transposed)
    few.rows = few.lanes * std::gcd(std::min<int64_t>(most, 4), height / few.lanes);
  else
    few.rows = llvm::divideCeil(height, llvm::divideCeil(height, most));
  return few;
}

void FewColumns::packPanel(ImplicitLocOpBuilder &b, const MatrixView &source, Value depth,
                           Value paddedDepth, Value panel) const {
  OpBuilder::InsertionGuard guard(b);
  Value n = enterLoop(b, indexConstant(b, 0), indexConstant(b, cols), 1);
  {
    OpBuilder::InsertionGuard inner(b);
    Value k = enterLoop(b, indexConstant(b, 0), depth, 1);
    memref::StoreOp::create(b, convertElements(b, source.load(b, k, n), accumulator), panel,
                            ValueRange{n, k});
  }
  Value k = enterLoop(b, depth, paddedDepth, 1);
  memref::StoreOp::create(b, splatConstant(b, accumulator, 0), panel, ValueRange{n, k});
}

SmallVector<Value> FewColumns::zeroAccumulators(ImplicitLocOpBuilder &b) const {
  const int64_t count = transposed ? rows / lanes * cols : rows * cols;
  return SmallVector<Value>(count, splatConstant(b, vectorType(), 0));
}

SmallVector<Value> FewColumns::multiplyBlock(ImplicitLocOpBuilder &b, ValueRange accumulators,
                                             const MatrixView &block, Value row, Value lastRow,
                                             int64_t extent, Value depth, Value panel, Value firstK,
                                             EachStep eachStep) const {
  const VectorType type = vectorType();
  Value end = depth ? depth : indexConstant(b, extent);
  auto loop =
      scf::ForOp::create(b, indexConstant(b, 0), end, indexConstant(b, stepSize()), accumulators);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value k = loop.getInductionVar();
  if (eachStep)
    eachStep(k);
  SmallVector<Value> right;
  Value panelCol = Int(b, firstK) + k;
  for (int64_t n = 0; n < cols; ++n) {
    const Value place[] = {indexConstant(b, n), panelCol};
    right.push_back(
        transposed ? vector::BroadcastOp::create(b, type, memref::LoadOp::create(b, panel, place))
                         .getResult()
                   : vector::LoadOp::create(b, type, panel, place).getResult());
  }
  Value exists;
  if (depth && !transposed)
    exists = vector::CreateMaskOp::create(b, VectorType::get(lanes, b.getI1Type()),
                                          ValueRange{Int(b, depth) - k});
  auto loaded = VectorType::get(lanes, block.elementType());
  const int64_t vectors = transposed ? rows / lanes : rows;
  SmallVector<Value> next;
  for (int64_t i = 0; i < vectors; ++i) {
    Value index = Int(b, row) + (transposed ? i * lanes : i);
    if (lastRow && !transposed)
      index = indexMin(b, index, lastRow);
    const Value place[] = {transposed ? k : index, transposed ? index : k};
    Value left =
        convertElements(b, vector::LoadOp::create(b, loaded, block.memref, place), accumulator);
    if (exists)
      left = arith::SelectOp::create(b, exists, left, splatConstant(b, type, 0));
    for (int64_t n = 0; n < cols; ++n)
      next.push_back(emitMultiplyAdd(b, left, right[n], loop.getRegionIterArg(i * cols + n)));
  }
  scf::YieldOp::create(b, next);
  return loop.getResults();
}

/// Returns the sum of the lanes of a vector, added in halves.
static Value addLanes(ImplicitLocOpBuilder &b, Value vector) {
  for (int64_t half = cast<VectorType>(vector.getType()).getDimSize(0) / 2; half > 0; half /= 2) {
    Value low = vector::ExtractStridedSliceOp::create(
        b, vector, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{half}, ArrayRef<int64_t>{1});
    Value high = vector::ExtractStridedSliceOp::create(
        b, vector, ArrayRef<int64_t>{half}, ArrayRef<int64_t>{half}, ArrayRef<int64_t>{1});
    vector = emitAdd(b, low, high);
  }
  return vector::ExtractOp::create(b, vector, int64_t{0});
}

void FewColumns::storeResults(ImplicitLocOpBuilder &b, ValueRange accumulators, Value tile) const {
  auto store = [&](Value result, int64_t i, int64_t n) {
    memref::StoreOp::create(b, result, tile, ValueRange{indexConstant(b, i), indexConstant(b, n)});
  };
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t n = 0; n < cols; ++n) {
      if (transposed)
        store(vector::ExtractOp::create(b, accumulators[i / lanes * cols + n], i % lanes), i, n);
      else
        store(addLanes(b, accumulators[i * cols + n]), i, n);
    }
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t n = cols; n < cast<MemRefType>(tile.getType()).getDimSize(1); ++n)
      store(splatConstant(b, accumulator, 0), i, n);
}
