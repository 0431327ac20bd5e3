// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The consumer warpgroups of the kernel of an ordered gradient of attention: AttentionOrderKernel.h
// has their order of events.

#include "../../Device/Loops.h"
#include "../../Device/Opaque.h"
#include "../Kit/MmaFragments.h"
#include "../Kit/WgmmaGemm.h"
#include "../Operands/StagedTiles.h"
#include "AttentionGradTerms.h"
#include "AttentionOrderKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;
using ::blocksparse::AttentionOrderStepTable;

using Position = StageRing::Position;
using Shape = AttentionOrderShape;

namespace {

/// Accumulators of a thread of dK or dV, and of its part of dQ.
constexpr int64_t numSums = Shape::cols / 2, numPartial = Shape::cols / Shape::groups / 2;

/// Holds what the loop over steps carries: the number of the next step of the CTA (i32), what
/// readMask says of it, and dK and dV.
struct State {
  Value number, mask;
  SmallVector<Value> sums[2];

  SmallVector<Value> toCarried() const {
    SmallVector<Value> values{number};
    if (mask)
      values.push_back(mask);
    for (const SmallVector<Value> &own : sums)
      llvm::append_range(values, own);
    return values;
  }
  /// Reads the values that toCarried of a state of the same form returned.
  State fromCarried(ValueRange values) const {
    State state;
    state.number = values.front();
    if (mask)
      state.mask = values[1];
    values = values.drop_front(mask ? 2 : 1);
    for (int which = 0; which < 2; ++which)
      state.sums[which] = SmallVector<Value>(values.slice(which * numSums, numSums));
    return state;
  }
};

/// Holds the products of a step that have been started: S and dP, and its position in the ring.
struct Started {
  Position at;
  SmallVector<Value> scores, slopes;
};

class AttentionOrderConsumer {
public:
  AttentionOrderConsumer(ImplicitLocOpBuilder &b, const AttentionOrderFrame &frame, Value group);

  /// Emits the loop over all tiles of the CTA.
  void emit(ImplicitLocOpBuilder &b) const;

private:
  const Shape &shape() const { return frame.shape; }
  /// Returns the first query of step `step`, plus 1 if it is masked: one register. Null if no step
  /// is masked.
  Value readMask(ImplicitLocOpBuilder &b, const AttentionOrderWork &tile, Value step) const;
  /// Starts the product of the own rows of K (`which` 0) or V with the transpose of Q or dO in
  /// `buffer`.
  SmallVector<Value> startScores(ImplicitLocOpBuilder &b, int which, Value buffer) const;
  /// Starts sums += weights * Q or dO in `buffer`.
  SmallVector<Value> startProducts(ImplicitLocOpBuilder &b, int which, ArrayRef<Value> weights,
                                   Value buffer, ArrayRef<Value> sums) const;
  /// Starts the own columns of dQ of a step, for which it waits until dS is complete.
  SmallVector<Value> startPartial(ImplicitLocOpBuilder &b, const Position &at) const;
  /// Starts S and dP of step `number` of the CTA.
  Started startStep(ImplicitLocOpBuilder &b, Value number) const;
  /// Adds the bias, and sets forbidden scores to -infinity.
  SmallVector<Value> maskScores(ImplicitLocOpBuilder &b, ArrayRef<Value> scores,
                                const AttentionOrderWork &tile, Value mask) const;
  /// Writes `words` of dS, and tells both consumers.
  void writeGradients(ImplicitLocOpBuilder &b, const Position &at, ArrayRef<Value> words,
                      bool isFirst) const;
  /// Writes dQ of the step at `at` for its writer.
  void writePartial(ImplicitLocOpBuilder &b, const Position &at, ArrayRef<Value> partial) const;
  /// Emits the rest of step `step` of `tile`, except that the products dK go on, and the buffer of
  /// Q and dO is not released. `isFirst` says that it is the first one of the tile.
  State emitStep(ImplicitLocOpBuilder &b, const AttentionOrderWork &tile, Value step,
                 const Started &started, State state, bool isFirst) const;
  /// Waits for all products and releases Q and dO.
  void finishStep(ImplicitLocOpBuilder &b, const Started &started, State &state) const;
  /// Emits steps `step` and `step` + 1, and step `step` alone.
  State emitPair(ImplicitLocOpBuilder &b, const AttentionOrderWork &tile, Value step,
                 State state) const;
  State emitSingle(ImplicitLocOpBuilder &b, const AttentionOrderWork &tile, Value step, State state,
                   bool isFirst) const;
  /// Emits the steps of a tile that has some. Returns what a tile carries, then dK and dV.
  SmallVector<Value> emitSteps(ImplicitLocOpBuilder &b, const AttentionOrderWork &tile,
                               ValueRange carried) const;
  void storeResults(ImplicitLocOpBuilder &b, const AttentionOrderWork &tile, Value number,
                    ValueRange sums) const;
  SmallVector<Value> emitTile(ImplicitLocOpBuilder &b, Value number, ValueRange carried) const;
  /// Returns the first of the own keys of a tile (i32).
  Value ownKey(ImplicitLocOpBuilder &b, const AttentionOrderWork &tile) const {
    return arith::SelectOp::create(b, isEqual(b, group, i32Constant(b, 0)), tile.keys[0],
                                   tile.keys[1]);
  }
  /// Arrives at the full barrier of a stage, once for each warp, when all its lanes are there.
  void arriveByWarp(ImplicitLocOpBuilder &b, const StageRing &ring, Value stage) const {
    NVVM::SyncWarpOp::create(b, i32Constant(b, -1));
    emitIf(b, isFirstLane, [&](ImplicitLocOpBuilder &b) { ring.arriveFull(b, stage); });
  }

