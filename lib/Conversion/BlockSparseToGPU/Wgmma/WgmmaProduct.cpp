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
        makeKernel) const {
  SmallVector<Value> arguments(maps);
  llvm::append_range(arguments, operands);
  LaunchShape launchShape{blocks, WgmmaShape::threads, shape.sharedBytes(), shape.cluster};
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

StageRing::Position WgmmaProduct::emitInput(ImplicitLocOpBuilder &b, WgmmaKernel &kernel,
                                            const WgmmaFrame &frame, const WgmmaWork &tile,
                                            StageRing::Position at) const {
  for (int64_t first = 0; first < shape.subtiles() && shape.hasInput;
       first += shape.inputSubtiles()) {
    int64_t count = std::min(shape.inputSubtiles(), shape.subtiles() - first);
    frame.ring.waitEmpty(b, at);
    int64_t bytes = WgmmaShape::groups * count * SubtileStore::subtileBytes;
    frame.ring.expectTx(b, at.stage, i32Constant(b, bytes));
    StageBuffers stage = frame.buffers(b, shape, at.stage);
    for (int64_t warpgroup = 0; warpgroup < WgmmaShape::groups; ++warpgroup)
      for (int64_t i = 0; i < count; ++i) {
        int64_t offset = (warpgroup * shape.inputSubtiles() + i) * SubtileStore::subtileBytes;
        kernel.getInputLoads()->emitInputCopy(b, tile, warpgroup, first + i,
                                              Int(b, stage.a) + offset, stage.barrier);
      }
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

/// Returns what the tables of `kernel` say about a step; nothing if it has no tables.
static SmallVector<Value> readStep(ImplicitLocOpBuilder &b, WgmmaKernel &kernel,
                                   const WgmmaWork &tile, Value step) {
  WgmmaStepTables *tables = kernel.getStepTables();
  return tables ? tables->readStep(b, tile, step) : SmallVector<Value>();
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
  auto announce = [&](ImplicitLocOpBuilder &b) {
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
  StageBuffers stage = frame.buffers(b, shape, at.stage);
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

SmallVector<Value> WgmmaProduct::emitSteps(ImplicitLocOpBuilder &b, WgmmaKernel &kernel,
                                           const WgmmaFrame &frame, const TileRun &run,
                                           ValueRange initial) const {
  Value zero = i32Constant(b, 0), one = i32Constant(b, 1);
  return emitCarry(b, zero, run.tile.steps, one, initial,
                   [&](ImplicitLocOpBuilder &b, Value step, ValueRange carried) {
                     StageRing::Position at = StageRing::Position::fromCarried(carried);
                     SmallVector<Value> entry(carried.drop_front(StageRing::Position::numCarried));
                     Value ahead = Int(b, step) + one;
                     Value isLast = isEqual(b, ahead, run.tile.steps);
                     SmallVector<Value> following =
                         readStep(b, kernel, selectTile(b, isLast, run.next, run.tile),
                                  arith::SelectOp::create(b, isLast, zero, ahead));
                     if (frame.throttle)
                       emitIf(b, isThrottled(b, shape, run.position, step, run.warp),
                              [&](ImplicitLocOpBuilder &b) { frame.throttle->wait(b); });
                     fillStage(b, kernel, frame, run.tile, step, entry, at, run.warp);
                     StageRing::Position next = frame.ring.next(b, at);
                     SmallVector<Value> results = next.toCarried();
                     llvm::append_range(results, following);
                     return results;
                   });
}

void WgmmaProduct::emitProducer(ImplicitLocOpBuilder &b, WgmmaKernel &kernel,
                                const WgmmaFrame &frame) const {
  Value zero = i32Constant(b, 0);
  Value warp = makeUniform(b, Int(b, frame.thread) / 32);
  auto emitTiles = [&](ImplicitLocOpBuilder &b) {
    TileRange range = kernel.tiles(b);
    StageRing::Position start = frame.ring.start(b, /*producer=*/true);
    WgmmaWork first = kernel.getTileAhead(b, range, range.from);
    SmallVector<Value> entry = readStep(b, kernel, first, zero);
    size_t numEntries = entry.size();
    auto emitTile = [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
      WgmmaWork tile = WgmmaWork::fromCarried(
          carried.drop_front(StageRing::Position::numCarried).drop_back(numEntries));
      WgmmaWork next = kernel.getTileAhead(b, range, Int(b, number) + range.step);
      SmallVector<Value> initial = StageRing::Position::fromCarried(carried).toCarried();
      llvm::append_range(initial, carried.take_back(numEntries));
      Value position = arith::SubIOp::create(b, number, range.from);
      SmallVector<Value> end = emitSteps(b, kernel, frame, {tile, next, position, warp}, initial);
      StageRing::Position behind =
          emitInput(b, kernel, frame, tile, StageRing::Position::fromCarried(end));
      SmallVector<Value> results = behind.toCarried();
      llvm::append_range(results, next.toCarried());
      if (numEntries == 0)
        return results;
      // A tile without k steps has not read the first entry of the next tile.
      auto entry = scf::IfOp::create(
          b, isEqual(b, tile.steps, zero),
          [&](OpBuilder &builder, Location loc) {
            ImplicitLocOpBuilder b(loc, builder);
            scf::YieldOp::create(b, readStep(b, kernel, next, zero));
          },
          [&](OpBuilder &builder, Location loc) {
            scf::YieldOp::create(builder, loc,
                                 ValueRange(end).drop_front(StageRing::Position::numCarried));
          });
      llvm::append_range(results, entry.getResults());
      return results;
    };
    SmallVector<Value> initial = start.toCarried();
    llvm::append_range(initial, first.toCarried());
    llvm::append_range(initial, entry);
    emitCarry(b, range.from, range.to, range.step, initial, emitTile);
  };
  Value copies = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, warp,
                                       i32Constant(b, shape.producerWarps));
  // One elected thread of each producer warp issues all its loads; the other lanes skip to the end.
  emitIf(b, copies, [&](ImplicitLocOpBuilder &b) {
    Value elected = NVVM::ElectSyncOp::create(b, b.getI1Type(), Value());
    emitIf(b, elected, emitTiles);
  });
}
