// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The consumer warpgroups of a WgmmaProduct: products of the stages that the producer fills,
// epilogue and stores.

#include "../../Device/Loops.h"
#include "../Kit/SharedTile.h"
#include "../Kit/WgmmaGemm.h"
#include "WgmmaProduct.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static Value constant(ImplicitLocOpBuilder &b, int64_t value) { return i32Constant(b, value); }

//===----------------------------------------------------------------------===//
// Input
//===----------------------------------------------------------------------===//

Value InputSubtiles::take(ImplicitLocOpBuilder &b, int64_t number) const {
  int64_t inStage = number % shape.inputSubtiles();
  if (inStage == 0)
    ring.waitFull(b, at);
  Value address = Int(b, base) + Int(b, at.stage) * shape.stageBytes();
  constexpr int64_t bytes = SubtileStore::subtileBytes;
  address = Int(b, address) + Int(b, warpgroup) * (shape.inputSubtiles() * bytes);
  return Int(b, address) + (inStage * bytes);
}

void InputSubtiles::release(ImplicitLocOpBuilder &b, int64_t number) {
  if ((number + 1) % shape.inputSubtiles() != 0 && number + 1 != shape.subtiles())
    return;
  ring.release(b, at.stage);
  at = ring.next(b, at);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {

/// Holds what a consumer warpgroup carries from one k step of a tile to the next.
struct StepState {
  StageRing::Position at;
  /// Stage (i32) of the step before, which its products may still read; -1: none.
  Value previous;
  /// All accumulators as one value, or one by one if products are promoted.
  SmallVector<Value> accumulators;

  SmallVector<Value> toCarried() const {
    SmallVector<Value> values{at.stage, at.parity, previous};
    llvm::append_range(values, accumulators);
    return values;
  }
  static StepState fromCarried(ValueRange values) {
    return {StageRing::Position::fromCarried(values), values[2],
            SmallVector<Value>(values.drop_front(3))};
  }
};

/// Emits one consumer warpgroup. Its loop over tiles carries the pipeline state, the next tile (if
/// tiles are read ahead), and the registers of the deferred store of the previous tile.
class WgmmaConsumer {
public:
  WgmmaConsumer(ImplicitLocOpBuilder &b, const WgmmaShape &shape, WgmmaKernel &kernel,
                const WgmmaFrame &frame, Value warpgroup);

  /// Emits the loop over all tiles of the CTA.
  void emit(ImplicitLocOpBuilder &b) const;

private:
  /// Returns the addresses (i32) of this warpgroup's factors in a stage.
  std::pair<Value, Value> factorsOf(ImplicitLocOpBuilder &b, Value stage) const;
  /// Starts the products of a stage as one of the commit groups of wgmma, and returns the new
  /// accumulators.
  Value multiply(ImplicitLocOpBuilder &b, Value stage, Value accumulators) const;
  /// Computes the products of a stage, releases it and returns the sums of accumulators and
  /// products.
  SmallVector<Value> promoteStage(ImplicitLocOpBuilder &b, Value stage,
                                  ArrayRef<Value> accumulators) const;
  /// Multiplies stage `state.at`: starts its products, waits for those of the previous k step and
  /// releases their stage; or promotes the products. The position of the result is that of `state`.
  StepState multiplyStage(ImplicitLocOpBuilder &b, const StepState &state) const;
  /// Returns accumulators that are 0.
  SmallVector<Value> makeZeros(ImplicitLocOpBuilder &b) const;
  /// Releases `stage`, if it is not -1, by one lane of each warp.
  void releaseIf(ImplicitLocOpBuilder &b, Value stage) const;
  /// Multiplies one k step of a tile and returns the state for the next.
  StepState emitStep(ImplicitLocOpBuilder &b, const StepState &state) const;

  /// Returns the number of registers of a deferred store.
  int64_t numDeferred() const { return store.deferredRegisters(numAccumulators()); }
  int64_t numAccumulators() const { return shape.cols / 2; }
  /// Stores the deferred batch if `condition` is true. `deferred` contains a flag (i32, 1 if there
  /// is a batch), the tile and the registers of the batch; it is empty if the shape does not defer
  /// stores.
  void storeDeferredIf(ImplicitLocOpBuilder &b, Value condition, ValueRange deferred) const;
  /// Emits one tile: main loop, epilogue and stores. `carried` and the result are the values that
  /// the loop over tiles carries.
  SmallVector<Value> emitTile(ImplicitLocOpBuilder &b, const TileRange &range, Value number,
                              ValueRange carried) const;

  const WgmmaShape &shape;
  WgmmaKernel &kernel;
  const WgmmaFrame &frame;
  Value warpgroup;
  WgmmaTile tile;
  Value isFirstLane;
  SubtileStore store;
};

} // namespace

static SubtileStore makeSubtileStore(ImplicitLocOpBuilder &b, const WgmmaShape &shape,
                                     const WgmmaFrame &frame, Value warpgroup) {
  Value buffers = Int(b, frame.base) + constant(b, shape.resultOffset());
  buffers = Int(b, buffers) +
            Int(b, warpgroup) * (WgmmaShape::resultBuffers * SubtileStore::subtileBytes);
  // Named barrier 0 belongs to the complete CTA.
  return SubtileStore(b, frame.thread, Int(b, warpgroup) + constant(b, 1), buffers,
                      WgmmaShape::resultBuffers, shape.result, shape.transposeOut,
                      shape.defersStore);
}

WgmmaConsumer::WgmmaConsumer(ImplicitLocOpBuilder &b, const WgmmaShape &shape, WgmmaKernel &kernel,
                             const WgmmaFrame &frame, Value warpgroup)
    : shape(shape), kernel(kernel), frame(frame), warpgroup(warpgroup),
      tile(b.getContext(), shape.cols, shape.element, shape.factor(shape.aKMajor),
           shape.factor(shape.bKMajor)),
      isFirstLane(isEqual(b, Int(b, frame.thread) % 32, constant(b, 0))),
      store(makeSubtileStore(b, shape, frame, warpgroup)) {}

std::pair<Value, Value> WgmmaConsumer::factorsOf(ImplicitLocOpBuilder &b, Value stage) const {
  StageBuffers buffers = frame.buffers(b, shape, stage);
  Value first = buffers.a, second = buffers.b;
  if (shape.splitColumns)
    second = Int(b, second) + Int(b, warpgroup) * (shape.cols / subtileCols * shape.matrixBytes());
  else
    first = Int(b, first) + Int(b, warpgroup) * shape.matrixBytes();
  return {first, second};
}

Value WgmmaConsumer::multiply(ImplicitLocOpBuilder &b, Value stage, Value accumulators) const {
  auto [first, second] = factorsOf(b, stage);
  tile.fence(b);
  Value next = tile.multiplyAdd(b, first, second, accumulators, shape.slicesOfStep());
  tile.commitGroup(b);
  return next;
}

SmallVector<Value> WgmmaConsumer::promoteStage(ImplicitLocOpBuilder &b, Value stage,
                                               ArrayRef<Value> accumulators) const {
  auto [first, second] = factorsOf(b, stage);
  SmallVector<Value> products =
      WgmmaGemm(shape.cols, shape.element)
          .multiply(b, {shape.factor(shape.aKMajor), first}, {shape.factor(shape.bKMajor), second},
                    shape.slicesOfStep());
  products = WgmmaGemm::wait(b, 0, products);
  releaseIf(b, stage);
  SmallVector<Value> sums;
  for (auto [sum, product] : llvm::zip_equal(accumulators, products))
    sums.push_back(arith::AddFOp::create(b, sum, product));
  return sums;
}

SmallVector<Value> WgmmaConsumer::makeZeros(ImplicitLocOpBuilder &b) const {
  if (!shape.promotes())
    return tile.zeros(b);
  Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
  return SmallVector<Value>(numAccumulators(), zero);
}

void WgmmaConsumer::releaseIf(ImplicitLocOpBuilder &b, Value stage) const {
  frame.ring.releaseIf(b, stage, isFirstLane, shape.releasesOfWarp());
}

StepState WgmmaConsumer::multiplyStage(ImplicitLocOpBuilder &b, const StepState &state) const {
  Value stage = state.at.stage;
  if (shape.promotes())
    return {state.at, constant(b, -1), promoteStage(b, stage, state.accumulators)};
  Value next = multiply(b, stage, state.accumulators.front());
  // Only the products started now may be in flight: those that read the previous stage have ended.
  tile.waitAllButLast(b);
  releaseIf(b, state.previous);
  return {state.at, stage, {next}};
}

StepState WgmmaConsumer::emitStep(ImplicitLocOpBuilder &b, const StepState &state) const {
  StageRing::Position at = state.at;
  frame.ring.waitFull(b, at);
  StepState next = state;
  if (shape.hasGaps) {
    Value part = kernel.getStepTables()->participates(b, frame.buffers(b, shape, at.stage).record,
                                                      warpgroup);
    auto branch = scf::IfOp::create(
        b, part,
        [&](OpBuilder &builder, Location loc) {
          ImplicitLocOpBuilder b(loc, builder);
          scf::YieldOp::create(b, multiplyStage(b, state).toCarried());
        },
        [&](OpBuilder &builder, Location loc) {
          ImplicitLocOpBuilder b(loc, builder);
          // No newer commit is made in this k step, so that the older products are waited for
          // explicitly. This warpgroup does not read the stage at all.
          tile.waitAll(b);
          releaseIf(b, state.previous);
          releaseIf(b, at.stage);
          StepState same{at, constant(b, -1), state.accumulators};
          scf::YieldOp::create(b, same.toCarried());
        });
    next = StepState::fromCarried(branch.getResults());
  } else {
    next = multiplyStage(b, state);
  }
  next.at = frame.ring.next(b, at);
  return next;
}

void WgmmaConsumer::storeDeferredIf(ImplicitLocOpBuilder &b, Value condition,
                                    ValueRange deferred) const {
  if (numDeferred() == 0)
    return;
  Value isThere = isEqual(b, deferred.front(), constant(b, 1));
  emitIf(b, both(b, condition, isThere), [&](ImplicitLocOpBuilder &b) {
    WgmmaWork work = WgmmaWork::fromCarried(deferred.drop_front().drop_back(numDeferred()));
    kernel.emitDeferred(b, work, warpgroup, store,
                        SmallVector<Value>(deferred.take_back(numDeferred())), numAccumulators());
  });
}

SmallVector<Value> WgmmaConsumer::emitTile(ImplicitLocOpBuilder &b, const TileRange &range,
                                           Value number, ValueRange carried) const {
  StageRing::Position at = StageRing::Position::fromCarried(carried);
  ValueRange deferred = carried.drop_front(StageRing::Position::numCarried);
  WgmmaWork work;
  SmallVector<Value> following;
  if (shape.readsTiles) {
    following = kernel.getTileAhead(b, range, Int(b, number) + range.step).toCarried();
    work = WgmmaWork::fromCarried(deferred.take_front(following.size()));
    deferred = deferred.drop_front(following.size());
  } else {
    work = kernel.getTile(b, number);
  }
  kernel.beginTile(b, work, warpgroup, frame.thread);
  StepState initial{at, constant(b, -1), makeZeros(b)};
  Value zero = constant(b, 0);
  StepState end = StepState::fromCarried(
      emitCarry(b, zero, work.steps, constant(b, 1), initial.toCarried(),
                [&](ImplicitLocOpBuilder &b, Value step, ValueRange carried) {
                  StepState next = emitStep(b, StepState::fromCarried(carried));
                  // The deferred store of the previous tile runs while the products of the first k
                  // step are in flight.
                  storeDeferredIf(b, isEqual(b, step, zero), deferred);
                  return next.toCarried();
                }));
  // A tile without k steps has not run it yet.
  storeDeferredIf(b, isEqual(b, work.steps, zero), deferred);
  kernel.prepareResult(b, work, warpgroup, frame.thread);
  SmallVector<Value> accumulators =
      shape.promotes() ? end.accumulators : tile.finish(b, end.accumulators);
  // The products of the last k step have ended, too.
  releaseIf(b, end.previous);
  InputSubtiles input(shape, frame.ring, frame.base, warpgroup, end.at);
  SmallVector<Value> rest = kernel.emitResult(b, work, warpgroup, store, input, accumulators);
  SmallVector<Value> results = input.position().toCarried();
  llvm::append_range(results, following);
  if (numDeferred() != 0) {
    results.push_back(constant(b, 1));
    llvm::append_range(results, work.toCarried());
    llvm::append_range(results, rest);
  }
  return results;
}

void WgmmaConsumer::emit(ImplicitLocOpBuilder &b) const {
  TileRange range = kernel.tiles(b);
  SmallVector<Value> first = kernel.getTileAhead(b, range, range.from).toCarried();
  StageRing::Position start = frame.ring.start(b, /*producer=*/false);
  SmallVector<Value> initial = start.toCarried();
  if (shape.readsTiles)
    llvm::append_range(initial, first);
  size_t numOthers = initial.size();
  Value zero = constant(b, 0);
  if (numDeferred() != 0) {
    initial.push_back(zero);
    llvm::append_range(initial, first);
    initial.append(numDeferred(), zero);
  }
  SmallVector<Value> end =
      emitCarry(b, range.from, range.to, range.step, initial,
                [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
                  return emitTile(b, range, number, carried);
                });
  storeDeferredIf(b, arith::ConstantIntOp::create(b, b.getI1Type(), 1),
                  ValueRange(end).drop_front(numOthers));
  store.emitWait(b);
}

void WgmmaProduct::emitConsumer(ImplicitLocOpBuilder &b, WgmmaKernel &kernel,
                                const WgmmaFrame &frame, Value warpgroup) const {
  WgmmaConsumer(b, shape, kernel, frame, warpgroup).emit(b);
}
