// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StageRing.h"

#include "SharedTile.h"
#include "TensorMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t barrierBytes = 8;
/// Hint for how long one try of a wait may sleep, in nanoseconds.
static constexpr int64_t waitTicks = 10000000;

Value StageRing::full(ImplicitLocOpBuilder &b, Value stage) const {
  return sharedPointer(b, sharedAdd(b, barriers, sharedMul(b, stage, barrierBytes)));
}

Value StageRing::empty(ImplicitLocOpBuilder &b, Value stage) const {
  Value first = sharedAdd(b, barriers, sharedConstant(b, barrierBytes * stages));
  return sharedPointer(b, sharedAdd(b, first, sharedMul(b, stage, barrierBytes)));
}

void StageRing::emitInit(ImplicitLocOpBuilder &b, int64_t consumerWarps) const {
  for (int64_t i = 0; i < stages; ++i) {
    Value stage = sharedConstant(b, i);
    NVVM::MBarrierInitOp::create(b, full(b, stage), sharedConstant(b, 1), Value());
    NVVM::MBarrierInitOp::create(b, empty(b, stage), sharedConstant(b, consumerWarps), Value());
  }
  NVVM::FenceMbarrierInitOp::create(b);
}

StageRing::Position StageRing::start(ImplicitLocOpBuilder &b, bool producer) const {
  return {sharedConstant(b, 0), sharedConstant(b, producer ? 1 : 0)};
}

StageRing::Position StageRing::next(ImplicitLocOpBuilder &b, const Position &position) const {
  Value one = sharedConstant(b, 1);
  Value next = sharedAdd(b, position.stage, one);
  Value wraps = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, next, sharedConstant(b, stages));
  Value flipped = arith::XOrIOp::create(b, position.parity, one);
  return {arith::SelectOp::create(b, wraps, sharedConstant(b, 0), next),
          arith::SelectOp::create(b, wraps, flipped, position.parity)};
}

static void emitWait(ImplicitLocOpBuilder &b, Value barrier, Value parity) {
  NVVM::MBarrierTryWaitParityOp::create(b, barrier, parity, sharedConstant(b, waitTicks));
}

void StageRing::waitFull(ImplicitLocOpBuilder &b, const Position &position) const {
  emitWait(b, full(b, position.stage), position.parity);
}

void StageRing::waitEmpty(ImplicitLocOpBuilder &b, const Position &position) const {
  emitWait(b, empty(b, position.stage), position.parity);
}

void StageRing::expectBytes(ImplicitLocOpBuilder &b, Value stage, Value bytes) const {
  NVVM::MBarrierArriveExpectTxOp::create(b, Type(), full(b, stage), bytes, NVVM::MemScopeKind::CTA,
                                         /*relaxed=*/false, Value());
}

void StageRing::release(ImplicitLocOpBuilder &b, Value stage) const {
  NVVM::MBarrierArriveOp::create(b, Type(), empty(b, stage), Value());
}
