// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Throttle.h"

#include "SharedTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr unsigned globalSpace = 1;
/// Largest number of reads of the counter in one wait; a read takes about half a microsecond.
static constexpr int64_t mostReads = 16;

Throttle Throttle::create(ImplicitLocOpBuilder &b, int64_t blocks) {
  auto kernels = b.getInsertionBlock()->getParentOp()->getParentOfType<gpu::GPUModuleOp>();
  std::string name;
  for (int number = 0; name.empty() || kernels.lookupSymbol(name); ++number)
    name = "throttle" + std::to_string(number);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(kernels.getBody());
    LLVM::GlobalOp::create(b, b.getI32Type(), /*isConstant=*/false, LLVM::Linkage::Internal, name,
                           b.getI32IntegerAttr(0), /*alignment=*/4, globalSpace);
  }
  Throttle throttle;
  throttle.blocks = blocks;
  throttle.counter =
      LLVM::AddressOfOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), globalSpace), name);
  return throttle;
}

void Throttle::wait(ImplicitLocOpBuilder &b) const {
  Value one = i32Constant(b, 1), count = i32Constant(b, blocks);
  // The counter is not reset between launches: the arrivals of a round are `blocks` consecutive
  // values. It wraps to 0 after the largest number of complete rounds that an i32 can count.
  Value last = i32Constant(b, std::numeric_limits<int32_t>::max() / blocks * blocks - 1);
  Value before = LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::uinc_wrap, counter, last,
                                           LLVM::AtomicOrdering::monotonic);
  Value round = arith::DivUIOp::create(b, before, count);
  Value end = arith::MulIOp::create(b, arith::AddIOp::create(b, round, one), count);
  scf::WhileOp::create(
      b, TypeRange(b.getI32Type()), ValueRange(i32Constant(b, mostReads)),
      [&](OpBuilder &builder, Location loc, ValueRange carried) {
        ImplicitLocOpBuilder b(loc, builder);
        Value now = LLVM::LoadOp::create(b, b.getI32Type(), counter, /*alignment=*/4,
                                         /*isVolatile=*/true);
        // If the counter has wrapped already, the difference stays positive and the wait ends at
        // its limit of reads.
        Value missing = arith::CmpIOp::create(
            b, arith::CmpIPredicate::sgt, arith::SubIOp::create(b, end, now), i32Constant(b, 0));
        Value more =
            arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, carried[0], i32Constant(b, 0));
        scf::ConditionOp::create(b, arith::AndIOp::create(b, missing, more), carried);
      },
      [&](OpBuilder &builder, Location loc, ValueRange carried) {
        ImplicitLocOpBuilder b(loc, builder);
        scf::YieldOp::create(b,
                             ValueRange{arith::SubIOp::create(b, carried[0], i32Constant(b, 1))});
      });
}
