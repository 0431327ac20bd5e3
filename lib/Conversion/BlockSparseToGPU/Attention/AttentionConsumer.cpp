// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionConsumer.h"

#include "../../Device/DeviceMath.h"
#include "../Kit/MmaFragments.h"
#include "../Operands/StagedTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <numbers>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

using Position = StageRing::Position;
using Softmax = AttentionSoftmax;
using State = AttentionState;

/// Scores are scaled anew when the power of the largest one has grown by more than 2^this.
static constexpr double rescaleExponent = 8;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value mlir::blocksparse::device::larger(ImplicitLocOpBuilder &b, Value x, Value y) {
  return LLVM::MaxNumOp::create(b, x, y);
}

Value mlir::blocksparse::device::sum(ImplicitLocOpBuilder &b, Value x, Value y) {
  return arith::AddFOp::create(b, x, y);
}

Value mlir::blocksparse::device::reduceQuad(
    ImplicitLocOpBuilder &b, Value x,
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
                                      Value step, Value group) const {
  if (!readsSteps())
    return {};
  SmallVector<Value> words = frame.readStep(b, tile, step);
  Value isFirst = isEqual(b, group, i32Constant(b, 0));
  constexpr auto key = AttentionStepTable::Key, halves = AttentionStepTable::Halves;
  Value taken = words[halves + 1];
  if (shape().groups() > 2)
    taken =
        arith::SelectOp::create(b, isEqual(b, group, i32Constant(b, 2)), words[halves + 2], taken);
  taken = arith::SelectOp::create(b, isFirst, words[halves], taken);
  Value separate = words[AttentionStepTable::Separate];
  if (!shape().form.joined)
    return {arith::SelectOp::create(b, isFirst, words[key], words[key + 2]),
            arith::SelectOp::create(b, isFirst, words[key + 1], words[key + 3]), taken, separate};
  Value row = frame.rowOfStep(b, tile, step);
  Value first = Int(b, row) * frame.slices->width() + AttentionSliceTable::Taken;
  Value slices = frame.slices->readAt(b, Int(b, first) + group);
  Value warp = Int(b, frame.thread) / 32;
  slices = arith::ShRUIOp::create(b, slices, Int(b, warp) * AttentionSlices::count);
  Value own = Int(b, slices) % cutSlices;
  Value isCut = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, taken,
                                      i32Constant(b, int64_t{AttentionStep::Elements}));
  Value cut = arith::SelectOp::create(b, isCut, i32Constant(b, cutSlices), i32Constant(b, 0));
  return {row, arith::OrIOp::create(b, own, cut), taken, separate};
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

SmallVector<AttentionScores::Columns> AttentionConsumer::getColumns(ImplicitLocOpBuilder &b,
                                                                    const StepWords &step) const {
  const bool joined = shape().form.joined;
  const int64_t count = joined ? AttentionSlices::count : 2;
  Value bits = joined ? step[1] : step[2], zero = i32Constant(b, 0);
  SmallVector<AttentionScores::Columns> columns;
  for (int64_t part = 0; part < count; ++part) {
    Value bit = arith::AndIOp::create(b, bits, i32Constant(b, int64_t{1} << part));
    columns.push_back(
        {joined ? frame.readSlice(b, step[0], group, i32Constant(b, part)) : step[part],
         arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit, zero)});
  }
  return columns;
}

SmallVector<Value> AttentionConsumer::makeScores(ImplicitLocOpBuilder &b, ArrayRef<Value> products,
                                                 const AttentionScores::Rows &rows,
                                                 const StepWords &step) const {
  SmallVector<Value> scores = scoring.scale(b, products);
  if (step.empty())
    return scores;
  const bool joined = shape().form.joined;
  const int64_t whole = joined ? cutSlices - 1 : int64_t{AttentionStep::Both};
  Value isPart = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, joined ? step[1] : step[2],
                                       i32Constant(b, whole));
  return emitChoices(
      b, isPart,
      [&](ImplicitLocOpBuilder &b) {
        return scoring.mask(b, frame.thread, scores, rows, getColumns(b, step));
      },
      [&](ImplicitLocOpBuilder &) { return scores; });
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
  // The last tile of joined steps may have fewer than 64 rows, but those of a warp all exist or
  // none.
  if (shape().form.joined)
    row = arith::MinSIOp::create(b, row, i32Constant(b, shape().queries - 9));
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
  emitResult(b, tile, row, combine(b, tile, ArrayRef(results).drop_front(carried.size())));
  results.truncate(carried.size());
  return results;
}

void AttentionConsumer::emit(ImplicitLocOpBuilder &b) const {
  const TileRange &range = frame.range;
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
