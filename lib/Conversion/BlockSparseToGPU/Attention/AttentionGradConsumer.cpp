// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The consumer warpgroups of the kernels of the gradient of attention: AttentionGradKernel.h has
// their order of events.

#include "../../Device/Loops.h"
#include "../../Device/Opaque.h"
#include "../../OperandView.h"
#include "../Kit/MmaFragments.h"
#include "../Kit/WgmmaGemm.h"
#include "../Operands/StagedTiles.h"
#include "AttentionGradKernel.h"
#include "AttentionGradTerms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;
using ::blocksparse::AttentionGradStepTable;

using Position = StageRing::Position;

namespace {

/// Holds the first row of a step, and 1 if it is masked (i32). Empty if no step is masked.
using StepWords = SmallVector<Value>;

/// Holds what the loop over steps carries: the position in the ring, the sums of the products with
/// X0 and with X1 (none on the side of queries), and the words of the step.
struct State {
  Position at;
  SmallVector<Value> sums[2];
  StepWords step;

  SmallVector<Value> toCarried() const {
    SmallVector<Value> values = at.toCarried();
    for (const SmallVector<Value> &own : sums)
      llvm::append_range(values, own);
    llvm::append_range(values, step);
    return values;
  }
  /// Reads the values that toCarried of a state of the same sizes returned.
  State fromCarried(ValueRange values) const {
    State state;
    auto take = [&](size_t count) {
      ValueRange taken = values.take_front(count);
      values = values.drop_front(count);
      return taken;
    };
    state.at = Position::fromCarried(take(Position::numCarried));
    for (int which = 0; which < 2; ++which)
      state.sums[which] = SmallVector<Value>(take(sums[which].size()));
    state.step = StepWords(take(step.size()));
    return state;
  }
};

/// Holds the products of a step that have been started: S and dP, and the stages that they read.
struct Started {
  Position first, second;
  SmallVector<Value> scores, slopes;
};

/// Holds what does not change in a tile.
struct Tile {
  AttentionGradWork work;
  /// The fragments of R0 and R1, if the kernel keeps them.
  SmallVector<Value> fragments[2];
  /// Shifts and sums of the rows of the thread, on the side of queries.
  Value vectors[2][rowsOfThread] = {};
  /// Holds what masks say of the rows of the thread, if the kernel keeps it.
  AttentionScores::Rows rows;
};

class AttentionGradConsumer {
public:
  AttentionGradConsumer(ImplicitLocOpBuilder &b, const AttentionGradFrame &frame, Value group);

  /// Emits the loop over all tiles of the CTA.
  void emit(ImplicitLocOpBuilder &b) const;

private:
  const AttentionGradShape &shape() const { return frame.shape; }
  /// Returns the number of results, and of accumulators of a thread for result `which`.
  int numResults() const { return shape().isKeys() ? 2 : 1; }
  int64_t numSums(int which) const { return shape().subtiles[which] * subtileCols / 2; }
  StepWords readStep(ImplicitLocOpBuilder &b, const AttentionGradWork &tile, Value step) const;
  /// Returns the fragments of a resident matrix.
  SmallVector<Value> readFragments(ImplicitLocOpBuilder &b, int which) const;
  /// Reads the shifts (`which` = 0) or sums of the rows of the thread.
  void readRowVector(ImplicitLocOpBuilder &b, Tile &tile, int which) const;
  /// Returns the shift or the sum of each of the 32 accumulators of a step whose vector is in stage
  /// `stage`.
  SmallVector<Value> readVector(ImplicitLocOpBuilder &b, const Tile &tile, int which,
                                Value stage) const;
  /// Starts the product of resident matrix `which` with the transpose of the one in `stage`.
  SmallVector<Value> startScores(ImplicitLocOpBuilder &b, const Tile &tile, int which,
                                 Value stage) const;
  /// Starts sums += weights * the matrix in `stage`.
  SmallVector<Value> startProducts(ImplicitLocOpBuilder &b, int which, ArrayRef<Value> weights,
                                   Value stage, ArrayRef<Value> sums) const;
  /// Returns true if a tile keeps what masks say of its rows: where registers are left.
  bool keepsRows() const { return shape().masked && shape().keepsFragments(); }
  /// Returns the masks of the rows of the thread, of 64 rows from `row` (i32) on.
  AttentionScores::Rows getRows(ImplicitLocOpBuilder &b, const AttentionGradWork &work,
                                Value row) const;
  /// Adds the bias, and sets forbidden scores to -infinity.
  SmallVector<Value> mask(ImplicitLocOpBuilder &b, ArrayRef<Value> scores, const Tile &tile,
                          const StepWords &step) const;
  /// Starts S and dP of the step at `at`.
  Started startStep(ImplicitLocOpBuilder &b, const Tile &tile, const Position &at) const;
  /// Emits the rest of step `step`, except that the products with X0 go on, and their stage is not
  /// released.
  State emitStep(ImplicitLocOpBuilder &b, const Tile &tile, Value step, const Started &started,
                 State state) const;
  /// Emits steps `step` and `step` + 1. The products with X0 of the first one run while S of the
  /// second is computed. None is in flight when the next pair begins: ptxas would serialise them.
  State emitPair(ImplicitLocOpBuilder &b, const Tile &tile, Value step, State state) const;
  /// Emits step `step` alone.
  State emitSingle(ImplicitLocOpBuilder &b, const Tile &tile, Value step, State state) const;
  /// Waits for all products and releases the stage of X0.
  void finishStep(ImplicitLocOpBuilder &b, const Started &started, State &state) const;
  /// Emits the steps of a tile that has some. Returns what a tile carries, then the sums.
  SmallVector<Value> emitSteps(ImplicitLocOpBuilder &b, const AttentionGradWork &work,
                               ValueRange carried) const;
  void storeResult(ImplicitLocOpBuilder &b, const AttentionGradWork &work, int which,
                   ArrayRef<Value> sums) const;
  SmallVector<Value> emitTile(ImplicitLocOpBuilder &b, Value number, ValueRange carried) const;
  const AttentionGradFrame &frame;
  Value group, isFirstLane;
  StageRing ring, residentRing;
  AttentionScores scoring;
  WgmmaGemm scoreGemm;
  SubtileStore store;
};

} // namespace