  const AttentionOrderFrame &frame;
  Value group, isFirstLane;
  AttentionScores scoring;
  StageRing ring, residentRing, gradientRing, partialRing;
  WgmmaGemm gemm;
  SubtileStore store;
};

} // namespace

AttentionOrderConsumer::AttentionOrderConsumer(ImplicitLocOpBuilder &b,
                                               const AttentionOrderFrame &frame, Value group)
    : frame(frame), group(group),
      isFirstLane(isEqual(b, Int(b, frame.thread) % 32, i32Constant(b, 0))),
      scoring(AttentionScoreForm::get(frame.op), frame.masks ? &*frame.masks : nullptr,
              frame.shape.queries, /*keysAreRows=*/true),
      ring(frame.ring(b)), residentRing(frame.residentRing(b)), gradientRing(frame.gradientRing(b)),
      partialRing(frame.partialRing(b)), gemm(Shape::rows, frame.shape.element),
      // Named barrier 0 belongs to the complete CTA. Both buffers of the own rows of dS follow each
      // other.
      store(b, frame.thread, Int(b, group) + 1, frame.gradientAddress(b, group, i32Constant(b, 0)),
            Shape::buffers, frame.shape.element, /*transposed=*/false, /*defers=*/false) {}

Value AttentionOrderConsumer::readMask(ImplicitLocOpBuilder &b, const AttentionOrderWork &tile,
                                       Value step) const {
  if (!shape().masked)
    return {};
  SmallVector<Value> words = frame.readStep(b, tile, step);
  return Int(b, words[AttentionOrderStepTable::Query]) + words[AttentionOrderStepTable::Masked];
}

SmallVector<Value> AttentionOrderConsumer::startScores(ImplicitLocOpBuilder &b, int which,
                                                       Value buffer) const {
  Value own = Int(b, frame.residentAddress(b, which)) + Int(b, group) * Shape::tileBytes;
  WgmmaGemm::Shared resident{{/*kMajor=*/true}, own, Shape::groups * Shape::tileBytes};
  WgmmaGemm::Shared walked{{/*kMajor=*/true}, frame.walkedAddress(b, which, buffer)};
  return gemm.multiply(b, resident, walked, shape().depthSteps[which]);
}

SmallVector<Value> AttentionOrderConsumer::startProducts(ImplicitLocOpBuilder &b, int which,
                                                         ArrayRef<Value> weights, Value buffer,
                                                         ArrayRef<Value> sums) const {
  WgmmaGemm wide(Shape::cols, shape().element);
  return wide.multiplyAdd(b, weights, {{/*kMajor=*/false}, frame.walkedAddress(b, which, buffer)},
                          sums);
}

