// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WgmmaTile.h"

#include "../../Device/Assembly.h"
#include "SharedTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

WgmmaTile::WgmmaTile(MLIRContext *context, int64_t n, Type element, WgmmaFactor a, WgmmaFactor b)
    : n(n), element(element), a(a), b(b) {
  Type sum = isInteger() ? Type(IntegerType::get(context, 32)) : Type(Float32Type::get(context));
  SmallVector<Type> accumulators(accumulatorsPerThread(), sum);
  accumulatorsType = LLVM::LLVMStructType::getLiteral(context, accumulators);
}

uint32_t WgmmaFactor::highHalf() const {
  uint32_t rowBytes = kMajor ? rowDepth * elementBytes : 128;
  uint32_t swizzle = rowBytes == 128 ? 1 : rowBytes == 64 ? 2 : 3;
  return swizzle << 30 | 8 * rowBytes / 16;
}

Value WgmmaFactor::lowHalf(ImplicitLocOpBuilder &b, Value address) const {
  int64_t leading = kMajor ? 1 : leadingBytes / 16;
  // In a cluster the upper bits of a shared-memory address contain the cluster rank: they are
  // masked off.
  Value units = arith::AndIOp::create(b, Int(b, address) / 16, i32Constant(b, 0x3fff));
  return arith::OrIOp::create(b, units, i32Constant(b, leading << 16));
}

Value WgmmaFactor::descriptor(ImplicitLocOpBuilder &b, Value address) const {
  Value low = arith::ExtUIOp::create(b, b.getI64Type(), lowHalf(b, address));
  Value high = arith::ConstantIntOp::create(b, b.getI64Type(),
                                            static_cast<int64_t>(uint64_t{highHalf()} << 32));
  return arith::OrIOp::create(b, low, high);
}

Value WgmmaFactor::advance(ImplicitLocOpBuilder &b, Value descriptor, int64_t steps) const {
  if (steps == 0)
    return descriptor;
  int64_t units = steps * stepUnits();
  return arith::AddIOp::create(b, descriptor,
                               arith::ConstantIntOp::create(b, b.getI64Type(), units));
}

Value WgmmaTile::multiplyAdd(ImplicitLocOpBuilder &builder, Value left, Value right,
                             Value accumulators, int64_t steps) const {
  Value first = a.descriptor(builder, left), second = b.descriptor(builder, right);
  using Types = NVVM::WGMMATypes;
  Types type = isInteger() ? Types::s8 : element.isBF16() ? Types::bf16 : Types::f16;
  auto shape = NVVM::MMAShapeAttr::get(builder.getContext(), 64, static_cast<int>(n),
                                       static_cast<int>(stepDepth * 2 / a.elementBytes));
  NVVM::MMAIntOverflowAttr overflow;
  if (isInteger())
    overflow = NVVM::MMAIntOverflowAttr::get(builder.getContext(), NVVM::MMAIntOverflow::wrapped);
  for (int64_t k = 0; k < steps; ++k)
    accumulators = NVVM::WgmmaMmaAsyncOp::create(
        builder, accumulatorsType, accumulators, a.advance(builder, first, k),
        b.advance(builder, second, k), shape, type, type, isInteger() ? Types::s32 : Types::f32,
        NVVM::WGMMAScaleOut::one, NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one,
        a.kMajor ? NVVM::MMALayout::row : NVVM::MMALayout::col,
        b.kMajor ? NVVM::MMALayout::col : NVVM::MMALayout::row, overflow);
  return accumulators;
}

SmallVector<Value> WgmmaTile::unpack(ImplicitLocOpBuilder &b, ArrayRef<Value> accumulators) const {
  SmallVector<Value> flat;
  for (Value value : accumulators)
    for (int64_t i = 0; i < accumulatorsPerThread(); ++i)
      flat.push_back(LLVM::ExtractValueOp::create(b, value, i));
  return flat;
}

Value WgmmaTile::pack(ImplicitLocOpBuilder &b, ArrayRef<Value> flat) const {
  Value accumulators = LLVM::PoisonOp::create(b, accumulatorsType);
  for (auto [i, value] : llvm::enumerate(flat))
    accumulators = LLVM::InsertValueOp::create(b, accumulators, value, i);
  return accumulators;
}

WgmmaTile::Guard WgmmaTile::firstGuard(ImplicitLocOpBuilder &builder, Value next, Value b) {
  return {arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, next, i32Constant(builder, 0)),
          b};
}