AttentionGradConsumer::AttentionGradConsumer(ImplicitLocOpBuilder &b,
                                             const AttentionGradFrame &frame, Value group)
    : frame(frame), group(group),
      isFirstLane(isEqual(b, Int(b, frame.thread) % 32, i32Constant(b, 0))),
      ring(frame.ring(b, group)), residentRing(frame.residentRing(b, group)),
      scoring(AttentionScoreForm::get(frame.op), frame.masks ? &*frame.masks : nullptr,
              frame.shape.cols, frame.shape.isKeys()),
      scoreGemm(AttentionGradShape::rows, frame.shape.element),
      // Named barrier 0 belongs to the complete CTA.
      store(b, frame.thread, Int(b, group) + 1, frame.storeAddress(b, group), /*buffers=*/1,
            frame.shape.element, /*transposed=*/false, /*defers=*/false) {}

StepWords AttentionGradConsumer::readStep(ImplicitLocOpBuilder &b, const AttentionGradWork &tile,
                                          Value step) const {
  if (!shape().masked)
    return {};
  return frame.readStep(b, tile, step);
}

SmallVector<Value> AttentionGradConsumer::readFragments(ImplicitLocOpBuilder &b, int which) const {
  constexpr int64_t stepsOfSubtile = subtileCols / WgmmaTile::stepDepth;
  SmallVector<Value> words;
  Value address = frame.residentAddress(b, group, which);
  for (int64_t step = 0; step < shape().depthSteps[which]; ++step) {
    Value subtile = Int(b, address) + step / stepsOfSubtile * AttentionGradShape::tileBytes;
    llvm::append_range(words, store.readFragment(b, subtile, step % stepsOfSubtile));
  }
  return words;
}

void AttentionGradConsumer::readRowVector(ImplicitLocOpBuilder &b, Tile &tile, int which) const {
  MatrixView rows = DenseView::get(b, frame.rows)
                        .matrix(b, toIndex(b, tile.work.batch), toIndex(b, tile.work.head));
  Value first = Int(b, tile.work.row) + ownRow(b, frame.thread);
  for (int64_t r = 0; r < rowsOfThread; ++r)
    tile.vectors[which][r] =
        rows.load(b, indexConstant(b, which), toIndex(b, Int(b, first) + r * 8));
}

SmallVector<Value> AttentionGradConsumer::readVector(ImplicitLocOpBuilder &b, const Tile &tile,
                                                     int which, Value stage) const {
  if (shape().isKeys())
    return readColumnNumbers(b, frame.thread, frame.vectorAddress(b, group, stage));
  SmallVector<Value> result(accumulatorsOfStep);
  for (int64_t i = 0; i < accumulatorsOfStep; ++i)
    result[i] = tile.vectors[which][rowOf(i)];
  return result;
}

SmallVector<Value> AttentionGradConsumer::startScores(ImplicitLocOpBuilder &b, const Tile &tile,
                                                      int which, Value stage) const {
  WgmmaGemm::Shared walked{{/*kMajor=*/true}, frame.stageAddress(b, group, stage)};
  if (shape().keepsFragments())
    return scoreGemm.multiply(b, tile.fragments[which], walked);
  WgmmaGemm::Shared resident{{/*kMajor=*/true}, frame.residentAddress(b, group, which)};
  return scoreGemm.multiply(b, resident, walked, shape().depthSteps[which]);
}