SmallVector<Value> AttentionOrderConsumer::startPartial(ImplicitLocOpBuilder &b,
                                                        const Position &at) const {
  constexpr int64_t steps = Shape::groups * Shape::keys / WgmmaTile::stepDepth;
  gradientRing.waitFull(b, at);
  // The keys of the second consumer lie behind both buffers of the first one.
  WgmmaGemm::Shared gradients{{/*kMajor=*/false},
                              frame.gradientAddress(b, i32Constant(b, 0), at.stage),
                              Shape::buffers * Shape::tileBytes};
  Value columns =
      Int(b, frame.residentAddress(b, 0)) + Int(b, group) * (Shape::groups * Shape::tileBytes);
  return gemm.multiply(b, gradients, {{/*kMajor=*/false}, columns}, steps);
}

Started AttentionOrderConsumer::startStep(ImplicitLocOpBuilder &b, Value number) const {
  Started started;
  started.at = positionOf(b, number);
  ring.waitFull(b, started.at);
  started.scores = startScores(b, 0, started.at.stage);
  started.slopes = startScores(b, 1, started.at.stage);
  return started;
}

SmallVector<Value> AttentionOrderConsumer::maskScores(ImplicitLocOpBuilder &b,
                                                      ArrayRef<Value> scores,
                                                      const AttentionOrderWork &tile,
                                                      Value mask) const {
  if (!mask)
    return SmallVector<Value>(scores);
  Value isMasked = isEqual(b, Int(b, mask) % 2, i32Constant(b, 1));
  return emitChoices(
      b, isMasked,
      [&](ImplicitLocOpBuilder &b) {
        // The steps take all registers: the tile is read again where it is masked.
        AttentionOrderWork again = frame.getTile(b, makeOpaque(b, tile.number));
        Value thread = makeOpaque(b, frame.thread);
        AttentionScores::Rows rows =
            scoring.getRows(b, again.batch, Int(b, ownKey(b, again)) + ownRow(b, thread));
        rows.terms = scoring.getTerms(b, again.batch, again.head);
        return scoring.mask(b, thread, scores, rows, {{Int(b, mask) + (-1)}});
      },
      [&](ImplicitLocOpBuilder &) { return SmallVector<Value>(scores); });
}

void AttentionOrderConsumer::writeGradients(ImplicitLocOpBuilder &b, const Position &at,
                                            ArrayRef<Value> words, bool isFirst) const {
  gradientRing.waitEmpty(b, emptyPosition(b, at));
  // The results of the tile before are stored from the same memory.
  if (isFirst)
    store.emitWaitRead(b);
  store.writeRegisters(b, words, frame.gradientAddress(b, group, at.stage));
  emitProxyFence(b);
  arriveByWarp(b, gradientRing, at.stage);
}

void AttentionOrderConsumer::writePartial(ImplicitLocOpBuilder &b, const Position &at,
                                          ArrayRef<Value> partial) const {
  constexpr int64_t quad = 4;
  Position own = partialPosition(b, at, group);
  partialRing.waitEmpty(b, emptyPosition(b, own));
  Value first =
      Int(b, frame.partialAddress(b, own.stage)) + Int(b, makeOpaque(b, frame.thread)) * (quad * 4);
  auto type = VectorType::get(quad, b.getF32Type());
  for (int64_t i = 0; i < numPartial; i += quad) {
    Value numbers = LLVM::PoisonOp::create(b, type);
    for (int64_t j = 0; j < quad; ++j)
      numbers = LLVM::InsertElementOp::create(b, numbers, partial[i + j], i32Constant(b, j));
    Value pointer = sharedPointer(b, Int(b, first) + i * Shape::warpgroupThreads * 4);
    LLVM::StoreOp::create(b, numbers, pointer, /*alignment=*/16);
  }
  emitProxyFence(b);
  arriveByWarp(b, partialRing, own.stage);
}

