// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The consumer warpgroups of the kernel of attention: AttentionKernel.h has their order of events.
// Accumulators of a thread belong to two rows, g and g + 8 (Kit/WgmmaTile.h). Sums are those of the
// columns of a lane until the end of a tile; largest scores are those of whole rows.

#include "../../AttentionRow.h"
#include "../../Device/DeviceMath.h"
#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../Kit/MmaFragments.h"
#include "../Kit/WgmmaGemm.h"
#include "../Operands/StagedTiles.h"
#include "AttentionAccumulators.h"
#include "AttentionKernel.h"
#include "AttentionScores.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <limits>
#include <numbers>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

using Position = StageRing::Position;

/// Scores are scaled anew when the power of the largest one has grown by more than 2^this.
static constexpr double rescaleExponent = 8;
/// Accumulators of a thread that a repair computes in one loop; a divisor of those of 64 columns.
static constexpr int64_t repairedTogether = 16;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Returns the larger of two numbers; if one is NaN, the other. NaN reaches the result of its row
/// through its power. (arith.maxnumf becomes a call of a library function.)
static Value larger(ImplicitLocOpBuilder &b, Value x, Value y) {
  return LLVM::MaxNumOp::create(b, x, y);
}

static Value sum(ImplicitLocOpBuilder &b, Value x, Value y) {
  return arith::AddFOp::create(b, x, y);
}

/// Reduces `x` over the four lanes of a quad, in a fixed order.
static Value reduceQuad(ImplicitLocOpBuilder &b, Value x,
                        function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> combine) {
  for (int32_t distance : {1, 2}) {
    Value other =
        NVVM::ShflOp::create(b, x.getType(), i32Constant(b, -1), x, i32Constant(b, distance),
                             i32Constant(b, 31), NVVM::ShflKind::bfly, UnitAttr());
    x = combine(b, x, other);
  }
  return x;
}

//===----------------------------------------------------------------------===//
// Consumer
//===----------------------------------------------------------------------===//

namespace {

/// Holds the first keys of the halves of a step, what the consumer takes, and 1 if it is separate
/// (i32). Empty if every step is taken whole.
using StepWords = SmallVector<Value>;

/// Holds the softmax of the rows of a thread so far: the largest score of each row, the sum of the
/// powers of the columns of this lane, and the rounded powers of the newest step as fragments of A.
struct Softmax {
  Value largest[rowsOfThread], sums[rowsOfThread];
  SmallVector<Value> powers;
};

/// Holds what the loop over steps carries.
struct State {
  Position at;
  Softmax softmax;
  SmallVector<Value> products;
  StepWords step, ahead;

  SmallVector<Value> toCarried() const;
  /// Reads the values that toCarried of a state of the same sizes returned.
  State fromCarried(ValueRange values) const;
};

class AttentionConsumer {
public:
  AttentionConsumer(ImplicitLocOpBuilder &b, const AttentionFrame &frame, Value group);

  /// Emits the loop over all tiles of the CTA.
  void emit(ImplicitLocOpBuilder &b) const;

private:
  const AttentionShape &shape() const { return frame.shape; }
  /// Returns true if consumers read the words of steps.
  bool readsSteps() const { return shape().form.halves || shape().form.elements || repairs(); }
  /// Returns true if a result may be NaN by what is forbidden.
  bool repairs() const {
    PlannedAttentionOp op = frame.op;
    return op.mayForbid();
  }
  StepWords readStep(ImplicitLocOpBuilder &b, const AttentionWork &tile, Value step) const;
  /// Returns the position of the stage of a step that starts at `at` which this consumer takes.
  Position ownStage(ImplicitLocOpBuilder &b, const Position &at, const StepWords &step) const;
  /// Returns the position behind a step that starts at `at`.
  Position behind(ImplicitLocOpBuilder &b, const Position &at, const StepWords &step) const;
  /// Waits for and releases the other consumer's stage of a separate step.
  void passOther(ImplicitLocOpBuilder &b, const Position &at, const StepWords &step) const;

