// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WgmmaTile.h"

#include "Assembly.h"
#include "SharedTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

WgmmaTile::WgmmaTile(MLIRContext *context, int64_t n, Type element, WgmmaFactor a, WgmmaFactor b)
    : n(n), element(element), a(a), b(b) {
  SmallVector<Type> sums(sumsPerThread(), Float32Type::get(context));
  sumsType = LLVM::LLVMStructType::getLiteral(context, sums);
}

Value WgmmaFactor::descriptor(ImplicitLocOpBuilder &b, Value address) const {
  int64_t rowBytes = alongK ? rowDepth * 2 : 128;
  uint64_t swizzle = uint64_t(rowBytes == 128 ? 1 : rowBytes == 64 ? 2 : 3) << 62;
  uint64_t stride = uint64_t(8 * rowBytes / 16) << 32;
  uint64_t leading = uint64_t(alongK ? 1 : WgmmaTile::matrixBytes / 16) << 16;
  // In a cluster the high bits of an address tell the block.
  Value units = arith::AndIOp::create(b, sharedDiv(b, address, 16), sharedConstant(b, 0x3fff));
  Value low = arith::ExtUIOp::create(b, b.getI64Type(), units);
  Value bits = arith::ConstantIntOp::create(b, b.getI64Type(),
                                            static_cast<int64_t>(swizzle | stride | leading));
  return arith::OrIOp::create(b, low, bits);
}

Value WgmmaFactor::advance(ImplicitLocOpBuilder &b, Value descriptor, int64_t steps) const {
  if (steps == 0)
    return descriptor;
  int64_t units = steps * (alongK ? 2 : 128);
  return arith::AddIOp::create(b, descriptor,
                               arith::ConstantIntOp::create(b, b.getI64Type(), units));
}

Value WgmmaTile::multiplyAdd(ImplicitLocOpBuilder &builder, Value left, Value right, Value sums,
                             int64_t steps) const {
  Value first = a.descriptor(builder, left), second = b.descriptor(builder, right);
  NVVM::WGMMATypes type = element.isBF16() ? NVVM::WGMMATypes::bf16 : NVVM::WGMMATypes::f16;
  auto shape = NVVM::MMAShapeAttr::get(builder.getContext(), 64, static_cast<int>(n), stepDepth);
  for (int64_t k = 0; k < steps; ++k)
    sums = NVVM::WgmmaMmaAsyncOp::create(
        builder, sumsType, sums, a.advance(builder, first, k), b.advance(builder, second, k), shape,
        type, type, NVVM::WGMMATypes::f32, NVVM::WGMMAScaleOut::one, NVVM::WGMMAScaleIn::one,
        NVVM::WGMMAScaleIn::one, a.alongK ? NVVM::MMALayout::row : NVVM::MMALayout::col,
        b.alongK ? NVVM::MMALayout::col : NVVM::MMALayout::row, NVVM::MMAIntOverflowAttr());
  return sums;
}

/// `instruction`, whose first operands are f32 that it changes; `more` are read, with constraints.
static Value emitOnSums(ImplicitLocOpBuilder &b, const Twine &instruction, ArrayRef<Value> sums,
                        ArrayRef<std::pair<Value, StringRef>> more = {}) {
  SmallVector<Value> operands(sums);
  SmallVector<std::string> constraints(sums.size(), "=f");
  for (size_t i = 0; i < sums.size(); ++i)
    constraints.push_back(std::to_string(i));
  for (auto [operand, constraint] : more) {
    operands.push_back(operand);
    constraints.push_back(constraint.str());
  }
  SmallVector<Type> types(sums.size(), b.getF32Type());
  auto all = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  return emitAssembly(b, instruction, llvm::join(constraints, ","), all, operands);
}

/// $first, ..., $(first + count - 1).
static std::string operandList(int64_t first, int64_t count) {
  auto names = llvm::map_range(llvm::seq(first, first + count),
                               [](int64_t i) { return "$" + std::to_string(i); });
  return llvm::join(names, ", ");
}

// The operation of the dialect takes descriptors alone.
Value WgmmaTile::multiplyAdd(ImplicitLocOpBuilder &builder, ArrayRef<Value> left, Value right,
                             Value sums) const {
  constexpr int64_t words = 4;
  int64_t count = sumsPerThread();
  StringRef name = element.isBF16() ? "bf16" : "f16";
  std::string instruction =
      llvm::formatv("{{ .reg .pred add; setp.eq.b32 add, 0, 0; "
                    "wgmma.mma_async.sync.aligned.m64n{0}k16.f32.{1}.{1} {{{2}}, {{{3}}, ${4}, "
                    "add, 1, 1, {5}; }",
                    n, name, operandList(0, count), operandList(2 * count, words),
                    2 * count + words, b.alongK ? 0 : 1);
  for (int64_t k = 0, steps = left.size() / words; k < steps; ++k) {
    SmallVector<Value> own;
    for (int64_t i = 0; i < count; ++i)
      own.push_back(LLVM::ExtractValueOp::create(builder, sums, i));
    SmallVector<std::pair<Value, StringRef>> more;
    for (Value word : left.slice(words * k, words))
      more.push_back({word, "r"});
    more.push_back({b.advance(builder, right, k), "l"});
    sums = emitOnSums(builder, instruction, own, more);
  }
  return sums;
}

void WgmmaTile::beginGroup(ImplicitLocOpBuilder &b) const { NVVM::WgmmaFenceAlignedOp::create(b); }

void WgmmaTile::endGroup(ImplicitLocOpBuilder &b) const {
  NVVM::WgmmaGroupSyncAlignedOp::create(b);
}

void WgmmaTile::waitAllButLast(ImplicitLocOpBuilder &b) const {
  NVVM::WgmmaWaitGroupSyncOp::create(b, 1);
}

void WgmmaTile::waitAll(ImplicitLocOpBuilder &b) const { NVVM::WgmmaWaitGroupSyncOp::create(b, 0); }

/// `instruction` with every sum as its operand and result: the operations for it
/// tell LLVM nothing of the sums, which would then move across it.
SmallVector<Value> WgmmaTile::tie(ImplicitLocOpBuilder &b, StringRef instruction,
                                  ArrayRef<Value> sums) const {
  SmallVector<Value> operands;
  for (Value value : sums)
    for (int64_t i = 0; i < sumsPerThread(); ++i)
      operands.push_back(LLVM::ExtractValueOp::create(b, value, i));
  Value tied = emitOnSums(b, instruction, operands);
  SmallVector<Value> result;
  for (size_t i = 0; i < operands.size(); ++i)
    result.push_back(LLVM::ExtractValueOp::create(b, tied, i));
  return result;
}

SmallVector<Value> WgmmaTile::zeros(ImplicitLocOpBuilder &b, int64_t count) const {
  Value zero = LLVM::ZeroOp::create(b, sumsType);
  SmallVector<Value> flat = tie(b, "wgmma.fence.sync.aligned;", SmallVector<Value>(count, zero));
  SmallVector<Value> result;
  for (int64_t i = 0; i < count; ++i) {
    Value sums = LLVM::PoisonOp::create(b, sumsType);
    for (int64_t j = 0; j < sumsPerThread(); ++j)
      sums = LLVM::InsertValueOp::create(b, sums, flat[i * sumsPerThread() + j], j);
    result.push_back(sums);
  }
  return result;
}

SmallVector<Value> WgmmaTile::finish(ImplicitLocOpBuilder &b, ArrayRef<Value> sums) const {
  return tie(b, "wgmma.wait_group.sync.aligned 0;", sums);
}
