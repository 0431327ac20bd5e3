// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WgmmaProduct.h"

#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "../Kit/SharedTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t producerRegisters = 40;
static constexpr int64_t consumerRegisters = 232;
static constexpr int64_t warpgroupThreads = 128;
static constexpr int64_t warpsOfWarpgroup = 4;

void WgmmaShape::fitStages(int64_t wanted, int64_t limit) {
  stages = wanted;
  while (stages > 2 && sharedBytes() > limit)
    --stages;
}

int64_t WgmmaShape::freeRegisters() const {
  // This estimate includes the fields of the current tile and of the next one.
  constexpr int64_t other = 72;
  return consumerRegisters - cols / 2 - other;
}

/// Emits a cluster barrier: all threads of the cluster have arrived, and see each other's writes.
static void emitClusterBarrier(ImplicitLocOpBuilder &b) {
  // The aligned form is not allowed: the lanes of a producer warp may arrive from different
  // branches.
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
        makeKernel,
    LaunchMode mode) const {
  SmallVector<Value> arguments(maps);
  llvm::append_range(arguments, operands);
  LaunchShape launchShape{blocks, WgmmaShape::threads, shape.sharedBytes(), shape.cluster, mode};
  auto emitKernel = [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
    std::unique_ptr<WgmmaKernel> kernel = makeKernel(b, mapping);
    Value thread = arith::IndexCastOp::create(b, b.getI32Type(),
                                              gpu::ThreadIdOp::create(b, gpu::Dimension::x));
    Value base = alignedSharedBase(b);
    Value barriers = Int(b, base) + shape.barrierOffset();
    WgmmaFrame frame{base, Int(b, thread) % warpgroupThreads,
                     StageRing(barriers, shape.stages, shape.cluster), std::nullopt};
    if (shape.throttledTiles > 0)
      frame.throttle = Throttle::create(b, shape.blocks);
    emitIf(b, isEqual(b, thread, i32Constant(b, 0)), [&](ImplicitLocOpBuilder &b) {
      frame.ring.emitInit(b, WgmmaShape::groups * warpsOfWarpgroup * shape.releasesOfWarp(),
                          shape.producerWarps);
    });
    // The mbarriers must be initialised before any thread of the cluster waits or arrives there.
    if (shape.cluster > 1)
      emitClusterBarrier(b);
    else
      emitBarrier(b);
    Value warpgroup = makeUniform(b, Int(b, thread) / warpgroupThreads);
    auto produce = [&](OpBuilder &builder, Location loc) {
      ImplicitLocOpBuilder b(loc, builder);
      NVVM::SetMaxRegisterOp::create(b, producerRegisters, NVVM::SetMaxRegisterAction::decrease);
      emitProducer(b, *kernel, frame);
      scf::YieldOp::create(b);
    };
    auto consume = [&](OpBuilder &builder, Location loc) {
      ImplicitLocOpBuilder b(loc, builder);
      NVVM::SetMaxRegisterOp::create(b, consumerRegisters, NVVM::SetMaxRegisterAction::increase);
      emitConsumer(b, *kernel, frame, Int(b, warpgroup) + (-1));
      scf::YieldOp::create(b);
    };
    scf::IfOp::create(b, isEqual(b, warpgroup, i32Constant(b, 0)), produce, consume);
    // A CTA must not end while another CTA may still load to its shared memory or arrive at its
    // barriers.
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

StageBuffers WgmmaFrame::buffers(ImplicitLocOpBuilder &b, const WgmmaShape &shape,
                                 Value stage) const {
  Value first = Int(b, base) + Int(b, stage) * shape.stageBytes();
  Value second = Int(b, first) + (shape.aMatrices() * shape.matrixBytes());
  Value record = Int(b, base) + shape.recordOffset();
  record = Int(b, record) + Int(b, stage) * WgmmaShape::recordBytes;
  return {first, second, record, ring.full(b, stage), Value()};
}

/// Emits `body` for the one thread that issues the loads of a warp: the elected one of all lanes,
/// or the calling thread if `elected` is null.
static void emitElected(ImplicitLocOpBuilder &b, Value elected,
                        function_ref<void(ImplicitLocOpBuilder &)> body) {
  if (elected)
    emitIf(b, elected, body);
  else
    body(b);
}

StageRing::Position WgmmaProduct::emitInput(ImplicitLocOpBuilder &b, WgmmaKernel &kernel,
                                            const WgmmaFrame &frame, const TileRun &run,
                                            StageRing::Position at) const {
  for (int64_t first = 0; first < shape.subtiles() && shape.hasInput;
       first += shape.inputSubtiles()) {
    int64_t count = std::min(shape.inputSubtiles(), shape.subtiles() - first);
    emitElected(b, run.elected, [&](ImplicitLocOpBuilder &b) {
      frame.ring.waitEmpty(b, at);
      int64_t bytes = WgmmaShape::groups * count * SubtileStore::subtileBytes;
      frame.ring.expectTx(b, at.stage, i32Constant(b, bytes));
      StageBuffers stage = frame.buffers(b, shape, at.stage);
      for (int64_t warpgroup = 0; warpgroup < WgmmaShape::groups; ++warpgroup)
        for (int64_t i = 0; i < count; ++i) {
          int64_t offset = (warpgroup * shape.inputSubtiles() + i) * SubtileStore::subtileBytes;
          kernel.getInputLoads()->emitInputCopy(b, run.tile, warpgroup, first + i,
                                                Int(b, stage.a) + offset, stage.barrier);
        }
    });
    at = frame.ring.next(b, at);
  }
  return at;
}

WgmmaWork WgmmaKernel::getTileAhead(ImplicitLocOpBuilder &b, const TileRange &range, Value number) {
  Value last = Int(b, range.to) + (-1);
  Value clamped = arith::MinSIOp::create(b, number, last);
  return getTile(b, arith::MaxSIOp::create(b, clamped, i32Constant(b, 0)));
}

SmallVector<Value> WgmmaWork::toCarried() const {
  SmallVector<Value> values{steps};
  llvm::append_range(values, fields);
  return values;
}

WgmmaWork WgmmaWork::fromCarried(ValueRange values) {
  return {values.front(), SmallVector<Value>(values.drop_front())};
}

/// Returns the record batch of a tile that begins with k step `first`: what the tables of `kernel`
/// say about step `first + lane` in each lane.
static SmallVector<Value> readBatch(ImplicitLocOpBuilder &b, WgmmaKernel &kernel,
                                    const WgmmaWork &tile, Value first, Value lane) {
  return kernel.getStepTables()->readStep(b, tile, Int(b, first) + lane);
}

/// Returns `first` if `condition` is true, else `second`.
static WgmmaWork selectTile(ImplicitLocOpBuilder &b, Value condition, const WgmmaWork &first,
                            const WgmmaWork &second) {
  SmallVector<Value> values;
  for (auto [one, other] : llvm::zip_equal(first.toCarried(), second.toCarried()))
    values.push_back(arith::SelectOp::create(b, condition, one, other));
  return WgmmaWork::fromCarried(values);
}

/// Producer warp 0 announces the bytes of all warps. Loads of other warps may complete before that:
/// the transaction count of an mbarrier may be negative meanwhile, and the phase cannot end before
/// all producer warps have arrived.
void WgmmaProduct::fillStage(ImplicitLocOpBuilder &b, WgmmaKernel &kernel, const WgmmaFrame &frame,
                             const WgmmaWork &tile, Value step, ArrayRef<Value> entry,
                             StageRing::Position at, Value warp) const {
  frame.ring.waitEmpty(b, at);
  StageBuffers stage = frame.buffers(b, shape, at.stage);
  auto announce = [&](ImplicitLocOpBuilder &b) {
    if (shape.hasGaps)
      kernel.getStepTables()->storeStep(b, entry, stage.record);
    frame.ring.expectTx(b, at.stage, kernel.stepBytes(b, tile, entry));
  };
  if (shape.producerWarps == 1) {
    announce(b);
  } else {
    Value zero = i32Constant(b, 0);
    emitIf(b, isEqual(b, warp, zero), announce);
    emitIf(b, arith::CmpIOp::create(b, arith::CmpIPredicate::ne, warp, zero),
           [&](ImplicitLocOpBuilder &b) { frame.ring.arriveFull(b, at.stage); });
  }
  stage.warp = warp;
  kernel.emitCopies(b, tile, step, entry, stage);
}

/// Returns i1: producer warp `warp` waits for the other CTAs before k step `step` of the tile at
/// position `position` of its work list. Only warp 0, which announces the bytes, waits: the other
/// producer warps can't be further ahead of it than the length of the ring.
static Value isThrottled(ImplicitLocOpBuilder &b, const WgmmaShape &shape, Value position,
                         Value step, Value warp) {
  Value zero = i32Constant(b, 0);
  Value all = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, position,
                                    i32Constant(b, shape.throttledTiles));
  Value due = isEqual(b, Int(b, step) % shape.throttleInterval, zero);
  // All CTAs begin the first k step together anyway, when the kernel starts.
  Value later = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                      arith::OrIOp::create(b, position, step), zero);
  return both(b, both(b, all, due), both(b, later, isEqual(b, warp, zero)));
}