  /// Releases a stage by one lane of each warp, when all lanes are done with it.
  void release(ImplicitLocOpBuilder &b, const StageRing &ring, Value stage) const;

  SmallVector<Value> startScores(ImplicitLocOpBuilder &b, Value stage) const;
  /// Returns the scores of a step, whose words are empty if it is taken whole and not masked.
  SmallVector<Value> makeScores(ImplicitLocOpBuilder &b, ArrayRef<Value> products,
                                const AttentionScores::Rows &rows, const StepWords &step) const;
  SmallVector<Value> startProducts(ImplicitLocOpBuilder &b, Value stage, const Softmax &softmax,
                                   ArrayRef<Value> products, const StepWords &step) const;
  /// Replaces `scores` by their powers and updates `softmax`. Returns i1: the largest scores have
  /// changed; `factors` are then what older results must be multiplied by.
  Value emitPowers(ImplicitLocOpBuilder &b, MutableArrayRef<Value> scores, Softmax &softmax,
                   Value factors[rowsOfThread]) const;
  SmallVector<Value> scale(ImplicitLocOpBuilder &b, ArrayRef<Value> products,
                           ArrayRef<Value> factors) const;

  State emitStep(ImplicitLocOpBuilder &b, const AttentionWork &tile,
                 const AttentionScores::Rows &rows, Value step, State state) const;
  /// Emits the steps of a tile that has some. Returns what a tile carries, then the products, the
  /// largest scores and the sums.
  SmallVector<Value> emitSteps(ImplicitLocOpBuilder &b, const AttentionWork &tile, Value row,
                               ValueRange carried) const;
  void emitResult(ImplicitLocOpBuilder &b, const AttentionWork &tile, Value row,
                  ValueRange results) const;
  /// Computes the rows of a warp again by scalar loops if an element of `results` is NaN: it may be
  /// so by a product of 0 with what a forbidden element stands for.
  SmallVector<Value> repair(ImplicitLocOpBuilder &b, const AttentionWork &tile, Value row,
                            Value exists, ArrayRef<Value> results) const;
  /// Computes the results of accumulators `indices` again, which belong to one row of the thread.
  SmallVector<Value> repairPart(ImplicitLocOpBuilder &b, const AttentionWork &tile, Value row,
                                ArrayRef<int64_t> indices) const;
  /// Returns the first of the rows of this thread, of 64 rows from `row` on.
  Value ownRow(ImplicitLocOpBuilder &b, Value row) const {
    return Int(b, row) + Int(b, frame.thread) / 32 * 16 + Int(b, frame.thread) % 32 / 4;
  }
  SmallVector<Value> emitTile(ImplicitLocOpBuilder &b, Value number, ValueRange carried) const;

  int64_t numProducts() const { return shape().valueCols() / 2; }

  const AttentionFrame &frame;
  Value group, isFirstLane;
  AttentionScores scoring;
  WgmmaGemm scoreGemm, productGemm;
  SubtileStore store;
};

} // namespace

SmallVector<Value> State::toCarried() const {
  SmallVector<Value> values = at.toCarried();
  llvm::append_range(values, softmax.largest);
  llvm::append_range(values, softmax.sums);
  llvm::append_range(values, softmax.powers);
  llvm::append_range(values, products);
  llvm::append_range(values, step);
  llvm::append_range(values, ahead);
  return values;
}

State State::fromCarried(ValueRange values) const {
  State state;
  auto take = [&](size_t count) {
    ValueRange taken = values.take_front(count);
    values = values.drop_front(count);
    return taken;
  };
  state.at = Position::fromCarried(take(Position::numCarried));
  llvm::copy(take(rowsOfThread), state.softmax.largest);
  llvm::copy(take(rowsOfThread), state.softmax.sums);
  state.softmax.powers = SmallVector<Value>(take(softmax.powers.size()));
  state.products = SmallVector<Value>(take(products.size()));
  state.step = StepWords(take(step.size()));
  state.ahead = StepWords(take(ahead.size()));
  return state;
}

