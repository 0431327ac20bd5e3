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

AttentionRow::Score AttentionRow::emitScore(ImplicitLocOpBuilder &b, Value key, Type type) const {
  Value score = emitAttentionScore(b, q, k, row, key, softCap ? scale / *softCap : scale, type);
  Value slope;
  if (softCap) {
    Value tanh = deviceTanh(b, score);
    slope = subNumbers(b, floatConstant(b, type, 1), mulNumbers(b, tanh, tanh));
    score = mulNumbers(b, tanh, floatConstant(b, type, *softCap));
  }
  return {addTerms(b, terms, score, row, key), slope};
}

template <typename OpTy>
AttentionRow AttentionRow::get(ImplicitLocOpBuilder &b, OpTy op, const AttentionViews &views,
                               Value batch, Value head, Value row) {
  AttentionRow result;
  result.q = views.getQueries(b, batch, head);
  result.k = views.getKeys(b, batch, head);
  result.v = views.getValues(b, batch, head);
  result.row = row;
  result.scale = op.getScale().convertToDouble();
  if (std::optional<APFloat> cap = op.getSoftCap())
    result.softCap = cap->convertToDouble();
  result.skipsZeros = op.mayForbid();
  result.terms = views.getTerms(b, batch, head);
  result.columns = views.positions.getColumns(b, batch, row);
  result.segment = views.positions.getSegment(b, batch, row);
  if (result.segment)
    result.segments = views.positions.getKeySegments()->matrix(b, batch, Value());
  result.sink = views.getSink(b, head);
  return result;
}

template AttentionRow AttentionRow::get(ImplicitLocOpBuilder &, PlannedAttentionOp,
                                        const AttentionViews &, Value, Value, Value);
template AttentionRow AttentionRow::get(ImplicitLocOpBuilder &, PlannedAttentionGradOp,
                                        const AttentionViews &, Value, Value, Value);

Value AttentionRow::isAllowed(ImplicitLocOpBuilder &b, Value key, Type type) const {
  Value allowed;
  auto require = [&](Value condition) {
    if (condition)
      allowed = allowed ? both(b, allowed, condition) : condition;
  };
  if (columns.first)
    require(arith::CmpIOp::create(b, arith::CmpIPredicate::sge, key, columns.first));
  if (columns.end)
    require(indexLess(b, key, columns.end));
  if (segment)
    require(isEqual(b, segment, segments.load(b, indexConstant(b, 0), key)));
  require(isAllowedByTerms(b, terms, type, row, key));
  return allowed;
}

/// Adds an allowed key to the sums.
static AttentionSums addKey(ImplicitLocOpBuilder &b, const AttentionRow &row, Value key,
                            const AttentionSums &sums) {
  Type type = sums.sum.getType();
  AttentionSums next;
  Value score = row.emitScore(b, key, type).value;
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
  if (row.sink) {
    initial.largest = row.sink;
    initial.sum = deviceExp(b, subNumbers(b, row.sink, initial.shift(b)));
  }
  return AttentionSums::fromCarried(
      emitCarry(b, first, count, indexConstant(b, 1), initial.toCarried(),
                [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
                  Value key = keyOf(b, number);
                  Value allowed = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, key, first);
                  auto add = [&](ImplicitLocOpBuilder &b) {
                    return addKey(b, row, key, AttentionSums::fromCarried(carried)).toCarried();
                  };
                  auto skip = [&](ImplicitLocOpBuilder &) { return SmallVector<Value>(carried); };
                  return emitChoices(
                      b, allowed,
                      [&](ImplicitLocOpBuilder &b) {
                        // The operands of masks have no element for a key that does not exist.
                        Value kept = row.isAllowed(b, key, type);
                        return kept ? emitChoices(b, kept, add, skip) : add(b);
                      },
                      skip);
                }));
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

AttentionItems::AttentionItems(ImplicitLocOpBuilder &b, PlannedAttentionOp op,
                               const IRMapping &mapping)
    : op(op),
      views(b, op,
            [&](Value operand) { return operand ? mapping.lookupOrDefault(operand) : Value(); }),
      segments(SegmentView::get(b, mapping.lookupOrDefault(op.getSegments()))),
      entries(EntryView::get(b, mapping.lookupOrDefault(op.getEntries()))) {}

SmallVector<Value> AttentionItems::sizes(ImplicitLocOpBuilder &b) const {
  PlannedAttentionOp op = this->op;
  Value heads = op.getLutHeads() == 1 ? views.out.heads() : indexConstant(b, 1);
  return {views.out.batches(), heads, segments.rows(), indexConstant(b, op.getBlock()[0]),
          indexCeilDiv(b, views.out.cols(), indexConstant(b, itemCols))};
}

/// Stores columns [16 * index[4], 16 * index[4] + 16) of row `row`.
void AttentionItems::emitPart(ImplicitLocOpBuilder &b, ValueRange index, Value head,
                              Value row) const {
  PlannedAttentionOp op = this->op;
  Value batch = index[0], segment = index[2];
  AttentionRow parts = AttentionRow::get(b, op, views, batch, head, row);
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
        Value exists = indexInside(b, key, parts.k.rows);
        return arith::SelectOp::create(b, exists, key, indexConstant(b, -1));
      });
  Type type = sums.sum.getType();
  Value empty = isZero(b, sums.sum);
  Value divisor = arith::SelectOp::create(b, empty, floatConstant(b, type, 1), sums.sum);
  MatrixView result = views.out.matrix(b, batch, head);
  MatrixView logarithms = views.lse.matrix(b, batch, head);
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
  emitIf(b, indexLess(b, row, views.out.rows()),
         [&](ImplicitLocOpBuilder &b) { emitPart(b, index, head, row); });
}