StageRing::Position WgmmaProduct::emitSteps(ImplicitLocOpBuilder &b, WgmmaKernel &kernel,
                                            const WgmmaFrame &frame, const TileRun &run,
                                            const StepRange &steps, StageRing::Position at) const {
  SmallVector<Value> end =
      emitCarry(b, steps.from, steps.to, i32Constant(b, 1), at.toCarried(),
                [&](ImplicitLocOpBuilder &b, Value step, ValueRange carried) {
                  StageRing::Position at = StageRing::Position::fromCarried(carried);
                  SmallVector<Value> entry;
                  for (Value word : steps.batch)
                    entry.push_back(readLane(b, word, arith::SubIOp::create(b, step, steps.from)));
                  emitElected(b, run.elected, [&](ImplicitLocOpBuilder &b) {
                    if (frame.throttle)
                      emitIf(b, isThrottled(b, shape, run.position, step, run.warp),
                             [&](ImplicitLocOpBuilder &b) { frame.throttle->wait(b); });
                    fillStage(b, kernel, frame, run.tile, step, entry, at, run.warp);
                  });
                  StageRing::Position next = frame.ring.next(b, at);
                  return next.toCarried();
                });
  return StageRing::Position::fromCarried(end);
}

SmallVector<Value> WgmmaProduct::emitBatches(ImplicitLocOpBuilder &b, WgmmaKernel &kernel,
                                             const WgmmaFrame &frame, const TileRun &run,
                                             ValueRange initial) const {
  Value zero = i32Constant(b, 0), count = run.tile.steps;
  SmallVector<Value> end =
      emitCarry(b, zero, count, i32Constant(b, warpSize), initial,
                [&](ImplicitLocOpBuilder &b, Value first, ValueRange carried) {
                  StageRing::Position at = StageRing::Position::fromCarried(carried);
                  Value ahead = Int(b, first) + i32Constant(b, warpSize);
                  Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, ahead, count);
                  SmallVector<Value> following =
                      readBatch(b, kernel, selectTile(b, isLast, run.next, run.tile),
                                arith::SelectOp::create(b, isLast, zero, ahead), run.lane);
                  StepRange steps{first, arith::MinSIOp::create(b, ahead, count),
                                  carried.drop_front(StageRing::Position::numCarried)};
                  SmallVector<Value> results =
                      emitSteps(b, kernel, frame, run, steps, at).toCarried();
                  llvm::append_range(results, following);
                  return results;
                });
  // A tile without k steps has not read the first batch of the next tile.
  SmallVector<Value> batch = emitChoices(
      b, isEqual(b, count, zero),
      [&](ImplicitLocOpBuilder &b) { return readBatch(b, kernel, run.next, zero, run.lane); },
      [&](ImplicitLocOpBuilder &) {
        return llvm::to_vector(ValueRange(end).drop_front(StageRing::Position::numCarried));
      });
  end.truncate(StageRing::Position::numCarried);
  llvm::append_range(end, batch);
  return end;
}

