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

void WgmmaShape::fitStages(int64_t wanted, int64_t limit) {
  stages = wanted;
  while (stages > 2 && sharedBytes() > limit)
    --stages;
}

int64_t WgmmaShape::freeRegisters() const {
  constexpr int64_t other = 56;
  return consumerRegisters - cols / 2 - other;
}

static Value isEqual(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lhs, rhs);
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
  LaunchShape launchShape{blocks, WgmmaShape::threads, shape.sharedBytes()};
  auto emitKernel = [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
    std::unique_ptr<WgmmaKernel> kernel = makeKernel(b, mapping);
    Value thread = arith::IndexCastOp::create(b, b.getI32Type(),
                                              gpu::ThreadIdOp::create(b, gpu::Dimension::x));
    Value base = alignedSharedBase(b);
    Value barriers = sharedAdd(b, base, sharedConstant(b, shape.barrierOffset()));
    Frame frame{base, sharedRem(b, thread, warpgroupThreads), StageRing(barriers, shape.stages)};
    emitIf(b, isEqual(b, thread, sharedConstant(b, 0)), [&](ImplicitLocOpBuilder &b) {
      frame.ring.emitInit(b, WgmmaShape::groups * warpsOfGroup);
    });
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
  return {first, second, frame.ring.full(b, stage)};
}

void WgmmaProduct::emitProducer(ImplicitLocOpBuilder &b, WgmmaKernel &kernel,
                                const Frame &frame) const {
  Value zero = sharedConstant(b, 0), one = sharedConstant(b, 1);
  auto emitTiles = [&](ImplicitLocOpBuilder &b) {
    WgmmaKernel::Range range = kernel.tiles(b);
    StageRing::Position start = frame.ring.start(b, /*producer=*/true);
    auto emitTile = [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
      WgmmaWork tile = kernel.getTile(b, number);
      SmallVector<Value> initial(carried);
      llvm::append_range(initial, kernel.readStep(b, tile, zero));
      SmallVector<Value> end =
          emitCarry(b, zero, tile.steps, one, initial,
                    [&](ImplicitLocOpBuilder &b, Value step, ValueRange carried) {
                      StageRing::Position at{carried[0], carried[1]};
                      SmallVector<Value> entry(carried.drop_front(2));
                      SmallVector<Value> following =
                          kernel.readStep(b, tile, sharedAdd(b, step, one));
                      frame.ring.waitEmpty(b, at);
                      frame.ring.expectBytes(b, at.stage, kernel.stepBytes(b, tile, entry));
                      kernel.emitCopies(b, tile, step, entry, getBuffers(b, frame, at.stage));
                      StageRing::Position next = frame.ring.next(b, at);
                      SmallVector<Value> results{next.stage, next.parity};
                      llvm::append_range(results, following);
                      return results;
                    });
      return SmallVector<Value>{end[0], end[1]};
    };
    emitCarry(b, range.from, range.to, range.step, {start.stage, start.parity}, emitTile);
  };
  Value warp = makeUniform(b, sharedDiv(b, frame.thread, 32));
  emitIf(b, isEqual(b, warp, zero), [&](ImplicitLocOpBuilder &b) {
    Value elected = NVVM::ElectSyncOp::create(b, b.getI1Type(), Value());
    emitIf(b, elected, emitTiles);
  });
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

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
                      shape.element, shape.transposeOut);
  auto releaseIf = [&](ImplicitLocOpBuilder &b, Value stage) {
    Value there = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, stage, zero);
    emitIf(b, both(b, there, isFirstLane),
           [&](ImplicitLocOpBuilder &b) { frame.ring.release(b, stage); });
  };
  auto multiplyStage = [&](ImplicitLocOpBuilder &b, Value stage, Value previous, Value sums) {
    Value next = multiply(b, tile, frame, group, stage, sums);
    tile.waitAllButLast(b);
    releaseIf(b, previous);
    return next;
  };

  auto emitStep = [&](ImplicitLocOpBuilder &b, const WgmmaWork &work, Value step,
                      ValueRange carried) {
    StageRing::Position at{carried[0], carried[1]};
    Value previous = carried[2], sums = carried[3];
    SmallVector<Value> following;
    if (shape.hasGaps)
      following = kernel.readStep(b, work, sharedAdd(b, step, one));
    frame.ring.waitFull(b, at);
    Value used = at.stage;
    if (shape.hasGaps) {
      Value part = kernel.takesPart(b, llvm::to_vector(carried.drop_front(4)), group);
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
    SmallVector<Value> results{next.stage, next.parity, used, sums};
    llvm::append_range(results, following);
    return results;
  };

  auto emitTile = [&](ImplicitLocOpBuilder &b, Value number, ValueRange carried) {
    WgmmaWork work = kernel.getTile(b, number);
    kernel.beginTile(b, work, group, frame.thread);
    SmallVector<Value> initial(carried);
    initial.append({none, tile.zeros(b).front()});
    if (shape.hasGaps)
      llvm::append_range(initial, kernel.readStep(b, work, zero));
    SmallVector<Value> end =
        emitCarry(b, zero, work.steps, one, initial,
                  [&](ImplicitLocOpBuilder &b, Value step, ValueRange carried) {
                    return emitStep(b, work, step, carried);
                  });
    kernel.prepareResult(b, work, group, frame.thread);
    SmallVector<Value> sums = tile.finish(b, end[3]);
    releaseIf(b, end[2]);
    kernel.emitResult(b, work, group, chunks, sums);
    return SmallVector<Value>{end[0], end[1]};
  };
  WgmmaKernel::Range range = kernel.tiles(b);
  StageRing::Position start = frame.ring.start(b, /*producer=*/false);
  emitCarry(b, range.from, range.to, range.step, {start.stage, start.parity}, emitTile);
  chunks.emitWait(b);
}
