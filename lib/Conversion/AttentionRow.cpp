// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionRow.h"

#include "Device/DeviceMath.h"
#include "Device/Elements.h"
#include "Device/Loops.h"
#include "blocksparse/IR/SparseTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

/// Columns of v that an item multiplies. More of them cost registers, fewer cost more scores.
static constexpr int64_t itemCols = 16;

static Value lowest(ImplicitLocOpBuilder &b, Type type) {
  return floatConstant(b, type, -std::numeric_limits<double>::infinity());
}

SmallVector<Value> AttentionSums::toCarried() const {
  SmallVector<Value> values{largest, sum};
  llvm::append_range(values, products);
  return values;
}

AttentionSums AttentionSums::fromCarried(ValueRange values) {
  return {values[0], values[1], SmallVector<Value>(values.drop_front(2))};
}

Value AttentionSums::shift(ImplicitLocOpBuilder &b) const {
  Type type = largest.getType();
  Value empty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, largest, lowest(b, type));
  return arith::SelectOp::create(b, empty, zeroElement(b, type), largest);
}

Value mlir::blocksparse::emitAttentionScore(ImplicitLocOpBuilder &b, const MatrixView &q,
                                            const MatrixView &k, Value row, Value key, double scale,
                                            Type type) {
  Value zero = indexConstant(b, 0), one = indexConstant(b, 1);
  Value product = emitFold(b, zero, q.cols, one, zeroElement(b, type),
                           [&](ImplicitLocOpBuilder &b, Value col, Value sum) {
                             Value left = convertElement(b, q.load(b, row, col), type);
                             Value right = convertElement(b, k.load(b, key, col), type);
                             return multiplyAdd(b, left, right, sum);
                           });
  return mulNumbers(b, product, floatConstant(b, type, scale));
}

/// Adds an allowed key to the sums.
static AttentionSums addKey(ImplicitLocOpBuilder &b, const AttentionRow &row, Value key,
                            const AttentionSums &sums) {
  Type type = sums.sum.getType();
  AttentionSums next;
  Value score = emitAttentionScore(b, row.q, row.k, row.row, key, row.scale, type);
  next.largest = maxNumbers(b, sums.largest, score);
  Value shift = next.shift(b);
  Value power = deviceExp(b, subNumbers(b, score, shift));
  Value factor = deviceExp(b, subNumbers(b, sums.largest, shift));
  next.sum = multiplyAdd(b, sums.sum, factor, power);
  Value zero = zeroElement(b, type);
  Value counts = arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, power, zero);
  for (auto [col, product] : llvm::zip_equal(row.cols, sums.products)) {
    Value inside = indexLess(b, col, row.v.cols);
    if (row.skipsZeros)
      inside = both(b, inside, counts);
    Value element = emitChoice(
        b, inside,
        [&](ImplicitLocOpBuilder &b) { return convertElement(b, row.v.load(b, key, col), type); },
        [&](ImplicitLocOpBuilder &) { return zero; });
    next.products.push_back(multiplyAdd(b, power, element, mulNumbers(b, product, factor)));
  }
  return next;
}

AttentionSums
mlir::blocksparse::emitAttentionKeys(ImplicitLocOpBuilder &b, const AttentionRow &row, Value count,
                                     function_ref<Value(ImplicitLocOpBuilder &, Value)> keyOf) {
  Type type = getAccumulatorType(row.q.elementType());
  Value zero = zeroElement(b, type), first = indexConstant(b, 0);
  AttentionSums initial{lowest(b, type), zero, SmallVector<Value>(row.cols.size(), zero)};
  return AttentionSums::fromCarried(
      emitCarry(b, first, count, indexConstant(b, 1), initial.toCarried(),
                [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
                  Value key = keyOf(b, number);
                  Value allowed = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, key, first);
                  return emitChoices(
                      b, allowed,
                      [&](ImplicitLocOpBuilder &b) {
                        return addKey(b, row, key, AttentionSums::fromCarried(carried)).toCarried();
                      },
                      [&](ImplicitLocOpBuilder &) { return SmallVector<Value>(carried); });
                }));
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