static SubtileStore makeStore(ImplicitLocOpBuilder &b, const AttentionFrame &frame, Value group) {
  const AttentionShape &shape = frame.shape;
  Value buffers = Int(b, frame.base) + shape.resultOffset();
  buffers = Int(b, buffers) + Int(b, group) * (shape.valueTiles * SubtileStore::subtileBytes);
  // Named barrier 0 belongs to the complete CTA.
  return SubtileStore(b, frame.thread, Int(b, group) + 1, buffers, shape.valueTiles, shape.element,
                      /*transposed=*/false, /*defers=*/false);
}

AttentionConsumer::AttentionConsumer(ImplicitLocOpBuilder &b, const AttentionFrame &frame,
                                     Value group)
    : frame(frame), group(group),
      isFirstLane(isEqual(b, Int(b, frame.thread) % 32, i32Constant(b, 0))),
      scoring(AttentionScoreForm::get(frame.op), frame.views ? &*frame.views : nullptr,
              frame.shape.cols),
      scoreGemm(AttentionShape::keys, frame.shape.element),
      productGemm(frame.shape.valueCols(), frame.shape.element), store(makeStore(b, frame, group)) {
}

StepWords AttentionConsumer::readStep(ImplicitLocOpBuilder &b, const AttentionWork &tile,
                                      Value step) const {
  if (!readsSteps())
    return {};
  SmallVector<Value> words = frame.readStep(b, tile, step);
  Value isFirst = isEqual(b, group, i32Constant(b, 0));
  constexpr auto key = AttentionStepTable::Key, halves = AttentionStepTable::Halves;
  Value taken = words[halves + 1];
  if (shape().groups() > 2)
    taken =
        arith::SelectOp::create(b, isEqual(b, group, i32Constant(b, 2)), words[halves + 2], taken);
  return {arith::SelectOp::create(b, isFirst, words[key], words[key + 2]),
          arith::SelectOp::create(b, isFirst, words[key + 1], words[key + 3]),
          arith::SelectOp::create(b, isFirst, words[halves], taken),
          words[AttentionStepTable::Separate]};
}

/// Returns `first` if `condition` is true, else `second`.
static Position select(ImplicitLocOpBuilder &b, Value condition, const Position &first,
                       const Position &second) {
  return {arith::SelectOp::create(b, condition, first.stage, second.stage),
          arith::SelectOp::create(b, condition, first.parity, second.parity)};
}

Position AttentionConsumer::ownStage(ImplicitLocOpBuilder &b, const Position &at,
                                     const StepWords &step) const {
  if (!shape().form.separate)
    return at;
  Value isSecond =
      both(b, isEqual(b, step[3], i32Constant(b, 1)), isEqual(b, group, i32Constant(b, 1)));
  return select(b, isSecond, frame.ring.next(b, at), at);
}

Position AttentionConsumer::behind(ImplicitLocOpBuilder &b, const Position &at,
                                   const StepWords &step) const {
  Position next = frame.ring.next(b, at);
  if (!shape().form.separate)
    return next;
  return select(b, isEqual(b, step[3], i32Constant(b, 1)), frame.ring.next(b, next), next);
}

void AttentionConsumer::passOther(ImplicitLocOpBuilder &b, const Position &at,
                                  const StepWords &step) const {
  if (!shape().form.separate)
    return;
  emitIf(b, isEqual(b, step[3], i32Constant(b, 1)), [&](ImplicitLocOpBuilder &b) {
    Value isFirst = isEqual(b, group, i32Constant(b, 0));
    Position other = select(b, isFirst, frame.ring.next(b, at), at);
    frame.ring.waitFull(b, other);
    release(b, frame.ring, other.stage);
  });
}

void AttentionConsumer::release(ImplicitLocOpBuilder &b, const StageRing &ring, Value stage) const {
  ring.releaseByWarp(b, stage, isFirstLane);
}

