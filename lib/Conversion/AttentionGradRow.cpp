// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionGradRow.h"

#include "AttentionRow.h"
#include "Device/DeviceMath.h"
#include "Device/Elements.h"
#include "Device/Loops.h"
#include "blocksparse/IR/KernelProblem.h"
#include "blocksparse/IR/SparseTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>
#include <numbers>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

/// Columns of a gradient that an item computes. More of them cost registers, fewer cost more
/// scores.
static constexpr int64_t itemCols = 16;

struct AttentionGradItems::Part {
  AttentionGradSide side;
  /// dq, or dk and dv.
  SmallVector<MatrixView> gradients;
  /// Row of the gradients (index), and columns of this part.
  Value row;
  SmallVector<Value> cols;
  /// Batch, first of the heads of queries, and the first entry and the number of entries of the
  /// segment (index).
  Value batch, head, first, count;
};

/// Returns the sum over a row of `left` times one of `right`, in `type`.
static Value emitDot(ImplicitLocOpBuilder &b, const MatrixView &left, Value leftRow,
                     const MatrixView &right, Value rightRow, Type type) {
  return emitAttentionScore(b, left, right, leftRow, rightRow, /*scale=*/1, type);
}

AttentionGradItems::AttentionGradItems(ImplicitLocOpBuilder &b, PlannedAttentionGradOp op,
                                       const IRMapping &mapping)
    : op(op),
      views(b, op,
            [&](Value operand) { return operand ? mapping.lookupOrDefault(operand) : Value(); }),
      sharing(getKernelProblem(op)->sharedHeads) {
  auto matrices = [&](Value operand) {
    return DenseView::get(b, mapping.lookupOrDefault(operand));
  };
  dout = matrices(op.getDout());
  dq = matrices(op.getDq());
  dk = matrices(op.getDk());
  dv = matrices(op.getDv());
  rows = matrices(op.getRows());
  if (op.getDlse()) {
    Value own = mapping.lookupOrDefault(op.getDlse());
    dlse =
        DenseView::get(b, own, DenseAxes::ofRowVectors(cast<MemRefType>(own.getType()).getRank()));
  }
  Value segmentTables[] = {op.getColumnSegments(), op.getSegments()};
  Value entryTables[] = {op.getColumnEntries(), op.getEntries()};
  for (int side = 0; side < 2; ++side) {
    segments[side] = SegmentView::get(b, mapping.lookupOrDefault(segmentTables[side]));
    entries[side] = EntryView::get(b, mapping.lookupOrDefault(entryTables[side]));
  }
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

SmallVector<Value> AttentionGradItems::rowSizes(ImplicitLocOpBuilder &) const {
  return {views.out.batches(), views.out.heads(), views.out.rows()};
}

MatrixView AttentionGradItems::outOf(ImplicitLocOpBuilder &b, ValueRange index) const {
  return views.out.matrix(b, index[0], index[1]);
}

MatrixView AttentionGradItems::doutOf(ImplicitLocOpBuilder &b, ValueRange index) const {
  return dout.matrix(b, index[0], index[1]);
}

Type AttentionGradItems::accumulator() const { return getAccumulatorType(views.q.elementType()); }

void AttentionGradItems::emitRow(ImplicitLocOpBuilder &b, ValueRange index) const {
  storeRow(b, index,
           emitDot(b, outOf(b, index), index[2], doutOf(b, index), index[2], accumulator()));
}

void AttentionGradItems::storeRow(ImplicitLocOpBuilder &b, ValueRange index, Value product) const {
  PlannedAttentionGradOp op = this->op;
  Type type = product.getType();
  Value zero = indexConstant(b, 0), row = index[2];
  Value logarithm = views.lse.matrix(b, index[0], index[1]).load(b, row, zero);
  Value lowest = floatConstant(b, type, -std::numeric_limits<double>::infinity());
  // A row of lse = -inf has no element: its powers are 0, which a shift of +inf would not give.
  Value none = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, logarithm, lowest);
  Value scaled = mulNumbers(b, logarithm, floatConstant(b, type, -std::numbers::log2e));
  Value shift = arith::SelectOp::create(b, none, lowest, scaled);
  if (op.getDlse())
    product = subNumbers(b, product, dlse.matrix(b, index[0], index[1]).load(b, row, zero));
  MatrixView results = rows.matrix(b, index[0], index[1]);
  results.store(b, shift, zero, row);
  results.store(b, product, indexConstant(b, 1), row);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

SmallVector<Value> AttentionGradItems::sizes(ImplicitLocOpBuilder &b,
                                             AttentionGradSide side) const {
  PlannedAttentionGradOp op = this->op;
  const bool isKeys = side == AttentionGradSide::Keys;
  Value heads = indexConstant(b, 1);
  if (op.getLutHeads() == 1)
    heads = isKeys ? dk.heads() : views.out.heads();
  Value cols = isKeys ? indexMax(b, dk.cols(), dv.cols()) : dq.cols();
  return {views.out.batches(), heads, segments[isKeys ? 0 : 1].rows(),
          indexConstant(b, op.getBlock()[isKeys ? 1 : 0]),
          indexCeilDiv(b, cols, indexConstant(b, itemCols))};
}

namespace {
/// Holds the probability of an element and the gradient of its score, in the accumulation type.
struct Weights {
  Value p, ds;
};
} // namespace

/// Returns 0 in place of `value` where `power` is 0.
static Value zeroWith(ImplicitLocOpBuilder &b, Value power, Value value) {
  Value zero = zeroElement(b, value.getType());
  return arith::SelectOp::create(b, isZero(b, power), zero, value);
}

void AttentionGradItems::emitPart(ImplicitLocOpBuilder &b, const Part &part) const {
  PlannedAttentionGradOp op = this->op;
  const bool isKeys = part.side == AttentionGradSide::Keys, forbids = op.mayForbid();
  Type type = accumulator();
  Value zero = indexConstant(b, 0), none = zeroElement(b, type);
  // Returns the weights of an allowed element of head `head`.
  auto weigh = [&](ImplicitLocOpBuilder &b, const AttentionRow &row, Value head,
                   Value key) -> Weights {
    AttentionRow::Score score = row.emitScore(b, key, type);
    Value logarithm = views.lse.matrix(b, part.batch, head).load(b, row.row, zero);
    Value lowest = floatConstant(b, type, -std::numeric_limits<double>::infinity());
    Value isEmpty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, logarithm, lowest);
    Value p = arith::SelectOp::create(b, isEmpty, none,
                                      deviceExp(b, subNumbers(b, score.value, logarithm)));
    Value dp = emitDot(b, dout.matrix(b, part.batch, head), row.row, row.v, key, type);
    Value sum = rows.matrix(b, part.batch, head).load(b, indexConstant(b, 1), row.row);
    Value ds = mulNumbers(b, p, subNumbers(b, dp, sum));
    if (score.slope)
      ds = mulNumbers(b, ds, score.slope);
    return {p, zeroWith(b, p, ds)};
  };
  // Returns sum + weight * matrix[row, col] for each column.
  auto addRow = [&](ImplicitLocOpBuilder &b, ValueRange before, Value weight,
                    const MatrixView &matrix, Value row, SmallVectorImpl<Value> &after) {
    Value counts = arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, weight, none);
    for (auto [col, sum] : llvm::zip_equal(part.cols, before)) {
      Value inside = indexLess(b, col, matrix.cols);
      if (forbids)
        inside = both(b, inside, counts);
      Value element = emitChoice(
          b, inside,
          [&](ImplicitLocOpBuilder &b) {
            return convertElement(b, matrix.load(b, row, col), type);
          },
          [&](ImplicitLocOpBuilder &) { return none; });
      after.push_back(multiplyAdd(b, weight, element, sum));
    }
  };
  Value width = indexConstant(b, op.getBlock()[isKeys ? 0 : 1]);
  Value others = isKeys ? views.q.rows() : views.k.rows();
  Value count = Int(b, part.count) * width;
  const int64_t heads = isKeys ? sharing : 1;
  const EntryView &table = entries[isKeys ? 0 : 1];
  SmallVector<Value> initial(part.gradients.size() * part.cols.size(), none);
  SmallVector<Value> totals = emitCarry(
      b, zero, Int(b, count) * heads, indexConstant(b, 1), initial,
      [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
        Value head = part.head;
        if (heads != 1) {
          head = Int(b, head) + arith::DivUIOp::create(b, number, count).getResult();
          number = arith::RemUIOp::create(b, number, count);
        }
        Value entry = Int(b, part.first) + arith::DivUIOp::create(b, number, width).getResult();
        Value block = table.field(b, part.batch, entry, EntryTable::Dense);
        Value other = Int(b, block) * width + arith::RemUIOp::create(b, number, width).getResult();
        Value query = isKeys ? other : part.row, key = isKeys ? part.row : other;
        auto add = [&](ImplicitLocOpBuilder &b, const AttentionRow &row) {
          Weights weights = weigh(b, row, head, key);
          SmallVector<Value> next;
          const size_t cols = part.cols.size();
          addRow(b, carried.take_front(cols), weights.ds, isKeys ? row.q : row.k, other, next);
          if (isKeys)
            addRow(b, carried.drop_front(cols), weights.p, dout.matrix(b, part.batch, head), other,
                   next);
          return next;
        };
        auto skip = [&](ImplicitLocOpBuilder &) { return SmallVector<Value>(carried); };
        return emitChoices(
            b, indexInside(b, other, others),
            [&](ImplicitLocOpBuilder &b) {
              // The operands of masks have no element for a row or column that does not exist.
              AttentionRow row = AttentionRow::get(b, op, views, part.batch, head, query);
              Value allowed = row.isAllowed(b, key, type);
              if (!allowed)
                return add(b, row);
              return emitChoices(
                  b, allowed, [&](ImplicitLocOpBuilder &b) { return add(b, row); }, skip);
            },
            skip);
      });
  ValueRange rest = totals;
  for (auto [index, gradient] : llvm::enumerate(part.gradients)) {
    for (auto [col, total] : llvm::zip_equal(part.cols, rest.take_front(part.cols.size()))) {
      Value result = total;
      if (index == 0)
        result = mulNumbers(b, total, floatConstant(b, type, op.getScale().convertToDouble()));
      emitIf(b, indexLess(b, col, gradient.cols), [&](ImplicitLocOpBuilder &b) {
        gradient.store(b, convertElement(b, result, gradient.elementType()), part.row, col);
      });
    }
    rest = rest.drop_front(part.cols.size());
  }
}

