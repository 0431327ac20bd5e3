// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionGradGroup.h"

#include "ElementConversion.h"
#include "VectorAccess.h"
#include "VectorExp.h"
#include "blocksparse/IR/SparseTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;

static int64_t countCols(Value matrices) {
  return cast<MemRefType>(matrices.getType()).getShape().back();
}

/// Returns the most keys of a chunk. The queries of a group are packed once for each.
static int64_t chooseChunk(PlannedAttentionGradOp op) {
  return std::min<int64_t>(op.getBlock()[1], 64);
}

static TileShape chooseTile(PlannedAttentionGradOp op, const CPULoweringOptions &options) {
  Type type = getAccumulatorType(cast<MemRefType>(op.getQ().getType()).getElementType());
  TileShape tile =
      TileShape::choose(type, ScheduleAttr(), options, chooseChunk(op), op.getBlock()[0]);
  tile.lanes = chooseWidth(tile.cols, type.getIntOrFloatBitWidth(), options.vectorBits,
                           op.getScheduleAttr());
  return tile;
}

AttentionGradGroup::AttentionGradGroup(ImplicitLocOpBuilder &b, PlannedAttentionGradOp op,
                                       const CPULoweringOptions &options)
    : b(b), views(b, op, [](Value operand) { return operand; }),
      q(DenseView::get(b, op.getQ(), /*transposed=*/true)),
      dout(DenseView::get(b, op.getDout(), /*transposed=*/true)),
      rows(DenseView::get(b, op.getRows())), depth(countCols(op.getQ())),
      width(countCols(op.getV())), mostKeys(chooseChunk(op)), forbids(op.mayForbid()),
      scoreTile(chooseTile(op, options)),
      group(b, scoreTile, mostKeys,
            ScoreRules{op.getScale().convertToDouble(),
                       op.getSoftCap() ? op.getSoftCap()->convertToDouble() : 0, views.positions,
                       /*keepsSlopes=*/true}) {}

Value AttentionGradGroup::allocateRows(int64_t count) const {
  return allocateScratch(b, MemRefType::get({count, scoreTile.cols}, scoreTile.accumulator), {});
}

void AttentionGradGroup::allocate(Value taskBatch, Value taskHead) {
  batch = taskBatch;
  head = taskHead;
  int64_t tileKeys = llvm::alignTo(mostKeys, scoreTile.rows);
  queryPanel = allocateRows(depth);
  doutPanel = allocateRows(width);
  statistics = allocateRows(2);
  powers = allocateRows(tileKeys);
  slopes = allocateRows(tileKeys);
  keyRows.emplace(b, mostKeys, depth, scoreTile.accumulator);
  valueRows.emplace(b, mostKeys, width, scoreTile.accumulator);
  group.allocate(views.getTerms(b, batch, head));
}

void AttentionGradGroup::release() {
  group.release();
  keyRows->release(b);
  valueRows->release(b);
  for (Value scratch : {queryPanel, doutPanel, statistics, powers, slopes})
    freeScratch(b, scratch);
}

void AttentionGradGroup::enter(Value row, Value count) {
  Value zero = indexConstant(b, 0);
  Value noUnitStride = arith::ConstantOp::create(b, b.getBoolAttr(false));
  auto pack = [&](const DenseView &view, int64_t size, Value panel) {
    Value extent = indexConstant(b, size);
    MatrixView source = view.matrix(b, batch, head).window(b, zero, row, extent, count);
    packPanel(b, scoreTile, source, noUnitStride, zero, extent, panel);
  };
  pack(q, depth, queryPanel);
  pack(dout, width, doutPanel);
  emitStatistics(row, count);
  group.enter(batch, row, count, views.k.rows());
}

/// Loads lse and the sums of the queries of the group. Lanes without a query have those of the last
/// one.
void AttentionGradGroup::emitStatistics(Value row, Value count) {
  Value zero = indexConstant(b, 0), one = indexConstant(b, 1), last = Int(b, count) - 1;
  MatrixView logarithmsOfRows = views.lse.matrix(b, batch, head),
             sumsOfRows = rows.matrix(b, batch, head);
  emitLoop(b, zero, indexConstant(b, scoreTile.cols), 1, [&](Builder &, Value lane) {
    Value query = Int(b, row) + indexMin(b, lane, last);
    memref::StoreOp::create(b, logarithmsOfRows.load(b, query, zero), statistics,
                            ValueRange{zero, lane});
    memref::StoreOp::create(b, sumsOfRows.load(b, one, query), statistics, ValueRange{one, lane});
  });
  logarithms.clear();
  empty.clear();
  sums.clear();
  for (int64_t i = 0; i < group.vectors(); ++i) {
    logarithms.push_back(group.load(statistics, zero, i, group.vectorType()));
    empty.push_back(
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, logarithms.back(), group.lowest()));
    sums.push_back(group.load(statistics, one, i, group.vectorType()));
  }
}

void AttentionGradGroup::emitWeights(KeyChunk keys) {
  keyRows->enter(b, views.getKeys(b, batch, head), keys.first, keys.count, scoreTile.lanes);
  valueRows->enter(b, views.getValues(b, batch, head), keys.first, keys.count, scoreTile.lanes);
  group.emitProducts(keys, *keyRows, depth, queryPanel, powers);
  group.emitScores(keys, powers, SmallVector<Value>(group.vectors(), group.lowest()));
  group.emitProducts(keys, *valueRows, width, doutPanel, slopes);
  emitLoop(b, indexConstant(b, 0), keys.count, 1, [&](Builder &, Value key) {
    Value none = group.constant(0);
    for (int64_t i = 0; i < group.vectors(); ++i) {
      Value score = group.load(powers, key, i, group.vectorType());
      Value p = emitExp(b, arith::SubFOp::create(b, score, logarithms[i]));
      Value isNone = empty[i];
      if (forbids) {
        // A forbidden element has the probability 0 even in a row of NaN.
        Value forbidden =
            arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, score, group.lowest());
        isNone = arith::OrIOp::create(b, isNone, forbidden);
      }
      p = arith::SelectOp::create(b, isNone, none, p);
      Value dp = group.load(slopes, key, i, group.vectorType());
      Value slope = arith::MulFOp::create(b, p, arith::SubFOp::create(b, dp, sums[i]));
      if (Value ofCap = group.slopes())
        slope = arith::MulFOp::create(b, slope, group.load(ofCap, key, i, group.vectorType()));
      Value isZero = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, p, none);
      group.store(p, powers, key, i);
      group.store(arith::SelectOp::create(b, isZero, none, slope), slopes, key, i);
    }
  });
}
