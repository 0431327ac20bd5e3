// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WgmmaProduct.h"

#include "Kit/SharedTile.h"
#include "Loops.h"
#include "Warp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t producerRegisters = 40;
static constexpr int64_t consumerRegisters = 232;
static constexpr int64_t warpgroupThreads = 128;
static constexpr int64_t warpsOfGroup = 4;
static constexpr int64_t warpSize = 32;

/// Arrivals that give a stage back. Each lane that has read an input arrives for itself; what wgmma
/// has read, one lane gives back for its warp.
static int64_t releasesOfWarp(const WgmmaShape &shape) { return shape.hasInput ? warpSize : 1; }

void WgmmaShape::fitStages(int64_t wanted, int64_t limit) {
  stages = wanted;
  while (stages > 2 && sharedBytes() > limit)
    --stages;
}

int64_t WgmmaShape::freeRegisters() const {
  // Among them what is known of this tile and of the next.
  constexpr int64_t other = 72;
  return consumerRegisters - cols / 2 - other;
}

static Value isEqual(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lhs, rhs);
}

/// All threads of the cluster have arrived, and see each other's writes.
static void emitClusterBarrier(ImplicitLocOpBuilder &b) {
  // Not the aligned form: lanes of the producer's warp may come by different ways.
  NVVM::ClusterArriveOp::create(b, UnitAttr());
  NVVM::ClusterWaitOp::create(b, UnitAttr());
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

void WgmmaProduct::launch(
    ImplicitLocOpBuilder &host, KernelBuilder &kernels, StringRef name, ValueRange maps,
    ValueRange operands, Value blocks,
    function_ref<std::unique_ptr<WgmmaKernel>(ImplicitLocOpBuilder &, const IRMapping &)>
        makeKernel) const {
  SmallVector<Value> arguments(maps);
  llvm::append_range(arguments, operands);
  LaunchShape launchShape{blocks, WgmmaShape::threads, shape.sharedBytes(), shape.cluster};
  auto emitKernel = [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
    std::unique_ptr<WgmmaKernel> kernel = makeKernel(b, mapping);
    Value thread = arith::IndexCastOp::create(b, b.getI32Type(),
                                              gpu::ThreadIdOp::create(b, gpu::Dimension::x));
    Value base = alignedSharedBase(b);
    Value barriers = sharedAdd(b, base, sharedConstant(b, shape.barrierOffset()));
    Frame frame{base, sharedRem(b, thread, warpgroupThreads),
                StageRing(barriers, shape.stages, shape.cluster), std::nullopt};
    if (shape.pacedTiles > 0)
      frame.pace = Pace::create(b, shape.blocks);
    emitIf(b, isEqual(b, thread, sharedConstant(b, 0)), [&](ImplicitLocOpBuilder &b) {
      frame.ring.emitInit(b, WgmmaShape::groups * warpsOfGroup * releasesOfWarp(shape),
                          shape.copyingWarps);
    });
    if (shape.cluster > 1)
      emitClusterBarrier(b);
    else
      emitBarrier(b);
    Value warpgroup = makeUniform(b, sharedDiv(b, thread, warpgroupThreads));
    auto produce = [&](OpBuilder &builder, Location loc) {
      ImplicitLocOpBuilder b(loc, builder);
      NVVM::SetMaxRegisterOp::create(b, producerRegisters, NVVM::SetMaxRegisterAction::decrease);
      emitProducer(b, *kernel, frame);
      scf::YieldOp::create(b);
    };
    auto consume = [&](OpBuilder &builder, Location loc) {
      ImplicitLocOpBuilder b(loc, builder);
      NVVM::SetMaxRegisterOp::create(b, consumerRegisters, NVVM::SetMaxRegisterAction::increase);
      emitConsumer(b, *kernel, frame, sharedAdd(b, warpgroup, sharedConstant(b, -1)));
      scf::YieldOp::create(b);
    };
    scf::IfOp::create(b, isEqual(b, warpgroup, sharedConstant(b, 0)), produce, consume);
    // No block ends while another may copy to it or arrive at its barriers.
    if (shape.cluster > 1)
      emitClusterBarrier(b);
  };
  gpu::GPUFuncOp kernel = kernels.launch(host, name, arguments, launchShape, emitKernel);
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), host.getI32IntegerAttr(1));
  setTensorMapArguments(kernel, maps.size());
}

