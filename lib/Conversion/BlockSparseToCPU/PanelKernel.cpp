// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PanelKernel.h"

#include "ElementConversion.h"
#include "TaskLoop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;

//===----------------------------------------------------------------------===//
// Tile shapes
//===----------------------------------------------------------------------===//

int64_t TileShape::chooseLanes(Type accumulator, ScheduleAttr schedule,
                               const CPULoweringOptions &options) {
  const int64_t lanes = options.vectorBits / accumulator.getIntOrFloatBitWidth();
  const auto *params = schedule ? schedule.getIf<::blocksparse::PanelParams>() : nullptr;
  return params && params->tile.isGiven() ? std::min(lanes, params->tile.cols) : lanes;
}

TileShape TileShape::choose(Type accumulator, ScheduleAttr schedule,
                            const CPULoweringOptions &options, int64_t height, int64_t width) {
  TileShape tile;
  tile.accumulator = accumulator;
  tile.lanes = options.vectorBits / accumulator.getIntOrFloatBitWidth();
  // 32 registers hold 8 x 2 accumulators, the 2 vectors of a row of the panel and a broadcast
  // element; 16 registers hold 6 x 2.
  int64_t rows = options.vectorBits >= 512 ? 8 : 6;
  tile.cols = 2 * tile.lanes;
  const auto *params = schedule ? schedule.getIf<::blocksparse::PanelParams>() : nullptr;
  if (params && params->tile.isGiven()) {
    rows = params->tile.rows;
    tile.cols = params->tile.cols;
  }
  if (!ShapedType::isDynamic(width) && width > 0)
    tile.cols = std::min<int64_t>(tile.cols, llvm::PowerOf2Ceil(width));
  tile.lanes = std::min(tile.lanes, tile.cols);
  tile.cols = llvm::alignTo(tile.cols, tile.lanes);
  tile.rows = rows;
  if (!ShapedType::isDynamic(height) && height > 0)
    tile.rows = llvm::divideCeil(height, llvm::divideCeil(height, rows));
  return tile;
}

SmallVector<Value> TileShape::zeroAccumulators(ImplicitLocOpBuilder &b) const {
  return SmallVector<Value>(rows * vectorsPerRow(), splatConstant(b, vectorType(), 0));
}

void TileShape::storeAccumulators(ImplicitLocOpBuilder &b, ValueRange accumulators, Value memref,
                                  Value row) const {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < vectorsPerRow(); ++j)
      vector::StoreOp::create(b, accumulators[i * vectorsPerRow() + j], memref,
                              ValueRange{Int(b, row) + i, indexConstant(b, j * lanes)});
}

SmallVector<Value> TileShape::loadAccumulators(ImplicitLocOpBuilder &b, Value memref,
                                               Value row) const {
  SmallVector<Value> accumulators;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < vectorsPerRow(); ++j)
      accumulators.push_back(vector::LoadOp::create(
          b, vectorType(), memref, ValueRange{Int(b, row) + i, indexConstant(b, j * lanes)}));
  return accumulators;
}

//===----------------------------------------------------------------------===//
// Scratch
//===----------------------------------------------------------------------===//

Value mlir::blocksparse::allocateScratch(ImplicitLocOpBuilder &b, MemRefType type,
                                         ValueRange sizes) {
  return memref::AllocOp::create(b, type, sizes, b.getI64IntegerAttr(64));
}

