// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LeftOperand.h"

#include "ElementConversion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blocksparse;

LeftOperand::LeftOperand(ImplicitLocOpBuilder &b, const TileShape &tile, Type element)
    : tile(tile) {
  if (element != tile.accumulator)
    copy = allocateScratch(b, MemRefType::get({tile.rows, run}, tile.accumulator), {});
}

void LeftOperand::release(ImplicitLocOpBuilder &b) {
  if (copy)
    freeScratch(b, copy);
}

Value LeftOperand::rowIndex(ImplicitLocOpBuilder &b, Value row, int64_t i, Value lastRow) const {
  Value index = Int(b, row) + i;
  return lastRow ? indexMin(b, index, lastRow) : index;
}

SmallVector<Value> LeftOperand::multiply(ImplicitLocOpBuilder &b, ValueRange accumulators,
                                         const MatrixView &source, Value row, Value lastRow,
                                         Value depth, Value panel, Value firstRow, bool kStrided,
                                         EachStep eachStep) {
  SmallVector<Value> rows;
  for (int64_t i = 0; i < tile.rows; ++i)
    rows.push_back(rowIndex(b, row, i, lastRow));
  if (copy)
    return multiplyCopied(b, accumulators, source, rows, depth, panel, firstRow, kStrided,
                          eachStep);
  return multiplyTile(
      b, tile, accumulators, panel, firstRow, depth,
      [&](int64_t i, Value k) { return source.load(b, rows[i], k); }, eachStep);
}

SmallVector<Value> LeftOperand::multiplyCopied(ImplicitLocOpBuilder &b, ValueRange accumulators,
                                               const MatrixView &source, ArrayRef<Value> rows,
                                               Value depth, Value panel, Value firstRow,
                                               bool kStrided, EachStep eachStep) {
  Value step = indexConstant(b, run);
  auto loop = scf::ForOp::create(b, indexConstant(b, 0), depth, step, accumulators);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value from = loop.getInductionVar();
  Value count = indexMin(b, step, Int(b, depth) - from);
  copyRun(b, source, rows, from, count, kStrided);
  SmallVector<Value> next = multiplyTile(
      b, tile, loop.getRegionIterArgs(), panel, Int(b, firstRow) + from, count,
      [&](int64_t i, Value k) -> Value {
        return memref::LoadOp::create(b, copy, ValueRange{indexConstant(b, i), k});
      },
      eachStep);
  scf::YieldOp::create(b, next);
  return loop.getResults();
}

/// Emits copy[i][k] = source[rows[i]][from + k], in vectors along k if the source is contiguous
/// there.
void LeftOperand::copyRun(ImplicitLocOpBuilder &b, const MatrixView &source, ArrayRef<Value> rows,
                          Value from, Value count, bool kStrided) {
  OpBuilder::InsertionGuard guard(b);
  Value zero = indexConstant(b, 0);
  Value scalarFrom = zero;
  if (!kStrided) {
    int64_t lanes = 16;
    Value width = indexConstant(b, lanes);
    Value whole = Int(b, b.createOrFold<arith::DivUIOp>(count, width)) * width;
    scalarFrom = b.createOrFold<arith::SelectOp>(source.hasUnitStride(b), whole, zero);
    auto loop = scf::ForOp::create(b, zero, scalarFrom, width);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar();
    MatrixView unit = source.withUnitStride(b);
    auto type = VectorType::get(lanes, source.elementType());
    for (auto [i, row] : llvm::enumerate(rows)) {
      Value loaded =
          vector::LoadOp::create(b, type, unit.memref, ValueRange{row, Int(b, from) + k});
      vector::StoreOp::create(b, convertElements(b, loaded, tile.accumulator), copy,
                              ValueRange{indexConstant(b, i), k});
    }
  }
  auto loop = scf::ForOp::create(b, scalarFrom, count, indexConstant(b, 1));
  b.setInsertionPointToStart(loop.getBody());
  Value k = loop.getInductionVar();
  for (auto [i, row] : llvm::enumerate(rows)) {
    Value element = source.load(b, row, Int(b, from) + k);
    memref::StoreOp::create(b, convertElements(b, element, tile.accumulator), copy,
                            ValueRange{indexConstant(b, i), k});
  }
}