SmallVector<Value> AttentionConsumer::startScores(ImplicitLocOpBuilder &b, Value stage) const {
  WgmmaGemm::Shared queries{
      {/*kMajor=*/true}, frame.queryAddress(b, group), AttentionShape::queryTileBytes};
  WgmmaGemm::Shared keys{
      {/*kMajor=*/true}, frame.stageAddress(b, stage), AttentionShape::keyTileBytes};
  return scoreGemm.multiply(b, queries, keys, shape().depthSteps);
}

SmallVector<Value> AttentionConsumer::makeScores(ImplicitLocOpBuilder &b, ArrayRef<Value> products,
                                                 const AttentionScores::Rows &rows,
                                                 const StepWords &step) const {
  SmallVector<Value> scores = scoring.scale(b, products);
  if (step.empty())
    return scores;
  auto mask = [&](ImplicitLocOpBuilder &b) {
    AttentionScores::Columns halves[2];
    for (int64_t half = 0; half < 2; ++half) {
      Value bit = arith::AndIOp::create(b, step[2], i32Constant(b, int64_t{1} << half));
      halves[half] = {step[half],
                      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit, i32Constant(b, 0))};
    }
    return scoring.mask(b, frame.thread, scores, rows, halves);
  };
  Value isPart = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, step[2],
                                       i32Constant(b, AttentionStep::Both));
  return emitChoices(b, isPart, mask, [&](ImplicitLocOpBuilder &) { return scores; });
}

SmallVector<Value> AttentionConsumer::startProducts(ImplicitLocOpBuilder &b, Value stage,
                                                    const Softmax &softmax,
                                                    ArrayRef<Value> products,
                                                    const StepWords &step) const {
  WgmmaFactor layout{/*kMajor=*/false};
  layout.leadingBytes = AttentionShape::keyTileBytes;
  // A half that is not taken is not multiplied: its values may be NaN.
  return productGemm.multiplyAdd(b, softmax.powers, {layout, frame.stageAddress(b, stage)},
                                 products, step.empty() ? Value() : step[2], step.empty() ? 1 : 2);
}

Value AttentionConsumer::emitPowers(ImplicitLocOpBuilder &b, MutableArrayRef<Value> scores,
                                    Softmax &softmax, Value factors[rowsOfThread]) const {
  Value lowest = number(b, -std::numeric_limits<double>::infinity()), zero = number(b, 0);
  // Powers of 2 are powers of e of scores that are multiplied by log2(e).
  Value unit = number(b, scoring.form.unit() * std::numbers::log2e);
  Value slack = number(b, rescaleExponent / (scoring.form.unit() * std::numbers::log2e));
  Value grown, largest[rowsOfThread];
  for (int64_t r = 0; r < rowsOfThread; ++r) {
    Value most;
    for (auto [i, score] : llvm::enumerate(scores))
      if (rowOf(i) == r)
        most = most ? larger(b, most, score) : Value(score);
    most = reduceQuad(b, most, larger);
    Value limit = sum(b, softmax.largest[r], slack);
    Value grows = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, most, limit);
    grown = grown ? arith::OrIOp::create(b, grown, grows).getResult() : grows;
    largest[r] = larger(b, softmax.largest[r], most);
  }
  Value changes = NVVM::VoteSyncOp::create(b, b.getI1Type(), i32Constant(b, -1), grown,
                                           NVVM::VoteSyncKind::any);
  for (int64_t r = 0; r < rowsOfThread; ++r) {
    Value before = softmax.largest[r];
    Value now = arith::SelectOp::create(b, changes, largest[r], before);
    // A row without a score so far has powers relative to 0.
    Value isEmpty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, now, lowest);
    Value shift = arith::NegFOp::create(
        b, arith::MulFOp::create(b, arith::SelectOp::create(b, isEmpty, zero, now), unit));
    factors[r] = power(b, fusedMultiplyAdd(b, before, unit, shift));
    Value total;
    for (auto [i, score] : llvm::enumerate(scores))
      if (rowOf(i) == r) {
        score = power(b, fusedMultiplyAdd(b, score, unit, shift));
        total = total ? sum(b, total, score) : Value(score);
      }
    Value older = arith::SelectOp::create(
        b, changes, arith::MulFOp::create(b, softmax.sums[r], factors[r]), softmax.sums[r]);
    softmax.sums[r] = sum(b, older, total);
    softmax.largest[r] = now;
  }
  return changes;
}

