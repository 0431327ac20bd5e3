// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The end of a tile of attention in a consumer warpgroup: the two parts of a split tile are
// combined, NaN is repaired, and the result is stored.

#include "AttentionConsumer.h"

#include "../../AttentionRow.h"
#include "../../Device/DeviceMath.h"
#include "../../Device/Elements.h"
#include "../Operands/StagedTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <numbers>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

/// Accumulators of a thread that a repair computes in one loop; a divisor of those of 64 columns.
static constexpr int64_t repairedTogether = 16;

Value AttentionConsumer::getKey(ImplicitLocOpBuilder &b, const AttentionWork &tile,
                                Value number) const {
  Value step = Int(b, number) / AttentionShape::keys, own = group;
  if (shape().form.split) {
    // All of a split tile are computed again by consumer 0.
    Value isSecond = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, step, tile.count);
    own = arith::SelectOp::create(b, isSecond, i32Constant(b, 1), own);
    step = arith::SelectOp::create(b, isSecond, Int(b, step) - tile.count, step);
  }
  StepWords words = readStep(b, tile, step, own);
  const bool joined = shape().form.joined;
  const int64_t keys = joined ? AttentionSlices::keysOfSlice : AttentionShape::halfKeys;
  Value part = Int(b, number) % AttentionShape::keys / keys;
  Value first =
      joined ? frame.readSlice(b, words[0], own, part)
             : arith::SelectOp::create(b, isEqual(b, part, i32Constant(b, 0)), words[0], words[1])
                   .getResult();
  Value bit = Int(b, arith::ShRUIOp::create(b, words[joined ? 1 : 2], part)) % 2;
  Value key = Int(b, first) + Int(b, number) % keys;
  Value taken = isEqual(b, bit, i32Constant(b, 1));
  return toIndex(b, arith::SelectOp::create(b, taken, key, i32Constant(b, -1)));
}

SmallVector<Value> AttentionConsumer::repairPart(ImplicitLocOpBuilder &b, const AttentionWork &tile,
                                                 Value row, ArrayRef<int64_t> indices) const {
  Value query = Int(b, row) + rowOf(indices.front()) * 8;
  AttentionRow parts = AttentionRow::get(b, frame.op, *frame.views, toIndex(b, tile.batch),
                                         toIndex(b, tile.head), toIndex(b, query));
  for (int64_t i : indices)
    parts.cols.push_back(toIndex(b, Int(b, frame.thread) % 4 * 2 + colOf(i)));
  Value count = Int(b, tile.count) * AttentionShape::keys;
  if (shape().form.split)
    count = arith::SelectOp::create(b, isSplit(b, tile), Int(b, count) * 2, count);
  AttentionSums sums = emitAttentionKeys(
      b, parts, toIndex(b, count), [&](ImplicitLocOpBuilder &b, Value position) -> Value {
        return getKey(b, tile, arith::IndexCastOp::create(b, b.getI32Type(), position));
      });
  Value isEmpty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sums.sum, number(b, 0));
  SmallVector<Value> results;
  for (Value product : sums.products)
    results.push_back(
        arith::SelectOp::create(b, isEmpty, product, arith::DivFOp::create(b, product, sums.sum)));
  return results;
}

SmallVector<Value> AttentionConsumer::repair(ImplicitLocOpBuilder &b, const AttentionWork &tile,
                                             Value row, Value exists,
                                             ArrayRef<Value> results) const {
  Value isNaN;
  for (Value result : results) {
    Value own = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, result, result);
    isNaN = isNaN ? arith::OrIOp::create(b, isNaN, own).getResult() : own;
  }
  Value any = NVVM::VoteSyncOp::create(b, b.getI1Type(), i32Constant(b, -1), both(b, exists, isNaN),
                                       NVVM::VoteSyncKind::any);
  return emitChoices(
      b, any,
      [&](ImplicitLocOpBuilder &b) {
        SmallVector<Value> repaired(numProducts());
        // All columns at once would need more registers than there are.
        for (int64_t first = 0; first < numProducts(); first += repairedTogether)
          for (int64_t r = 0; r < rowsOfThread; ++r) {
            SmallVector<int64_t> indices;
            for (int64_t i = first; i < first + repairedTogether; ++i)
              if (rowOf(i) == r)
                indices.push_back(i);
            for (auto [i, part] :
                 llvm::zip_equal(indices, repairPart(b, tile, ownRow(b, row), indices)))
              repaired[i] = part;
          }
        return repaired;
      },
      [&](ImplicitLocOpBuilder &) { return SmallVector<Value>(results); });
}