void mlir::blocksparse::freeScratch(ImplicitLocOpBuilder &b, Value memref) {
  memref::DeallocOp::create(b, memref);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

void mlir::blocksparse::prefetchRow(ImplicitLocOpBuilder &b, const MatrixView &matrix, Value row,
                                    Value col, int64_t count, bool write) {
  int64_t perLine = std::max<int64_t>(512 / matrix.elementType().getIntOrFloatBitWidth(), 1);
  Value last = Int(b, matrix.cols) - 1;
  for (int64_t j = 0; j < count; j += perLine) {
    Value place = indexMin(b, Int(b, col) + j, last);
    memref::PrefetchOp::create(b, matrix.memref, ValueRange{row, place}, write,
                               /*localityHint=*/3, /*isDataCache=*/true);
  }
}

static void packVectors(ImplicitLocOpBuilder &b, const TileShape &tile, const MatrixView &source,
                        Value firstCol, Value depth, Value panel) {
  OpBuilder::InsertionGuard guard(b);
  MatrixView unit = source.withUnitStride(b);
  Value k = enterLoop(b, indexConstant(b, 0), depth, 1);
  // Rows of a wide operand lie on different pages, which the hardware prefetcher does not follow.
  constexpr int64_t rowsAhead = 16;
  Value ahead = indexMin(b, Int(b, k) + rowsAhead, Int(b, depth) - 1);
  prefetchRow(b, unit, ahead, firstCol, tile.cols, /*write=*/false);
  auto type = VectorType::get(tile.lanes, source.elementType());
  for (int64_t j = 0; j < tile.cols; j += tile.lanes) {
    Value offset = indexConstant(b, j);
    Value loaded =
        vector::LoadOp::create(b, type, unit.memref, ValueRange{k, Int(b, firstCol) + offset});
    vector::StoreOp::create(b, convertElements(b, loaded, tile.accumulator), panel,
                            ValueRange{k, offset});
  }
}

/// Packs a panel from a source with any strides and any number of columns. The reduction axis is
/// divided into runs, so that the panel rows of a run stay in the L1 cache during the loop over the
/// columns: the columns of a transposed operand are contiguous.
static void packElements(ImplicitLocOpBuilder &b, const TileShape &tile, const MatrixView &source,
                         Value firstCol, Value validCols, Value depth, Value panel) {
  OpBuilder::InsertionGuard guard(b);
  constexpr int64_t run = 64;
  Value zero = indexConstant(b, 0);
  Value firstK = enterLoop(b, zero, depth, run);
  Value lastK = indexMin(b, Int(b, firstK) + run, depth);
  {
    OpBuilder::InsertionGuard inner(b);
    Value j = enterLoop(b, zero, validCols, 1);
    Value k = enterLoop(b, firstK, lastK, 1);
    Value element = source.load(b, k, Int(b, firstCol) + j);
    memref::StoreOp::create(b, convertElements(b, element, tile.accumulator), panel,
                            ValueRange{k, j});
  }
  Value j = enterLoop(b, validCols, indexConstant(b, tile.cols), 1);
  Value k = enterLoop(b, firstK, lastK, 1);
  memref::StoreOp::create(b, splatConstant(b, tile.accumulator, 0), panel, ValueRange{k, j});
}

void mlir::blocksparse::packPanel(ImplicitLocOpBuilder &b, const TileShape &tile,
                                  const MatrixView &source, Value unitStride, Value firstCol,
                                  Value depth, Value panel) {
  Value width = indexConstant(b, tile.cols);
  // A panel may start beyond the last column: at the end of an edge block.
  Value remaining = indexMax(b, Int(b, source.cols) - firstCol, indexConstant(b, 0));
  Value validCols = indexMin(b, width, remaining);
  Value full = indexEqual(b, validCols, width);
  Value fast = b.createOrFold<arith::AndIOp>(full, unitStride);
  if (knownIndex(fast) == 0)
    return packElements(b, tile, source, firstCol, validCols, depth, panel);
  auto choice = scf::IfOp::create(b, fast, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  packVectors(b, tile, source, firstCol, depth, panel);
  b.setInsertionPointToStart(choice.elseBlock());
  packElements(b, tile, source, firstCol, validCols, depth, panel);
}

Value mlir::blocksparse::isFinitePanel(ImplicitLocOpBuilder &b, const TileShape &tile, Value depth,
                                       Value panel) {
  // 0 times x is 0 if x is finite, else NaN.
  VectorType type = tile.vectorType();
  Value zero = splatConstant(b, type, 0);
  auto loop = scf::ForOp::create(b, indexConstant(b, 0), depth, indexConstant(b, 1), zero);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value sum = loop.getRegionIterArg(0);
    for (int64_t j = 0; j < tile.cols; j += tile.lanes) {
      Value loaded = vector::LoadOp::create(
          b, type, panel, ValueRange{loop.getInductionVar(), indexConstant(b, j)});
      sum = vector::FMAOp::create(b, loaded, zero, sum);
    }
    scf::YieldOp::create(b, sum);
  }
  Value sum = vector::ReductionOp::create(b, vector::CombiningKind::ADD, loop.getResult(0));
  return arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, sum, sum);
}

//===----------------------------------------------------------------------===//
// Multiplication
//===----------------------------------------------------------------------===//

Value mlir::blocksparse::emitAdd(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  if (getElementTypeOrSelf(lhs.getType()).isInteger())
    return arith::AddIOp::create(b, lhs, rhs);
  return arith::AddFOp::create(b, lhs, rhs);
}

Value mlir::blocksparse::emitMultiplyAdd(ImplicitLocOpBuilder &b, Value x, Value y, Value sum) {
  if (getElementTypeOrSelf(sum.getType()).isInteger())
    return arith::AddIOp::create(b, sum, arith::MulIOp::create(b, x, y));
  return vector::FMAOp::create(b, x, y, sum);
}

/// Returns i1: the floating-point scalar is 0.
static Value emitIsZero(ImplicitLocOpBuilder &b, Value element) {
  Value zero = splatConstant(b, element.getType(), 0);
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, element, zero);
}

SmallVector<Value> mlir::blocksparse::multiplyTile(ImplicitLocOpBuilder &b, const TileShape &tile,
                                                   ValueRange accumulators, Value panel,
                                                   Value firstRow, Value depth, LeftElement left,
                                                   EachStep eachStep) {
  int64_t vectors = tile.vectorsPerRow();
  VectorType type = tile.vectorType();
  auto loop = scf::ForOp::create(b, indexConstant(b, 0), depth, indexConstant(b, 1), accumulators);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value k = loop.getInductionVar();
  if (eachStep)
    eachStep(k);
  Value panelRow = Int(b, firstRow) + k;
  SmallVector<Value> right;
  for (int64_t j = 0; j < vectors; ++j)
    right.push_back(vector::LoadOp::create(b, type, panel,
                                           ValueRange{panelRow, indexConstant(b, j * tile.lanes)}));
  SmallVector<Value> zeroLanes;
  if (tile.skipPanelZeros)
    for (Value lanes : right)
      zeroLanes.push_back(
          arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, lanes, splatConstant(b, type, 0)));
  SmallVector<Value> next;
  for (int64_t i = 0; i < tile.rows; ++i) {
    Value element = left(i, k);
    Value broadcast = vector::BroadcastOp::create(b, type, element);
    Value isZero = tile.skipZeros ? emitIsZero(b, element) : Value();
    for (int64_t j = 0; j < vectors; ++j) {
      Value sum = loop.getRegionIterArg(i * vectors + j);
      Value added = emitMultiplyAdd(b, broadcast, right[j], sum);
      if (isZero)
        added = arith::SelectOp::create(b, isZero, sum, added);
      if (tile.skipPanelZeros)
        added = arith::SelectOp::create(b, zeroLanes[j], sum, added);
      next.push_back(added);
    }
  }
  scf::YieldOp::create(b, next);
  return loop.getResults();
}