State AttentionOrderConsumer::emitStep(ImplicitLocOpBuilder &b, const AttentionOrderWork &tile,
                                       Value step, const Started &started, State state,
                                       bool isFirst) const {
  Value buffer = started.at.stage, one = i32Constant(b, 1), next = Int(b, step) + one;
  Value ahead = readMask(b, tile, next);
  SmallVector<Value> scores = WgmmaGemm::wait(b, 1, started.scores);
  scores = scoring.scale(b, scores);
  SmallVector<Value> derivatives = scoring.getDerivatives(b, scores);
  scores = maskScores(b, scores, tile, state.mask);
  SmallVector<Value> shifts =
      readColumnNumbers(b, makeOpaque(b, frame.thread), frame.vectorAddress(b, 0, buffer));
  SmallVector<Value> powers = emitPowers(b, scores, shifts, scoring.form.unit());
  state.sums[1] = startProducts(b, 1, packPairs(b, shape().element, powers), buffer, state.sums[1]);
  SmallVector<Value> weights = emitWeights(b, powers, derivatives);

  SmallVector<Value> slopes = WgmmaGemm::wait(b, 1, started.slopes);
  SmallVector<Value> sums =
      readColumnNumbers(b, makeOpaque(b, frame.thread), frame.vectorAddress(b, 1, buffer));
  emitIf(b, isEqual(b, next, tile.count),
         [&](ImplicitLocOpBuilder &b) { residentRing.releaseByWarp(b, one, isFirstLane); });
  SmallVector<Value> words =
      packPairs(b, shape().element, emitScoreGradients(b, weights, slopes, sums));
  writeGradients(b, started.at, words, isFirst);

  Position before = positionOf(b, Int(b, state.number) - one);
  SmallVector<Value> pending;
  if (!isFirst)
    pending = startPartial(b, before);
  state.sums[0] = startProducts(b, 0, words, buffer, state.sums[0]);
  llvm::append_range(pending, state.sums[1]);
  pending = WgmmaGemm::wait(b, 1, pending);
  state.sums[1] = SmallVector<Value>(ArrayRef(pending).take_back(numSums));
  if (!isFirst) {
    gradientRing.releaseByWarp(b, before.stage, isFirstLane);
    writePartial(b, before, ArrayRef(pending).drop_back(numSums));
  }
  state.number = Int(b, state.number) + one;
  state.mask = ahead;
  return state;
}

void AttentionOrderConsumer::finishStep(ImplicitLocOpBuilder &b, const Started &started,
                                        State &state) const {
  state.sums[0] = WgmmaGemm::wait(b, 0, state.sums[0]);
  ring.releaseByWarp(b, started.at.stage, isFirstLane);
}

State AttentionOrderConsumer::emitSingle(ImplicitLocOpBuilder &b, const AttentionOrderWork &tile,
                                         Value step, State state, bool isFirst) const {
  Started started = startStep(b, state.number);
  state = emitStep(b, tile, step, started, state, isFirst);
  finishStep(b, started, state);
  return state;
}

State AttentionOrderConsumer::emitPair(ImplicitLocOpBuilder &b, const AttentionOrderWork &tile,
                                       Value step, State state) const {
  Started before = startStep(b, state.number);
  state = emitStep(b, tile, step, before, state, /*isFirst=*/false);
  Started started = startStep(b, state.number);
  // All products older than the two of this step are complete.
  state.sums[0] = WgmmaGemm::wait(b, 2, state.sums[0]);
  ring.releaseByWarp(b, before.at.stage, isFirstLane);
  state = emitStep(b, tile, Int(b, step) + i32Constant(b, 1), started, state, /*isFirst=*/false);
  finishStep(b, started, state);
  return state;
}