SmallVector<Value> AttentionConsumer::combineWith(ImplicitLocOpBuilder &b, ArrayRef<Value> results,
                                                  ArrayRef<Value> others) const {
  Value lowest = number(b, -std::numeric_limits<double>::infinity()), zero = number(b, 0);
  Value unit = number(b, scoring.form.unit() * std::numbers::log2e);
  const int64_t largestAt = numProducts(), sumsAt = largestAt + rowsOfThread;
  SmallVector<Value> combined(results);
  Value own[rowsOfThread], other[rowsOfThread];
  for (int64_t r = 0; r < rowsOfThread; ++r) {
    Value most = larger(b, results[largestAt + r], others[largestAt + r]);
    // A row without a score has powers relative to 0, as in emitPowers.
    Value isEmpty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, most, lowest);
    Value shift = arith::NegFOp::create(
        b, arith::MulFOp::create(b, arith::SelectOp::create(b, isEmpty, zero, most), unit));
    own[r] = power(b, fusedMultiplyAdd(b, results[largestAt + r], unit, shift));
    other[r] = power(b, fusedMultiplyAdd(b, others[largestAt + r], unit, shift));
    combined[largestAt + r] = most;
  }
  auto add = [&](int64_t i, int64_t r) {
    Value scaled = arith::MulFOp::create(b, results[i], own[r]);
    combined[i] = fusedMultiplyAdd(b, others[i], other[r], scaled);
  };
  for (int64_t i = 0; i < numProducts(); ++i)
    add(i, rowOf(i));
  for (int64_t r = 0; r < rowsOfThread; ++r)
    add(sumsAt + r, r);
  return combined;
}

SmallVector<Value> AttentionConsumer::combine(ImplicitLocOpBuilder &b, const AttentionWork &tile,
                                              ArrayRef<Value> results) const {
  if (!shape().form.split)
    return SmallVector<Value>(results);
  return emitChoices(
      b, isSplit(b, tile), [&](ImplicitLocOpBuilder &b) { return exchange(b, results); },
      [&](ImplicitLocOpBuilder &) { return SmallVector<Value>(results); });
}

SmallVector<Value> AttentionConsumer::exchange(ImplicitLocOpBuilder &b,
                                               ArrayRef<Value> results) const {
  auto meet = [&] {
    NVVM::BarrierOp::create(b, Type(), i32Constant(b, shape().groups() + 1),
                            i32Constant(b, 2 * AttentionShape::warpgroupThreads),
                            NVVM::BarrierReductionAttr(), Value());
  };
  Type type = b.getF32Type();
  const int64_t largestAt = numProducts(), sumsAt = largestAt + rowsOfThread;
  // Product i of all threads is a row of f32.
  auto placeOfProduct = [&](ImplicitLocOpBuilder &b, int64_t i) {
    Value row = Int(b, frame.base) + (shape().resultOffset() + i * 4 * 128);
    return sharedPointer(b, Int(b, row) + Int(b, frame.thread) * 4);
  };
  // The largest scores of all rows come first, then their sums.
  auto placeOfRow = [&](ImplicitLocOpBuilder &b, int64_t which) {
    Value first = Int(b, frame.base) + (shape().splitOffset() + which * 4 * 32);
    return sharedPointer(b, Int(b, first) + Int(b, frame.thread) / 4 * 4);
  };
  Value isFirst = isEqual(b, group, i32Constant(b, 0));
  Value isLead = isEqual(b, Int(b, frame.thread) % 4, i32Constant(b, 0));
  store.emitWaitRead(b);
  meet();
  emitIf(b, isEqual(b, group, i32Constant(b, 1)), [&](ImplicitLocOpBuilder &b) {
    for (int64_t i = 0; i < numProducts(); ++i)
      LLVM::StoreOp::create(b, results[i], placeOfProduct(b, i), /*alignment=*/4);
    SmallVector<Value> rows(results.slice(largestAt, rowsOfThread));
    for (int64_t r = 0; r < rowsOfThread; ++r)
      rows.push_back(reduceQuad(b, results[sumsAt + r], sum));
    emitIf(b, isLead, [&](ImplicitLocOpBuilder &b) {
      for (auto [which, row] : llvm::enumerate(rows))
        LLVM::StoreOp::create(b, row, placeOfRow(b, static_cast<int64_t>(which)), /*alignment=*/4);
    });
  });
  meet();
  SmallVector<Value> combined = emitChoices(
      b, isFirst,
      [&](ImplicitLocOpBuilder &b) {
        SmallVector<Value> others;
        for (int64_t i = 0; i < numProducts(); ++i)
          others.push_back(LLVM::LoadOp::create(b, type, placeOfProduct(b, i), /*alignment=*/4));
        for (int64_t which = 0; which < 2 * rowsOfThread; ++which)
          others.push_back(LLVM::LoadOp::create(b, type, placeOfRow(b, which), /*alignment=*/4));
        // The sums of a quad are added later.
        for (int64_t r = 0; r < rowsOfThread; ++r)
          others[sumsAt + r] = arith::SelectOp::create(b, isLead, others[sumsAt + r], number(b, 0));
        return combineWith(b, results, others);
      },
      [&](ImplicitLocOpBuilder &) { return SmallVector<Value>(results); });
  meet();
  return combined;
}