void AttentionGradItems::emitItem(ImplicitLocOpBuilder &b, AttentionGradSide side, ValueRange index,
                                  bool repairs) const {
  PlannedAttentionGradOp op = this->op;
  const bool isKeys = side == AttentionGradSide::Keys;
  const SegmentView &table = segments[isKeys ? 0 : 1];
  Value batch = index[0], segment = index[2];
  Value head =
      op.getLutHeads() == 1 ? index[1] : table.field(b, batch, segment, SegmentTable::Head);
  Value tile = table.field(b, batch, segment, SegmentTable::Tile);
  Value row = Int(b, tile) * op.getBlock()[isKeys ? 1 : 0] + index[3];
  Part part;
  part.side = side;
  part.row = row;
  part.batch = batch;
  // The head is that of keys, whose gradients are sums over the heads of queries that share it.
  part.head = isKeys && sharing != 1 ? Value(Int(b, head) * sharing) : head;
  part.first = table.field(b, batch, segment, SegmentTable::First);
  part.count = table.field(b, batch, segment, SegmentTable::Count);
  if (isKeys)
    part.gradients = {dk.matrix(b, batch, head), dv.matrix(b, batch, head)};
  else
    part.gradients = {dq.matrix(b, batch, head)};
  Value firstCol = Int(b, index[4]) * itemCols;
  for (int64_t i = 0; i < itemCols; ++i)
    part.cols.push_back(Int(b, firstCol) + i);
  emitIf(b, indexLess(b, row, part.gradients.front().rows), [&](ImplicitLocOpBuilder &b) {
    if (!repairs)
      return emitPart(b, part);
    Value isNaN = arith::ConstantIntOp::create(b, b.getI1Type(), 0);
    for (const MatrixView &gradient : part.gradients)
      for (Value col : part.cols) {
        Value own = emitChoice(
            b, indexLess(b, col, gradient.cols),
            [&](ImplicitLocOpBuilder &b) -> Value {
              Value element = gradient.load(b, row, col);
              return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, element, element);
            },
            [&](ImplicitLocOpBuilder &b) -> Value {
              return arith::ConstantIntOp::create(b, b.getI1Type(), 0);
            });
        isNaN = arith::OrIOp::create(b, isNaN, own);
      }
    emitIf(b, isNaN, [&](ImplicitLocOpBuilder &b) { emitPart(b, part); });
  });
}