// // Inline assembly, because the operation of the NVVM dialect accepts A only as a descriptor.
WgmmaTile::Guard WgmmaTile::multiplyAddIf(ImplicitLocOpBuilder &builder, const Guard &guard,
                                          Value next, int64_t bytes,
                                          ArrayRef<SmallVector<Value>> left,
                                          MutableArrayRef<Value> accumulators) const {
  constexpr int64_t words = 4;
  int64_t each = accumulatorsPerThread(), steps = left.front().size() / words;
  ChangingAssembly assembly(builder);
  for (Value sum : unpack(builder, accumulators))
    assembly.change(sum, "f");
  int64_t low = assembly.change(guard.b, "r");
  // The early clobber keeps the next condition out of the register of the guard, which is read
  // after it is written.
  int64_t following = assembly.make(builder.getI1Type(), "&b");
  int64_t holds = assembly.read(guard.holds, "b"), sign = assembly.read(next, "r");
  // ".uni" tells ptxas that all threads take the same branch, as wgmma requires.
  std::string text = llvm::formatv("{{ .reg .pred add; .reg .b32 low; .reg .b64 right; "
                                   "setp.eq.b32 add, 0, 0; setp.lt.s32 ${0}, ${1}, 0; "
                                   "@!${2} bra.uni SKIP; wgmma.fence.sync.aligned; ",
                                   following, sign, holds);
  StringRef name = element.isBF16() ? "bf16" : "f16";
  for (int64_t k = 0; k < steps; ++k) {
    text += llvm::formatv("add.u32 low, ${0}, {1}; mov.b64 right, {{low, {2}}; ", low,
                          k * b.stepUnits(), b.highHalf());
    for (auto [i, part] : llvm::enumerate(left)) {
      int64_t last = 0;
      for (Value word : ArrayRef<Value>(part).slice(words * k, words))
        last = assembly.read(word, "r");
      text += llvm::formatv("wgmma.mma_async.sync.aligned.m64n{0}k16.f32.{1}.{1} {{{2}}, "
                            "{{{3}}, right, add, 1, 1, {4}; ",
                            n, name, ChangingAssembly::list(i * each, each),
                            ChangingAssembly::list(last + 1 - words, words), b.kMajor ? 0 : 1);
    }
  }
  text += llvm::formatv("add.u32 ${0}, ${0}, {1}; SKIP: }", low, bytes / 16);
  SmallVector<Value> results = assembly.emit(text);
  for (auto [i, sum] : llvm::enumerate(accumulators))
    sum = pack(builder, ArrayRef<Value>(results).slice(i * each, each));
  return {results[following], results[low]};
}

void WgmmaTile::fence(ImplicitLocOpBuilder &b) const { NVVM::WgmmaFenceAlignedOp::create(b); }

void WgmmaTile::commitGroup(ImplicitLocOpBuilder &b) const {
  NVVM::WgmmaGroupSyncAlignedOp::create(b);
}

void WgmmaTile::waitAllButLast(ImplicitLocOpBuilder &b) const {
  NVVM::WgmmaWaitGroupSyncOp::create(b, 1);
}

void WgmmaTile::waitAll(ImplicitLocOpBuilder &b) const { NVVM::WgmmaWaitGroupSyncOp::create(b, 0); }

/// The accumulators are operands and results, because the operations of the NVVM dialect for fences
/// and waits do not mention them: LLVM would move accesses to accumulators across those.
SmallVector<Value> WgmmaTile::tie(ImplicitLocOpBuilder &b, StringRef instruction,
                                  ArrayRef<Value> accumulators) const {
  ChangingAssembly assembly(b);
  for (Value sum : unpack(b, accumulators))
    assembly.change(sum, isInteger() ? "r" : "f");
  return assembly.emit(instruction);
}

SmallVector<Value> WgmmaTile::zeros(ImplicitLocOpBuilder &b, int64_t count) const {
  Value zero = LLVM::ZeroOp::create(b, accumulatorsType);
  SmallVector<Value> flat = tie(b, "wgmma.fence.sync.aligned;", SmallVector<Value>(count, zero));
  SmallVector<Value> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(
        pack(b, ArrayRef<Value>(flat).slice(i * accumulatorsPerThread(), accumulatorsPerThread())));
  return result;
}

SmallVector<Value> WgmmaTile::finish(ImplicitLocOpBuilder &b, ArrayRef<Value> accumulators) const {
  return tie(b, "wgmma.wait_group.sync.aligned 0;", accumulators);
}