SmallVector<Value> AttentionOrderConsumer::emitSteps(ImplicitLocOpBuilder &b,
                                                     const AttentionOrderWork &tile,
                                                     ValueRange carried) const {
  Value zero = i32Constant(b, 0), one = i32Constant(b, 1);
  Value parity = carried.back();
  for (int which = 0; which < 2; ++which)
    residentRing.waitFull(b, {i32Constant(b, which), parity});
  State state;
  state.number = carried.front();
  state.mask = readMask(b, tile, zero);
  for (SmallVector<Value> &sums : state.sums)
    sums.assign(numSums, number(b, 0));
  state = emitSingle(b, tile, zero, state, /*isFirst=*/true);

  state = state.fromCarried(emitPairs(
      b, /*from=*/1, tile.count, state.toCarried(),
      [&](ImplicitLocOpBuilder &b, Value step, ValueRange carried) {
        return emitPair(b, tile, step, state.fromCarried(carried)).toCarried();
      },
      [&](ImplicitLocOpBuilder &b, Value step, ValueRange carried) {
        return emitSingle(b, tile, step, state.fromCarried(carried), /*isFirst=*/false).toCarried();
      }));

  Position at = positionOf(b, Int(b, state.number) - one);
  SmallVector<Value> partial = WgmmaGemm::wait(b, 0, startPartial(b, at));
  gradientRing.releaseByWarp(b, at.stage, isFirstLane);
  residentRing.releaseByWarp(b, zero, isFirstLane);
  writePartial(b, at, partial);
  SmallVector<Value> results{state.number, arith::XOrIOp::create(b, parity, one)};
  for (const SmallVector<Value> &sums : state.sums)
    llvm::append_range(results, sums);
  return results;
}

void AttentionOrderConsumer::storeResults(ImplicitLocOpBuilder &b, const AttentionOrderWork &tile,
                                          Value number, ValueRange sums) const {
  // The other consumer has read both buffers of dS.
  for (int64_t i = 0; i < Shape::buffers; ++i)
    gradientRing.waitEmpty(b, emptyPosition(b, positionOf(b, Int(b, number) + i32Constant(b, i))));
  SmallVector<Value> scaled;
  // S is multiplied by the scale, so its gradient is, too.
  for (Value sum : sums.take_front(numSums))
    scaled.push_back(arith::MulFOp::create(b, sum, device::number(b, scoring.form.scale)));
  for (int which : {1, 0}) {
    const AttentionOrderFrame::Matrices &result = frame.results[which];
    store.emit(b, which == 0 ? scaled : SmallVector<Value>(sums.drop_front(numSums)),
               /*finish=*/nullptr, [&](ImplicitLocOpBuilder &b, int64_t subtile, Value address) {
                 TensorCoord coord = StagedTiles::coordIn(b, result.memref, ownKey(b, tile),
                                                          i32Constant(b, subtile * subtileCols),
                                                          tile.batch, tile.head);
                 emitTensorStore(b, result.map, coord, address);
               });
  }
}

SmallVector<Value> AttentionOrderConsumer::emitTile(ImplicitLocOpBuilder &b, Value number,
                                                    ValueRange carried) const {
  const AttentionOrderWork tile = frame.getTile(b, number);
  Value hasSteps =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, tile.count, i32Constant(b, 0));
  SmallVector<Value> results = emitChoices(
      b, hasSteps, [&](ImplicitLocOpBuilder &b) { return emitSteps(b, tile, carried); },
      [&](ImplicitLocOpBuilder &b) {
        SmallVector<Value> none(carried);
        none.append(2 * numSums, device::number(b, 0));
        return none;
      });
  // The steps take all registers: the tile is read again.
  storeResults(b, frame.getTile(b, makeOpaque(b, number)), results.front(),
               ValueRange(results).drop_front(carried.size()));
  results.truncate(carried.size());
  return results;
}

void AttentionOrderConsumer::emit(ImplicitLocOpBuilder &b) const {
  TileRange range = frame.range(b);
  // The number of the next step, and the parity of K and V.
  Value zero = i32Constant(b, 0);
  emitCarry(b, range.from, range.to, range.step, {zero, zero},
            [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
              return emitTile(b, number, carried);
            });
  store.emitWait(b);
}

void mlir::blocksparse::device::emitAttentionOrderConsumer(ImplicitLocOpBuilder &b,
                                                           const AttentionOrderFrame &frame,
                                                           Value group) {
  AttentionOrderConsumer(b, frame, group).emit(b);
}