SmallVector<Value> AttentionGradConsumer::startProducts(ImplicitLocOpBuilder &b, int which,
                                                        ArrayRef<Value> weights, Value stage,
                                                        ArrayRef<Value> sums) const {
  WgmmaGemm gemm(shape().subtiles[which] * subtileCols, shape().element);
  return gemm.multiplyAdd(b, packPairs(b, shape().element, weights),
                          {{/*kMajor=*/false}, frame.stageAddress(b, group, stage)}, sums);
}

AttentionScores::Rows AttentionGradConsumer::getRows(ImplicitLocOpBuilder &b,
                                                     const AttentionGradWork &work,
                                                     Value row) const {
  return scoring.getRows(b, work.batch, Int(b, row) + ownRow(b, frame.thread));
}

SmallVector<Value> AttentionGradConsumer::mask(ImplicitLocOpBuilder &b, ArrayRef<Value> scores,
                                               const Tile &tile, const StepWords &step) const {
  if (step.empty())
    return SmallVector<Value>(scores);
  Value isMasked = isEqual(b, step[AttentionGradStepTable::Masked], i32Constant(b, 1));
  return emitChoices(
      b, isMasked,
      [&](ImplicitLocOpBuilder &b) {
        AttentionGradFrame::Place place =
            frame.placeOf(b, tile.work, step[AttentionGradStepTable::First]);
        AttentionScores::Rows rows = tile.rows;
        // The steps take all registers: nothing is computed before it is used.
        if (!keepsRows())
          rows = getRows(b, tile.work, makeOpaque(b, tile.work.row));
        rows.terms =
            scoring.getTerms(b, tile.work.batch, shape().isKeys() ? place.head : tile.work.head);
        return scoring.mask(b, frame.thread, scores, rows, {{place.row}});
      },
      [&](ImplicitLocOpBuilder &) { return SmallVector<Value>(scores); });
}

Started AttentionGradConsumer::startStep(ImplicitLocOpBuilder &b, const Tile &tile,
                                         const Position &at) const {
  Started started;
  started.first = at;
  started.second = ring.next(b, at);
  ring.waitFull(b, started.first);
  started.scores = startScores(b, tile, 0, started.first.stage);
  ring.waitFull(b, started.second);
  started.slopes = startScores(b, tile, 1, started.second.stage);
  return started;
}

State AttentionGradConsumer::emitStep(ImplicitLocOpBuilder &b, const Tile &tile, Value step,
                                      const Started &started, State state) const {
  StepWords ahead = readStep(b, tile.work, Int(b, step) + i32Constant(b, 1));
  Value first = started.first.stage, second = started.second.stage;
  SmallVector<Value> scores = WgmmaGemm::wait(b, 1, started.scores);
  scores = scoring.scale(b, scores);
  SmallVector<Value> derivatives = scoring.getDerivatives(b, scores);
  scores = mask(b, scores, tile, state.step);
  SmallVector<Value> powers =
      emitPowers(b, scores, readVector(b, tile, 0, first), scoring.form.unit());
  if (shape().isKeys())
    state.sums[1] = startProducts(b, 1, powers, second, state.sums[1]);
  SmallVector<Value> weights = emitWeights(b, powers, derivatives);

  SmallVector<Value> slopes = WgmmaGemm::wait(b, shape().isKeys() ? 1 : 0, started.slopes);
  SmallVector<Value> sums = readVector(b, tile, 1, second);
  if (!shape().isKeys())
    ring.releaseByWarp(b, second, isFirstLane);
  SmallVector<Value> gradients = emitScoreGradients(b, weights, slopes, sums);
  state.sums[0] = startProducts(b, 0, gradients, first, state.sums[0]);
  if (shape().isKeys()) {
    state.sums[1] = WgmmaGemm::wait(b, 1, state.sums[1]);
    ring.releaseByWarp(b, second, isFirstLane);
  }
  state.at = ring.next(b, started.second);
  state.step = ahead;
  return state;
}

void AttentionGradConsumer::finishStep(ImplicitLocOpBuilder &b, const Started &started,
                                       State &state) const {
  state.sums[0] = WgmmaGemm::wait(b, 0, state.sums[0]);
  ring.releaseByWarp(b, started.first.stage, isFirstLane);
}

State AttentionGradConsumer::emitSingle(ImplicitLocOpBuilder &b, const Tile &tile, Value step,
                                        State state) const {
  Started started = startStep(b, tile, state.at);
  state = emitStep(b, tile, step, started, state);
  finishStep(b, started, state);
  return state;
}