//===----------------------------------------------------------------------===//
// Producer
//===----------------------------------------------------------------------===//

StageBuffers WgmmaProduct::getBuffers(ImplicitLocOpBuilder &b, const Frame &frame,
                                      Value stage) const {
  Value first = sharedAdd(b, frame.base, sharedMul(b, stage, shape.stageBytes()));
  Value second = sharedAdd(b, first, sharedConstant(b, shape.aMatrices() * WgmmaTile::matrixBytes));
  Value record = sharedAdd(b, frame.base, sharedConstant(b, shape.recordOffset()));
  record = sharedAdd(b, record, sharedMul(b, stage, WgmmaShape::recordBytes));
  return {first, second, record, frame.ring.full(b, stage), Value()};
}

StageRing::Position WgmmaProduct::emitInput(ImplicitLocOpBuilder &b, WgmmaKernel &kernel,
                                            const Frame &frame, const WgmmaWork &tile,
                                            StageRing::Position at) const {
  for (int64_t first = 0; first < shape.chunks() && shape.hasInput; first += shape.inputChunks()) {
    int64_t count = std::min(shape.inputChunks(), shape.chunks() - first);
    frame.ring.waitEmpty(b, at);
    int64_t bytes = WgmmaShape::groups * count * ResultChunks::chunkBytes;
    frame.ring.expectBytes(b, at.stage, sharedConstant(b, bytes));
    StageBuffers stage = getBuffers(b, frame, at.stage);
    for (int64_t group = 0; group < WgmmaShape::groups; ++group)
      for (int64_t i = 0; i < count; ++i) {
        int64_t place = (group * shape.inputChunks() + i) * ResultChunks::chunkBytes;
        kernel.emitInputCopy(b, tile, group, first + i,
                             sharedAdd(b, stage.a, sharedConstant(b, place)), stage.barrier);
      }
    at = frame.ring.next(b, at);
  }
  return at;
}

/// Tile `number` of a thread block that has `range`, or, past its end, any tile that there is.
static WgmmaWork getTileAhead(ImplicitLocOpBuilder &b, WgmmaKernel &kernel,
                              const WgmmaKernel::Range &range, Value number) {
  Value last = sharedAdd(b, range.to, sharedConstant(b, -1));
  Value clamped = arith::MinSIOp::create(b, number, last);
  return kernel.getTile(b, arith::MaxSIOp::create(b, clamped, sharedConstant(b, 0)));
}

/// A tile among the values that a loop carries.
static SmallVector<Value> toCarried(const WgmmaWork &tile) {
  SmallVector<Value> values{tile.steps};
  llvm::append_range(values, tile.fields);
  return values;
}

static WgmmaWork fromCarried(ValueRange values) {
  return {values.front(), SmallVector<Value>(values.drop_front())};
}

/// `first` where `condition` holds, else `second`.
static WgmmaWork selectTile(ImplicitLocOpBuilder &b, Value condition, const WgmmaWork &first,
                            const WgmmaWork &second) {
  SmallVector<Value> values;
  for (auto [one, other] : llvm::zip_equal(toCarried(first), toCarried(second)))
    values.push_back(arith::SelectOp::create(b, condition, one, other));
  return fromCarried(values);
}

/// One copying warp announces the bytes of all, which may come before that.
void WgmmaProduct::fillStage(ImplicitLocOpBuilder &b, WgmmaKernel &kernel, const Frame &frame,
                             const WgmmaWork &tile, Value step, ArrayRef<Value> entry,
                             StageRing::Position at, Value warp) const {
  frame.ring.waitEmpty(b, at);
  auto announce = [&](ImplicitLocOpBuilder &b) {
    frame.ring.expectBytes(b, at.stage, kernel.stepBytes(b, tile, entry));
  };
  if (shape.copyingWarps == 1) {
    announce(b);
  } else {
    Value zero = sharedConstant(b, 0);
    emitIf(b, isEqual(b, warp, zero), announce);
    emitIf(b, arith::CmpIOp::create(b, arith::CmpIPredicate::ne, warp, zero),
           [&](ImplicitLocOpBuilder &b) { frame.ring.joinFill(b, at.stage); });
  }
  StageBuffers stage = getBuffers(b, frame, at.stage);
  stage.warp = warp;
  kernel.emitCopies(b, tile, step, entry, stage);
}

