// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionScores.h"

#include "../../Device/DeviceMath.h"
#include "../../Device/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

AttentionScores::Rows AttentionScores::getRows(ImplicitLocOpBuilder &b, Value batch,
                                               Value row) const {
  Rows result;
  if (!masks)
    return result;
  Value zero = indexConstant(b, 0), end = indexConstant(b, cols);
  result.batch = toIndex(b, batch);
  for (int64_t r = 0; r < rowsOfThread; ++r) {
    // A consumer without rows reads the masks of row 0.
    Value own = indexMax(b, toIndex(b, Int(b, row) + r * 8), zero);
    result.rows[r] = own;
    PositionMasks::Columns columns = masks->positions.getColumns(b, result.batch, own);
    auto narrow = [&](Value bound) {
      Value inside = indexMin(b, indexMax(b, bound, zero), end);
      return arith::IndexCastOp::create(b, b.getI32Type(), inside);
    };
    if (columns.first)
      result.firsts[r] = narrow(columns.first);
    if (columns.end)
      result.lasts[r] = Int(b, narrow(columns.end)) - i32Constant(b, 1);
    result.segments[r] = masks->positions.getSegment(b, result.batch, own);
  }
  return result;
}

SmallVector<AttentionTerm> AttentionScores::getTerms(ImplicitLocOpBuilder &b, Value batch,
                                                     Value head) const {
  if (!masks)
    return {};
  return masks->getTerms(b, toIndex(b, batch), toIndex(b, head));
}

SmallVector<Value> AttentionScores::scale(ImplicitLocOpBuilder &b, ArrayRef<Value> products) const {
  SmallVector<Value> scores(products);
  if (!form.softCap && !form.adds)
    return scores;
  for (Value &score : scores) {
    auto multiply = [&](double factor) {
      score = arith::MulFOp::create(b, score, floatConstant(b, score.getType(), factor));
    };
    if (!form.softCap) {
      multiply(form.scale);
      continue;
    }
    // tanh x = 2 / (1 + e^-2x) - 1.
    const double cap = *form.softCap;
    multiply(2 * form.scale / cap);
    Value sigmoid = deviceSigmoid(b, score, Accuracy::Rounded);
    score = fusedMultiplyAdd(b, sigmoid, floatConstant(b, score.getType(), 2 * cap),
                             floatConstant(b, score.getType(), -cap));
  }
  return scores;
}

SmallVector<Value> AttentionScores::getDerivatives(ImplicitLocOpBuilder &b,
                                                   ArrayRef<Value> scores) const {
  SmallVector<Value> derivatives;
  if (!form.softCap)
    return derivatives;
  // The derivative of cap * tanh(x / cap) is 1 - tanh^2.
  const double cap = *form.softCap;
  for (Value score : scores) {
    Value scaled = arith::MulFOp::create(b, score, number(b, -1 / (cap * cap)));
    derivatives.push_back(fusedMultiplyAdd(b, scaled, score, number(b, 1)));
  }
  return derivatives;
}

SmallVector<Value> AttentionScores::mask(ImplicitLocOpBuilder &b, Value thread,
                                         ArrayRef<Value> scores, const Rows &rows,
                                         ArrayRef<Columns> columns) const {
  // A thread has two columns of eight in each of two rows.
  const int64_t partCols = static_cast<int64_t>(2 * scores.size() / columns.size());
  Value lowest = floatConstant(b, b.getF32Type(), -std::numeric_limits<double>::infinity());
  Value quad = Int(b, thread) % 4 * 2, none = i32Constant(b, -1), zero = i32Constant(b, 0);
  // The first and the last column of each part that each row of the thread takes, and column 0 of
  // the part, all without the column of the quad.
  struct Bounds {
    Value first[rowsOfThread], last[rowsOfThread], begin;
  };
  SmallVector<Bounds> parts(columns.size());
  for (auto [part, own] : llvm::enumerate(columns)) {
    // A part without columns looks at the masks of some.
    parts[part].begin = Int(b, arith::MaxSIOp::create(b, own.first, zero)) + quad;
    for (int64_t r = 0; r < rowsOfThread; ++r) {
      Value end =
          rows.lasts[r] ? Int(b, rows.lasts[r]) - parts[part].begin : i32Constant(b, partCols);
      parts[part].last[r] = own.taken ? arith::SelectOp::create(b, own.taken, end, none) : end;
      if (rows.firsts[r])
        parts[part].first[r] = Int(b, rows.firsts[r]) - parts[part].begin;
    }
  }
  SmallVector<Value> result;
  for (auto [i, product] : llvm::enumerate(scores)) {
    const int64_t index = static_cast<int64_t>(i), r = rowOf(index);
    const int64_t part = colOf(index) / partCols;
    Value place = i32Constant(b, colOf(index) % partCols), score = product;
    Value allowed = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, parts[part].last[r], place);
    if (Value from = parts[part].first[r])
      allowed = both(b, allowed, arith::CmpIOp::create(b, arith::CmpIPredicate::sle, from, place));
    if (rows.segments[r] || !rows.terms.empty()) {
      Value row = rows.rows[r], col = toIndex(b, Int(b, parts[part].begin) + place);
      if (Value segment = rows.segments[r]) {
        MatrixView segments = masks->positions.getKeySegments()->matrix(b, rows.batch, Value());
        allowed = both(b, allowed, isEqual(b, segment, segments.load(b, indexConstant(b, 0), col)));
      }
      if (keysAreRows)
        std::swap(row, col);
      score = addTerms(b, rows.terms, score, row, col);
      if (Value kept = isAllowedByTerms(b, rows.terms, score.getType(), row, col))
        allowed = both(b, allowed, kept);
    }
    result.push_back(arith::SelectOp::create(b, allowed, score, lowest));
  }
  return result;
}