State AttentionGradConsumer::emitPair(ImplicitLocOpBuilder &b, const Tile &tile, Value step,
                                      State state) const {
  Started before = startStep(b, tile, state.at);
  state = emitStep(b, tile, step, before, state);
  Started started = startStep(b, tile, state.at);
  // All products older than the two of this step are complete when S is waited for.
  state.sums[0] = WgmmaGemm::wait(b, 2, state.sums[0]);
  ring.releaseByWarp(b, before.first.stage, isFirstLane);
  state = emitStep(b, tile, Int(b, step) + i32Constant(b, 1), started, state);
  finishStep(b, started, state);
  return state;
}

SmallVector<Value> AttentionGradConsumer::emitSteps(ImplicitLocOpBuilder &b,
                                                    const AttentionGradWork &work,
                                                    ValueRange carried) const {
  Value zero = i32Constant(b, 0), one = i32Constant(b, 1), parity = carried.back();
  Tile tile;
  tile.work = work;
  for (int which = 0; which < 2; ++which) {
    if (!shape().isKeys())
      readRowVector(b, tile, which);
    residentRing.waitFull(b, {i32Constant(b, which), parity});
    if (shape().keepsFragments())
      tile.fragments[which] = readFragments(b, which);
  }
  if (keepsRows())
    tile.rows = getRows(b, work, work.row);
  State state;
  state.at = Position::fromCarried(carried);
  state.step = readStep(b, work, zero);
  for (int which = 0; which < numResults(); ++which)
    state.sums[which].assign(numSums(which), number(b, 0));
  state = state.fromCarried(emitPairs(
      b, /*from=*/0, work.count, state.toCarried(),
      [&](ImplicitLocOpBuilder &b, Value step, ValueRange carried) {
        return emitPair(b, tile, step, state.fromCarried(carried)).toCarried();
      },
      [&](ImplicitLocOpBuilder &b, Value step, ValueRange carried) {
        return emitSingle(b, tile, step, state.fromCarried(carried)).toCarried();
      }));
  for (int which = 0; which < 2; ++which)
    residentRing.releaseByWarp(b, i32Constant(b, which), isFirstLane);
  SmallVector<Value> results = state.at.toCarried();
  results.push_back(arith::XOrIOp::create(b, parity, one));
  for (const SmallVector<Value> &sums : state.sums)
    llvm::append_range(results, sums);
  return results;
}

void AttentionGradConsumer::storeResult(ImplicitLocOpBuilder &b, const AttentionGradWork &work,
                                        int which, ArrayRef<Value> sums) const {
  SmallVector<Value> scaled(sums);
  // S is multiplied by the scale, so its gradient is, too.
  if (which == 0)
    for (Value &sum : scaled)
      sum = arith::MulFOp::create(b, sum, number(b, scoring.form.scale));
  const AttentionGradMatrices &result = frame.results[which];
  store.emit(b, scaled, /*finish=*/nullptr,
             [&](ImplicitLocOpBuilder &b, int64_t subtile, Value address) {
               TensorCoord coord = StagedTiles::coordIn(b, result.memref, work.row,
                                                        i32Constant(b, subtile * subtileCols),
                                                        work.batch, work.head);
               emitTensorStore(b, result.map, coord, address);
             });
}

SmallVector<Value> AttentionGradConsumer::emitTile(ImplicitLocOpBuilder &b, Value number,
                                                   ValueRange carried) const {
  AttentionGradWork work = frame.getTile(b, number);
  Value hasSteps =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, work.count, i32Constant(b, 0));
  SmallVector<Value> results = emitChoices(
      b, hasSteps, [&](ImplicitLocOpBuilder &b) { return emitSteps(b, work, carried); },
      [&](ImplicitLocOpBuilder &b) {
        SmallVector<Value> none(carried);
        for (int which = 0; which < numResults(); ++which)
          none.append(numSums(which), device::number(b, 0));
        return none;
      });
  ArrayRef<Value> sums = ArrayRef<Value>(results).drop_front(carried.size());
  for (int which = 0; which < numResults(); ++which) {
    storeResult(b, work, which, sums.take_front(numSums(which)));
    sums = sums.drop_front(numSums(which));
  }
  results.truncate(carried.size());
  return results;
}

void AttentionGradConsumer::emit(ImplicitLocOpBuilder &b) const {
  TileRange range = frame.range(b, group);
  SmallVector<Value> initial = ring.start(b, /*producer=*/false).toCarried();
  initial.push_back(i32Constant(b, 0));
  emitCarry(b, range.from, range.to, range.step, initial,
            [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
              return emitTile(b, number, carried);
            });
  store.emitWait(b);
}

void mlir::blocksparse::device::emitAttentionGradConsumer(ImplicitLocOpBuilder &b,
                                                          const AttentionGradFrame &frame,
                                                          Value group) {
  AttentionGradConsumer(b, frame, group).emit(b);
}
