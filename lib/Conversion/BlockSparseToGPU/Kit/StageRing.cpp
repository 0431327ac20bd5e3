// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StageRing.h"

#include "../../Device/Assembly.h"
#include "../../Device/Loops.h"
#include "SharedTile.h"
#include "TensorMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t barrierBytes = 8;
/// Hint for how long one try_wait may suspend the thread, in nanoseconds.
static constexpr int64_t waitTicks = 10000000;

Value StageRing::full(ImplicitLocOpBuilder &b, Value stage) const {
  return sharedPointer(b, Int(b, barriers) + Int(b, stage) * barrierBytes);
}

Value StageRing::empty(ImplicitLocOpBuilder &b, Value stage) const {
  Value first = Int(b, barriers) + (barrierBytes * stages);
  return sharedPointer(b, Int(b, first) + Int(b, stage) * barrierBytes);
}

void StageRing::emitInit(ImplicitLocOpBuilder &b, int64_t releases, int64_t producers) const {
  for (int64_t i = 0; i < stages; ++i) {
    Value stage = i32Constant(b, i);
    NVVM::MBarrierInitOp::create(b, full(b, stage), i32Constant(b, producers), Value());
    NVVM::MBarrierInitOp::create(b, empty(b, stage), i32Constant(b, releases * cluster), Value());
  }
  NVVM::FenceMbarrierInitOp::create(b);
}

StageRing::Position StageRing::start(ImplicitLocOpBuilder &b, bool producer) const {
  return {i32Constant(b, 0), i32Constant(b, producer ? 1 : 0)};
}

StageRing::Position StageRing::next(ImplicitLocOpBuilder &b, const Position &position) const {
  Value one = i32Constant(b, 1);
  Value next = Int(b, position.stage) + one;
  Value wraps = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, next, i32Constant(b, stages));
  Value flipped = arith::XOrIOp::create(b, position.parity, one);
  return {arith::SelectOp::create(b, wraps, i32Constant(b, 0), next),
          arith::SelectOp::create(b, wraps, flipped, position.parity)};
}

static void emitWait(ImplicitLocOpBuilder &b, Value barrier, Value parity) {
  NVVM::MBarrierTryWaitParityOp::create(b, barrier, parity, i32Constant(b, waitTicks));
}

void StageRing::waitFull(ImplicitLocOpBuilder &b, const Position &position) const {
  emitWait(b, full(b, position.stage), position.parity);
}

void StageRing::waitEmpty(ImplicitLocOpBuilder &b, const Position &position) const {
  emitWait(b, empty(b, position.stage), position.parity);
}

void StageRing::expectTx(ImplicitLocOpBuilder &b, Value stage, Value bytes) const {
  NVVM::MBarrierArriveExpectTxOp::create(b, Type(), full(b, stage), bytes, NVVM::MemScopeKind::CTA,
                                         /*relaxed=*/false, Value());
}

/// Returns `arrivals` as an operand of an arrival; null stands for 1.
static Value countOf(ImplicitLocOpBuilder &b, int64_t arrivals) {
  return arrivals == 1 ? Value() : i32Constant(b, arrivals);
}

void StageRing::arriveFull(ImplicitLocOpBuilder &b, Value stage, int64_t arrivals) const {
  NVVM::MBarrierArriveOp::create(b, Type(), full(b, stage), countOf(b, arrivals));
}

/// Arrives at the barrier of the CTA with cluster rank `rank` that has the same shared-memory
/// address as `barrier` has in this CTA. The arrival needs no release semantics at cluster scope:
/// the arriving warp has only read the stage, and its results are used already, so it has no writes
/// to publish. `.release.cluster` would wait for all outstanding memory accesses at each arrival
/// (MEMBAR.ALL.GPU), which halved the speed of complete kernels.
static void emitArriveAt(ImplicitLocOpBuilder &b, Value barrier, Value rank, int64_t arrivals) {
  Value address = LLVM::PtrToIntOp::create(b, b.getI32Type(), barrier);
  emitAssembly(b,
               "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, $0, $1;\n"
               "mbarrier.arrive.shared::cluster.b64 _, [remote], " +
                   Twine(arrivals) + ";\n}",
               "r,r", /*result=*/Type(), {address, rank});
}

void StageRing::release(ImplicitLocOpBuilder &b, Value stage, int64_t arrivals) const {
  if (cluster == 1) {
    NVVM::MBarrierArriveOp::create(b, Type(), empty(b, stage), countOf(b, arrivals));
    return;
  }
  for (int64_t rank = 0; rank < cluster; ++rank)
    emitArriveAt(b, empty(b, stage), i32Constant(b, rank), arrivals);
}

void StageRing::releaseByWarp(ImplicitLocOpBuilder &b, Value stage, Value isFirstLane) const {
  NVVM::SyncWarpOp::create(b, i32Constant(b, -1));
  emitIf(b, isFirstLane, [&](ImplicitLocOpBuilder &b) { release(b, stage); });
}

void StageRing::releaseIf(ImplicitLocOpBuilder &b, Value stage, Value releases,
                          int64_t arrivals) const {
  Value there = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, stage, i32Constant(b, 0));
  emitIf(b, both(b, there, releases),
         [&](ImplicitLocOpBuilder &b) { release(b, stage, arrivals); });
}