AttentionItems::AttentionItems(ImplicitLocOpBuilder &b, PlannedAttentionOp op,
                               const IRMapping &mapping)
    : op(op), q(DenseView::get(b, mapping.lookupOrDefault(op.getQ()))),
      k(DenseView::get(b, mapping.lookupOrDefault(op.getK()))),
      v(DenseView::get(b, mapping.lookupOrDefault(op.getV()))),
      out(DenseView::get(b, mapping.lookupOrDefault(op.getOut()))),
      lse(DenseView::get(
          b, mapping.lookupOrDefault(op.getLse()),
          DenseAxes::ofRowVectors(cast<MemRefType>(op.getLse().getType()).getRank()))),
      segments(SegmentView::get(b, mapping.lookupOrDefault(op.getSegments()))),
      entries(EntryView::get(b, mapping.lookupOrDefault(op.getEntries()))) {}

SmallVector<Value> AttentionItems::sizes(ImplicitLocOpBuilder &b) const {
  PlannedAttentionOp op = this->op;
  Value heads = op.getLutHeads() == 1 ? out.heads() : indexConstant(b, 1);
  return {out.batches(), heads, segments.rows(), indexConstant(b, op.getBlock()[0]),
          indexCeilDiv(b, out.cols(), indexConstant(b, itemCols))};
}

/// Stores columns [16 * index[4], 16 * index[4] + 16) of row `row`.
void AttentionItems::emitPart(ImplicitLocOpBuilder &b, ValueRange index, Value head,
                              Value row) const {
  PlannedAttentionOp op = this->op;
  Value batch = index[0], segment = index[2];
  AttentionRow parts{q.matrix(b, batch, head),
                     k.matrix(b, batch, head),
                     v.matrix(b, batch, head),
                     row,
                     {},
                     op.getScale().convertToDouble(),
                     op.getCausal()};
  Value firstCol = Int(b, index[4]) * itemCols;
  for (int64_t i = 0; i < itemCols; ++i)
    parts.cols.push_back(Int(b, firstCol) + i);
  Value first = segments.field(b, batch, segment, SegmentTable::First);
  Value width = indexConstant(b, op.getBlock()[1]);
  Value keys = Int(b, segments.field(b, batch, segment, SegmentTable::Count)) * width;
  AttentionSums sums =
      emitAttentionKeys(b, parts, keys, [&](ImplicitLocOpBuilder &b, Value number) -> Value {
        Value entry = Int(b, first) + arith::DivUIOp::create(b, number, width).getResult();
        Value block = entries.field(b, batch, entry, EntryTable::Dense);
        Value key = Int(b, block) * width + arith::RemUIOp::create(b, number, width).getResult();
        Value allowed = indexInside(b, key, parts.k.rows);
        if (op.getCausal())
          allowed = both(b, allowed, arith::CmpIOp::create(b, arith::CmpIPredicate::sle, key, row));
        return arith::SelectOp::create(b, allowed, key, indexConstant(b, -1));
      });
  Type type = sums.sum.getType();
  Value empty = isZero(b, sums.sum);
  Value divisor = arith::SelectOp::create(b, empty, floatConstant(b, type, 1), sums.sum);
  MatrixView result = out.matrix(b, batch, head), logarithms = lse.matrix(b, batch, head);
  for (auto [col, product] : llvm::zip_equal(parts.cols, sums.products))
    emitIf(b, indexLess(b, col, result.cols), [&](ImplicitLocOpBuilder &b) {
      Value quotient = arith::DivFOp::create(b, product, divisor);
      result.store(b, convertElement(b, quotient, result.elementType()), row, col);
    });
  emitIf(b, indexEqual(b, firstCol, indexConstant(b, 0)), [&](ImplicitLocOpBuilder &b) {
    Value logarithm = addNumbers(b, sums.shift(b), deviceLog(b, sums.sum));
    logarithms.store(b, convertElement(b, logarithm, logarithms.elementType()), row,
                     indexConstant(b, 0));
  });
}

void AttentionItems::emitItem(ImplicitLocOpBuilder &b, ValueRange index) const {
  PlannedAttentionOp op = this->op;
  Value batch = index[0], segment = index[2];
  Value head =
      op.getLutHeads() == 1 ? index[1] : segments.field(b, batch, segment, SegmentTable::Head);
  Value tile = segments.field(b, batch, segment, SegmentTable::Tile);
  Value row = Int(b, tile) * op.getBlock()[0] + index[3];
  emitIf(b, indexLess(b, row, out.rows()),
         [&](ImplicitLocOpBuilder &b) { emitPart(b, index, head, row); });
}