/// i1: a copying warp waits for other thread blocks before a step of the tile at `place` in its
/// list. It is the one that announces: the others can't be more than the ring ahead of it.
static Value isPaced(ImplicitLocOpBuilder &b, const WgmmaShape &shape, Value place, Value step,
                     Value warp) {
  Value zero = sharedConstant(b, 0);
  Value all = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, place,
                                    sharedConstant(b, shape.pacedTiles));
  Value due = isEqual(b, sharedRem(b, step, shape.pacedSteps), zero);
  // The first steps begin with the kernel.
  Value later = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                      arith::OrIOp::create(b, place, step), zero);
  return both(b, both(b, all, due), both(b, later, isEqual(b, warp, zero)));
}

void WgmmaProduct::emitProducer(ImplicitLocOpBuilder &b, WgmmaKernel &kernel,
                                const Frame &frame) const {
  Value zero = sharedConstant(b, 0), one = sharedConstant(b, 1);
  Value warp = makeUniform(b, sharedDiv(b, frame.thread, 32));
  auto emitTiles = [&](ImplicitLocOpBuilder &b) {
    WgmmaKernel::Range range = kernel.tiles(b);
    StageRing::Position start = frame.ring.start(b, /*producer=*/true);
    WgmmaWork first = getTileAhead(b, kernel, range, range.from);
    SmallVector<Value> entry = kernel.readStep(b, first, zero);
    size_t numEntries = entry.size();
    auto emitTile = [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
      WgmmaWork tile = fromCarried(carried.slice(2, carried.size() - 2 - numEntries));
      WgmmaWork next = getTileAhead(b, kernel, range, sharedAdd(b, number, range.step));
      SmallVector<Value> initial(carried.take_front(2));
      llvm::append_range(initial, carried.take_back(numEntries));
      SmallVector<Value> end = emitCarry(
          b, zero, tile.steps, one, initial,
          [&](ImplicitLocOpBuilder &b, Value step, ValueRange carried) {
            StageRing::Position at{carried[0], carried[1]};
            SmallVector<Value> entry(carried.drop_front(2));
            Value ahead = sharedAdd(b, step, one);
            Value isLast = isEqual(b, ahead, tile.steps);
            SmallVector<Value> following =
                kernel.readStep(b, selectTile(b, isLast, next, tile),
                                arith::SelectOp::create(b, isLast, zero, ahead));
            if (frame.pace)
              emitIf(b, isPaced(b, shape, arith::SubIOp::create(b, number, range.from), step, warp),
                     [&](ImplicitLocOpBuilder &b) { frame.pace->wait(b); });
            fillStage(b, kernel, frame, tile, step, entry, at, warp);
            StageRing::Position next = frame.ring.next(b, at);
            SmallVector<Value> results{next.stage, next.parity};
            llvm::append_range(results, following);
            return results;
          });
      StageRing::Position behind = emitInput(b, kernel, frame, tile, {end[0], end[1]});
      SmallVector<Value> results{behind.stage, behind.parity};
      llvm::append_range(results, toCarried(next));
      if (numEntries == 0)
        return results;
      // A tile without steps has not read ahead.
      auto entry = scf::IfOp::create(
          b, isEqual(b, tile.steps, zero),
          [&](OpBuilder &builder, Location loc) {
            ImplicitLocOpBuilder b(loc, builder);
            scf::YieldOp::create(b, kernel.readStep(b, next, zero));
          },
          [&](OpBuilder &builder, Location loc) {
            scf::YieldOp::create(builder, loc, ValueRange(end).drop_front(2));
          });
      llvm::append_range(results, entry.getResults());
      return results;
    };
    SmallVector<Value> initial{start.stage, start.parity};
    llvm::append_range(initial, toCarried(first));
    llvm::append_range(initial, entry);
    emitCarry(b, range.from, range.to, range.step, initial, emitTile);
  };
  Value copies = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, warp,
                                       sharedConstant(b, shape.copyingWarps));
  emitIf(b, copies, [&](ImplicitLocOpBuilder &b) {
    Value elected = NVVM::ElectSyncOp::create(b, b.getI1Type(), Value());
    emitIf(b, elected, emitTiles);
  });
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