void AttentionConsumer::emitResult(ImplicitLocOpBuilder &b, const AttentionWork &tile, Value row,
                                   ValueRange results) const {
  PlannedAttentionOp op = frame.op;
  ValueRange products = results.take_front(numProducts());
  ValueRange rows = results.drop_front(numProducts());
  Value lowest = number(b, -std::numeric_limits<double>::infinity()), zero = number(b, 0);
  Value inverses[rowsOfThread], logarithms[rowsOfThread], sink;
  if (op.getSink())
    sink = frame.views->getSink(b, toIndex(b, tile.head));
  for (int64_t r = 0; r < rowsOfThread; ++r) {
    Value largest = rows[r], total = reduceQuad(b, rows[rowsOfThread + r], sum);
    Value factor = number(b, 1), unit = number(b, scoring.form.unit());
    if (sink) {
      // The largest score of a row without an allowed key is not defined.
      Value isEmpty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, total, zero);
      Value own = arith::MulFOp::create(b, largest, unit);
      own = arith::SelectOp::create(b, isEmpty, lowest, own);
      Value shift = larger(b, own, sink);
      Value none = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, shift, lowest);
      shift = arith::SelectOp::create(b, none, zero, shift);
      factor = deviceExp(b, subNumbers(b, own, shift));
      total = fusedMultiplyAdd(b, total, factor, deviceExp(b, subNumbers(b, sink, shift)));
      largest = shift;
      unit = number(b, 1);
    }
    Value isEmpty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, total, zero);
    Value inverse = arith::DivFOp::create(b, factor, total);
    inverses[r] = arith::SelectOp::create(b, isEmpty, zero, inverse);
    Value logarithm = fusedMultiplyAdd(b, largest, unit, deviceLog(b, total));
    logarithms[r] = arith::SelectOp::create(b, isEmpty, lowest, logarithm);
  }
  SmallVector<Value> scaled = scale(b, SmallVector<Value>(products), inverses);
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, row, i32Constant(b, 0));
  if (shape().form.split) {
    Value other = both(b, isSplit(b, tile), isEqual(b, group, i32Constant(b, 1)));
    exists = arith::SelectOp::create(b, other, arith::ConstantIntOp::create(b, b.getI1Type(), 0),
                                     exists);
  }
  if (repairs())
    scaled = repair(b, tile, row, exists, scaled);
  store.emit(
      b, scaled, /*finish=*/nullptr, [&](ImplicitLocOpBuilder &b, int64_t number, Value address) {
        emitIf(b, exists, [&](ImplicitLocOpBuilder &b) {
          TensorCoord coord = StagedTiles::coordIn(
              b, op.getOut(), row, i32Constant(b, number * subtileCols), tile.batch, tile.head);
          emitTensorStore(b, frame.out, coord, address);
        });
      });
  // One lane of a quad stores the log-sum-exp of its rows.
  Value stores = both(b, exists, isEqual(b, Int(b, frame.thread) % 4, i32Constant(b, 0)));
  emitIf(b, stores, [&](ImplicitLocOpBuilder &b) {
    Value lse = frame.lse;
    DenseView view =
        DenseView::get(b, lse, DenseAxes::ofRowVectors(cast<MemRefType>(lse.getType()).getRank()));
    MatrixView matrix = view.matrix(b, toIndex(b, tile.batch), toIndex(b, tile.head));
    Value first = ownRow(b, row);
    for (int64_t r = 0; r < rowsOfThread; ++r) {
      Value own = toIndex(b, Int(b, first) + r * 8);
      auto store = [&](ImplicitLocOpBuilder &b) {
        matrix.store(b, logarithms[r], own, indexConstant(b, 0));
      };
      // The last tile of joined steps may have fewer than 64 rows.
      if (shape().form.joined)
        emitIf(b, indexLess(b, own, view.rows()), store);
      else
        store(b);
    }
  });
}