SmallVector<Value> AttentionConsumer::scale(ImplicitLocOpBuilder &b, ArrayRef<Value> products,
                                            ArrayRef<Value> factors) const {
  SmallVector<Value> result;
  for (auto [i, product] : llvm::enumerate(products))
    result.push_back(arith::MulFOp::create(b, product, factors[rowOf(i)]));
  return result;
}

State AttentionConsumer::emitStep(ImplicitLocOpBuilder &b, const AttentionWork &tile,
                                  const AttentionScores::Rows &rows, Value step,
                                  State state) const {
  StepWords current = state.ahead;
  StepWords ahead = readStep(b, tile, Int(b, step) + i32Constant(b, 1));
  Position first = state.at, second = behind(b, first, current);
  Position keys = ownStage(b, first, current), values = ownStage(b, second, state.step);
  frame.ring.waitFull(b, keys);
  SmallVector<Value> scores = startScores(b, keys.stage);
  frame.ring.waitFull(b, values);
  SmallVector<Value> products =
      startProducts(b, values.stage, state.softmax, state.products, state.step);
  passOther(b, first, current);
  passOther(b, second, state.step);
  scores = WgmmaGemm::wait(b, 1, scores);
  release(b, frame.ring, keys.stage);
  scores = makeScores(b, scores, rows, current);
  Value factors[rowsOfThread];
  Value changes = emitPowers(b, scores, state.softmax, factors);
  products = WgmmaGemm::wait(b, 0, products);
  release(b, frame.ring, values.stage);
  state.products = emitChoices(
      b, changes, [&](ImplicitLocOpBuilder &b) { return scale(b, products, factors); },
      [&](ImplicitLocOpBuilder &) { return products; });
  // The words of the powers before are free only now: the products have read them.
  state.softmax.powers = packPairs(b, shape().element, scores);
  state.at = behind(b, second, state.step);
  state.step = current;
  state.ahead = ahead;
  return state;
}

SmallVector<Value> AttentionConsumer::emitSteps(ImplicitLocOpBuilder &b, const AttentionWork &tile,
                                                Value row, ValueRange carried) const {
  Value zero = i32Constant(b, 0), one = i32Constant(b, 1), parity = carried.back();
  StageRing queries = frame.queryRing(b, group);
  State state;
  state.at = Position::fromCarried(carried);
  state.step = readStep(b, tile, zero);
  state.ahead = readStep(b, tile, one);
  for (int64_t r = 0; r < rowsOfThread; ++r) {
    state.softmax.largest[r] = number(b, -std::numeric_limits<double>::infinity());
    state.softmax.sums[r] = number(b, 0);
  }
  state.products.assign(numProducts(), number(b, 0));
  AttentionScores::Rows rows = scoring.getRows(b, tile.batch, row);
  rows.terms = scoring.getTerms(b, tile.batch, tile.head);

  queries.waitFull(b, {zero, parity});
  Position keys = ownStage(b, state.at, state.step);
  frame.ring.waitFull(b, keys);
  SmallVector<Value> scores = startScores(b, keys.stage);
  passOther(b, state.at, state.step);
  scores = WgmmaGemm::wait(b, 0, scores);
  release(b, frame.ring, keys.stage);
  scores = makeScores(b, scores, rows, state.step);
  Value factors[rowsOfThread];
  emitPowers(b, scores, state.softmax, factors);
  state.softmax.powers = packPairs(b, shape().element, scores);
  state.at = behind(b, state.at, state.step);

  SmallVector<Value> end =
      emitCarry(b, one, tile.count, one, state.toCarried(),
                [&](ImplicitLocOpBuilder &b, Value step, ValueRange carried) {
                  return emitStep(b, tile, rows, step, state.fromCarried(carried)).toCarried();
                });
  state = state.fromCarried(end);
  release(b, queries, zero);
  Position values = ownStage(b, state.at, state.step);
  frame.ring.waitFull(b, values);
  SmallVector<Value> products =
      startProducts(b, values.stage, state.softmax, state.products, state.step);
  passOther(b, state.at, state.step);
  products = WgmmaGemm::wait(b, 0, products);
  release(b, frame.ring, values.stage);
  SmallVector<Value> results = behind(b, state.at, state.step).toCarried();
  results.push_back(arith::XOrIOp::create(b, parity, one));
  llvm::append_range(results, products);
  llvm::append_range(results, state.softmax.largest);
  llvm::append_range(results, state.softmax.sums);
  return results;
}