Value InputChunks::take(ImplicitLocOpBuilder &b, int64_t number) const {
  int64_t inStage = number % shape.inputChunks();
  if (inStage == 0)
    ring.waitFull(b, at);
  Value address = sharedAdd(b, base, sharedMul(b, at.stage, shape.stageBytes()));
  constexpr int64_t bytes = ResultChunks::chunkBytes;
  address = sharedAdd(b, address, sharedMul(b, group, shape.inputChunks() * bytes));
  return sharedAdd(b, address, sharedConstant(b, inStage * bytes));
}

void InputChunks::giveBack(ImplicitLocOpBuilder &b, int64_t number) {
  if ((number + 1) % shape.inputChunks() != 0 && number + 1 != shape.chunks())
    return;
  ring.release(b, at.stage);
  at = ring.next(b, at);
}

Value WgmmaProduct::multiply(ImplicitLocOpBuilder &b, const WgmmaTile &tile, const Frame &frame,
                             Value group, Value stage, Value sums) const {
  StageBuffers buffers = getBuffers(b, frame, stage);
  Value first = buffers.a, second = buffers.b;
  if (shape.splitColumns)
    second =
        sharedAdd(b, second, sharedMul(b, group, shape.cols / chunkCols * WgmmaTile::matrixBytes));
  else
    first = sharedAdd(b, first, sharedMul(b, group, WgmmaTile::matrixBytes));
  tile.beginGroup(b);
  Value next =
      tile.multiplyAdd(b, first, second, sums, WgmmaShape::stepDepth / WgmmaTile::stepDepth);
  tile.endGroup(b);
  return next;
}