void WgmmaProduct::emitTiles(ImplicitLocOpBuilder &b, WgmmaKernel &kernel, const WgmmaFrame &frame,
                             Value warp, Value elected) const {
  Value zero = i32Constant(b, 0);
  Value lane = elected ? Value(Int(b, frame.thread) % warpSize) : Value();
  TileRange range = kernel.tiles(b);
  WgmmaWork first = kernel.getTileAhead(b, range, range.from);
  SmallVector<Value> batch;
  if (elected)
    batch = readBatch(b, kernel, first, zero, lane);
  const size_t batchWords = batch.size();
  SmallVector<Value> initial = frame.ring.start(b, /*producer=*/true).toCarried();
  llvm::append_range(initial, batch);
  llvm::append_range(initial, first.toCarried());
  const size_t numOthers = StageRing::Position::numCarried + batchWords;
  emitCarry(
      b, range.from, range.to, range.step, initial,
      [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
        TileRun run{WgmmaWork::fromCarried(carried.drop_front(numOthers)),
                    kernel.getTileAhead(b, range, Int(b, number) + range.step),
                    arith::SubIOp::create(b, number, range.from),
                    warp,
                    lane,
                    elected};
        SmallVector<Value> end(carried.take_front(numOthers));
        if (elected)
          end = emitBatches(b, kernel, frame, run, end);
        else
          end = emitSteps(b, kernel, frame, run, {zero, run.tile.steps, {}},
                          StageRing::Position::fromCarried(end))
                    .toCarried();
        SmallVector<Value> results =
            emitInput(b, kernel, frame, run, StageRing::Position::fromCarried(end)).toCarried();
        llvm::append_range(results, ValueRange(end).drop_front(StageRing::Position::numCarried));
        llvm::append_range(results, run.next.toCarried());
        return results;
      });
}

void WgmmaProduct::emitProducer(ImplicitLocOpBuilder &b, WgmmaKernel &kernel,
                                const WgmmaFrame &frame) const {
  Value warp = makeUniform(b, Int(b, frame.thread) / warpSize);
  Value copies = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, warp,
                                       i32Constant(b, shape.producerWarps));
  // One elected thread of each producer warp issues all its loads. The other lanes hold records, or
  // skip to the end if there are none.
  emitIf(b, copies, [&](ImplicitLocOpBuilder &b) {
    Value elected = NVVM::ElectSyncOp::create(b, b.getI1Type(), Value());
    if (kernel.getStepTables())
      return emitTiles(b, kernel, frame, warp, elected);
    emitIf(b, elected, [&](ImplicitLocOpBuilder &b) {
      emitTiles(b, kernel, frame, warp, /*elected=*/Value());
    });
  });
}