SmallVector<Value> AttentionConsumer::repairPart(ImplicitLocOpBuilder &b, const AttentionWork &tile,
                                                 Value row, ArrayRef<int64_t> indices) const {
  Value query = Int(b, row) + rowOf(indices.front()) * 8;
  AttentionRow parts = AttentionRow::get(b, frame.op, *frame.views, toIndex(b, tile.batch),
                                         toIndex(b, tile.head), toIndex(b, query));
  for (int64_t i : indices)
    parts.cols.push_back(toIndex(b, Int(b, frame.thread) % 4 * 2 + colOf(i)));
  Value count = toIndex(b, Int(b, tile.count) * AttentionShape::keys);
  AttentionSums sums =
      emitAttentionKeys(b, parts, count, [&](ImplicitLocOpBuilder &b, Value position) -> Value {
        Value place = arith::IndexCastOp::create(b, b.getI32Type(), position);
        StepWords step = readStep(b, tile, Int(b, place) / AttentionShape::keys);
        Value half = Int(b, place) / AttentionShape::halfKeys % 2;
        Value isFirst = isEqual(b, half, i32Constant(b, 0));
        Value first = arith::SelectOp::create(b, isFirst, step[0], step[1]);
        Value key = Int(b, first) + Int(b, place) % AttentionShape::halfKeys;
        Value bit = Int(b, arith::ShRUIOp::create(b, step[2], half)) % 2;
        Value taken = isEqual(b, bit, i32Constant(b, 1));
        return toIndex(b, arith::SelectOp::create(b, taken, key, i32Constant(b, -1)));
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
    for (int64_t r = 0; r < rowsOfThread; ++r)
      matrix.store(b, logarithms[r], toIndex(b, Int(b, first) + r * 8), indexConstant(b, 0));
  });
}

SmallVector<Value> AttentionConsumer::emitTile(ImplicitLocOpBuilder &b, Value number,
                                               ValueRange carried) const {
  AttentionWork tile = frame.getTile(b, number);
  Value row = tile.rows[0];
  for (int64_t other = 1; other < shape().groups(); ++other)
    row =
        arith::SelectOp::create(b, isEqual(b, group, i32Constant(b, other)), tile.rows[other], row);
  Value own = ownRow(b, row);
  Value hasSteps =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, tile.count, i32Constant(b, 0));
  SmallVector<Value> results = emitChoices(
      b, hasSteps, [&](ImplicitLocOpBuilder &b) { return emitSteps(b, tile, own, carried); },
      [&](ImplicitLocOpBuilder &b) {
        SmallVector<Value> none(carried);
        none.append(numProducts() + 2 * rowsOfThread, floatConstant(b, b.getF32Type(), 0));
        return none;
      });
  emitResult(b, tile, row, ValueRange(results).drop_front(carried.size()));
  results.truncate(carried.size());
  return results;
}

void AttentionConsumer::emit(ImplicitLocOpBuilder &b) const {
  TileRange range = frame.range(b);
  SmallVector<Value> initial = frame.ring.start(b, /*producer=*/false).toCarried();
  initial.push_back(i32Constant(b, 0));
  emitCarry(b, range.from, range.to, range.step, initial,
            [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
              return emitTile(b, number, carried);
            });
  store.emitWait(b);
}

void mlir::blocksparse::device::emitAttentionConsumer(ImplicitLocOpBuilder &b,
                                                      const AttentionFrame &frame, Value group) {
  AttentionConsumer(b, frame, group).emit(b);
}