/// Waits and releases, for step i of a tile: when the products of step i have been started, at
/// most those of one step run, so that the stage of the step before is free. `previous` is that
/// stage, or -1.
void WgmmaProduct::emitConsumer(ImplicitLocOpBuilder &b, WgmmaKernel &kernel, const Frame &frame,
                                Value group) const {
  Value zero = sharedConstant(b, 0), one = sharedConstant(b, 1), none = sharedConstant(b, -1);
  WgmmaTile tile(b.getContext(), shape.cols, shape.element, {shape.aAlongK}, {shape.bAlongK});
  Value isFirstLane = isEqual(b, sharedRem(b, frame.thread, 32), zero);
  Value buffers = sharedAdd(b, frame.base, sharedConstant(b, shape.resultOffset()));
  buffers = sharedAdd(b, buffers,
                      sharedMul(b, group, WgmmaShape::resultBuffers * ResultChunks::chunkBytes));
  // Barrier 0 is the whole block's.
  ResultChunks chunks(b, frame.thread, sharedAdd(b, group, one), buffers, WgmmaShape::resultBuffers,
                      shape.element, shape.transposeOut, shape.holdsResult);
  auto releaseIf = [&](ImplicitLocOpBuilder &b, Value stage) {
    Value there = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, stage, zero);
    emitIf(b, both(b, there, isFirstLane),
           [&](ImplicitLocOpBuilder &b) { frame.ring.release(b, stage, releasesOfWarp(shape)); });
  };
  auto multiplyStage = [&](ImplicitLocOpBuilder &b, Value stage, Value previous, Value sums) {
    Value next = multiply(b, tile, frame, group, stage, sums);
    tile.waitAllButLast(b);
    releaseIf(b, previous);
    return next;
  };

  WgmmaKernel::Range range = kernel.tiles(b);
  auto emitStep = [&](ImplicitLocOpBuilder &b, ValueRange carried) {
    StageRing::Position at{carried[0], carried[1]};
    Value previous = carried[2], sums = carried[3];
    frame.ring.waitFull(b, at);
    Value used = at.stage;
    if (shape.hasGaps) {
      Value part = kernel.takesPart(b, getBuffers(b, frame, at.stage).record, group);
      auto branch = scf::IfOp::create(
          b, part,
          [&](OpBuilder &builder, Location loc) {
            ImplicitLocOpBuilder b(loc, builder);
            Value next = multiplyStage(b, at.stage, previous, sums);
            scf::YieldOp::create(b, ValueRange{at.stage, next});
          },
          [&](OpBuilder &builder, Location loc) {
            ImplicitLocOpBuilder b(loc, builder);
            tile.waitAll(b);
            releaseIf(b, previous);
            releaseIf(b, at.stage);
            scf::YieldOp::create(b, ValueRange{none, sums});
          });
      used = branch.getResult(0);
      sums = branch.getResult(1);
    } else {
      sums = multiplyStage(b, at.stage, previous, sums);
    }
    StageRing::Position next = frame.ring.next(b, at);
    return SmallVector<Value>{next.stage, next.parity, used, sums};
  };

  // What is held of the tile before, if there is one (i32): its work, and the registers.
  int64_t numSums = shape.cols / 2, numHeld = chunks.heldRegisters(numSums);
  auto storeHeldIf = [&](ImplicitLocOpBuilder &b, Value condition, ValueRange held) {
    if (numHeld == 0)
      return;
    Value isThere = isEqual(b, held.front(), one);
    emitIf(b, both(b, condition, isThere), [&](ImplicitLocOpBuilder &b) {
      WgmmaWork work = fromCarried(held.drop_front().drop_back(numHeld));
      kernel.emitHeld(b, work, group, chunks, SmallVector<Value>(held.take_back(numHeld)), numSums);
    });
  };

  SmallVector<Value> first = toCarried(getTileAhead(b, kernel, range, range.from));
  size_t numAhead = shape.readsTiles ? first.size() : 0;
  auto emitTile = [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
    WgmmaWork work =
        shape.readsTiles ? fromCarried(carried.slice(2, numAhead)) : kernel.getTile(b, number);
    ValueRange held = carried.drop_front(2 + numAhead);
    SmallVector<Value> following;
    if (shape.readsTiles)
      following = toCarried(getTileAhead(b, kernel, range, sharedAdd(b, number, range.step)));
    kernel.beginTile(b, work, group, frame.thread);
    SmallVector<Value> initial(carried.take_front(2));
    initial.append({none, tile.zeros(b).front()});
    SmallVector<Value> end =
        emitCarry(b, zero, work.steps, one, initial,
                  [&](ImplicitLocOpBuilder &b, Value step, ValueRange carried) {
                    SmallVector<Value> next = emitStep(b, carried);
                    // While the products of the first step run.
                    storeHeldIf(b, isEqual(b, step, zero), held);
                    return next;
                  });
    storeHeldIf(b, isEqual(b, work.steps, zero), held);
    kernel.prepareResult(b, work, group, frame.thread);
    SmallVector<Value> sums = tile.finish(b, end[3]);
    releaseIf(b, end[2]);
    InputChunks input(shape, frame.ring, frame.base, group, {end[0], end[1]});
    SmallVector<Value> rest = kernel.emitResult(b, work, group, chunks, input, sums);
    SmallVector<Value> results{input.position().stage, input.position().parity};
    llvm::append_range(results, following);
    if (numHeld != 0) {
      results.push_back(one);
      llvm::append_range(results, toCarried(work));
      llvm::append_range(results, rest);
    }
    return results;
  };
  StageRing::Position start = frame.ring.start(b, /*producer=*/false);
  SmallVector<Value> initial{start.stage, start.parity};
  llvm::append_range(initial, ArrayRef(first).take_front(numAhead));
  if (numHeld != 0) {
    initial.push_back(zero);
    llvm::append_range(initial, first);
    initial.append(numHeld, zero);
  }
  SmallVector<Value> end = emitCarry(b, range.from, range.to, range.step, initial, emitTile);
  storeHeldIf(b, arith::ConstantIntOp::create(b, b.getI1Type(), 1),
              ValueRange(end).drop_front(2 + numAhead));
  chunks.emitWait(b);
}
