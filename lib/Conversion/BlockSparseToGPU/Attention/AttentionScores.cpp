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

bool AttentionScores::isScaled() const {
  PlannedAttentionOp op = frame.op;
  return op.getSoftCap() || op.getRpe() ||
         (op.getKeyPaddingMask() && op.getKeyPaddingMaskMode() == MaskMode::Add) ||
         (op.getAttentionMask() && op.getAttentionMaskMode() == MaskMode::Add);
}

AttentionScores::Rows AttentionScores::getRows(ImplicitLocOpBuilder &b, const AttentionWork &tile,
                                               Value row) const {
  Rows result;
  if (!frame.views)
    return result;
  const AttentionViews &views = *frame.views;
  Value zero = indexConstant(b, 0), keys = views.k.rows();
  result.batch = toIndex(b, tile.batch);
  result.terms = views.getTerms(b, result.batch, toIndex(b, tile.head));
  for (int64_t r = 0; r < rowsOfThread; ++r) {
    // A consumer without rows reads the masks of row 0.
    Value own = indexMax(b, toIndex(b, Int(b, row) + r * 8), zero);
    result.rows[r] = own;
    PositionMasks::Columns columns = views.positions.getColumns(b, result.batch, own);
    auto narrow = [&](Value bound) {
      Value inside = indexMin(b, indexMax(b, bound, zero), keys);
      return arith::IndexCastOp::create(b, b.getI32Type(), inside);
    };
    if (columns.first)
      result.firsts[r] = narrow(columns.first);
    if (columns.end)
      result.lasts[r] = Int(b, narrow(columns.end)) - i32Constant(b, 1);
    result.segments[r] = views.positions.getSegment(b, result.batch, own);
  }
  return result;
}

SmallVector<Value> AttentionScores::mask(ImplicitLocOpBuilder &b, ArrayRef<Value> scores,
                                         const Rows &rows, const StepWords &step) const {
  constexpr int64_t halfKeys = AttentionShape::halfKeys;
  Value lowest = floatConstant(b, b.getF32Type(), -std::numeric_limits<double>::infinity());
  Value quad = Int(b, frame.thread) % 4 * 2, none = i32Constant(b, -1), zero = i32Constant(b, 0);
  // The first and the last column of each half that each row of the thread takes, and the key of
  // column 0, all without the column of the quad.
  Value first[2][rowsOfThread], last[2][rowsOfThread], keys[2];
  for (int64_t half = 0; half < 2; ++half) {
    Value bit = arith::AndIOp::create(b, step[2], i32Constant(b, int64_t{1} << half));
    Value taken = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit, zero);
    // A half without keys looks at the masks of some.
    keys[half] = Int(b, arith::MaxSIOp::create(b, step[half], zero)) + quad;
    for (int64_t r = 0; r < rowsOfThread; ++r) {
      Value end = rows.lasts[r] ? Int(b, rows.lasts[r]) - keys[half] : i32Constant(b, halfKeys);
      last[half][r] = arith::SelectOp::create(b, taken, end, none);
      if (rows.firsts[r])
        first[half][r] = Int(b, rows.firsts[r]) - keys[half];
    }
  }
  SmallVector<Value> result;
  for (auto [i, product] : llvm::enumerate(scores)) {
    const int64_t index = static_cast<int64_t>(i), col = colOf(index), r = rowOf(index);
    const int64_t half = col / halfKeys;
    Value place = i32Constant(b, col % halfKeys), score = product;
    Value allowed = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, last[half][r], place);
    if (Value from = first[half][r])
      allowed = both(b, allowed, arith::CmpIOp::create(b, arith::CmpIPredicate::sle, from, place));
    if (rows.segments[r] || !rows.terms.empty()) {
      Value key = toIndex(b, Int(b, keys[half]) + place);
      if (Value segment = rows.segments[r]) {
        MatrixView segments =
            frame.views->positions.getKeySegments()->matrix(b, rows.batch, Value());
        allowed = both(b, allowed, isEqual(b, segment, segments.load(b, indexConstant(b, 0), key)));
      }
      score = addTerms(b, rows.terms, score, rows.rows[r], key);
      if (Value kept = isAllowedByTerms(b, rows.terms, score.getType(), rows.rows[r], key))
        allowed = both(b, allowed, kept);
    }
    result.push_back(arith::SelectOp::create(b, allowed, score, lowest));
  }
  return result;
}

SmallVector<Value> AttentionScores::emit(ImplicitLocOpBuilder &b, ArrayRef<Value> products,
                                         const Rows &rows, const StepWords &step) const {
  PlannedAttentionOp op = frame.op;
  SmallVector<Value> scores(products);
  if (isScaled())
    for (Value &score : scores) {
      auto scale = [&](double factor) {
        score = arith::MulFOp::create(b, score, floatConstant(b, score.getType(), factor));
      };
      if (!op.getSoftCap()) {
        scale(frame.shape.scale);
        continue;
      }
      // tanh x = 2 / (1 + e^-2x) - 1.
      const double cap = op.getSoftCap()->convertToDouble();
      scale(2 * frame.shape.scale / cap);
      Value sigmoid = deviceSigmoid(b, score, Accuracy::Rounded);
      score = fusedMultiplyAdd(b, sigmoid, floatConstant(b, score.getType(), 2 * cap),
                               floatConstant(b, score.getType(), -cap));
    }
  if (step.empty())
    return scores;
  Value isPart = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, step[2],
                                       i32Constant(b, AttentionStep::Both));
  return emitChoices(
      b, isPart, [&](ImplicitLocOpBuilder &b) { return mask(b, scores, rows, step); },
      [&](ImplicitLocOpBuilder &) { return scores; });
}
