// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WgmmaTile.h"

#include "SharedTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t stepDepth = 16;
static constexpr int64_t groupDepth = 64;

WgmmaTile::WgmmaTile(MLIRContext *context, int64_t n, Type element, bool aAlongK, bool bAlongK)
    : n(n), element(element), aAlongK(aAlongK), bAlongK(bAlongK) {
  SmallVector<Type> sums(sumsPerThread(), Float32Type::get(context));
  sumsType = LLVM::LLVMStructType::getLiteral(context, sums);
}

/// The constant bits of a descriptor.
static uint64_t getDescriptorBits(bool alongK) {
  uint64_t swizzle128 = uint64_t(1) << 62, stride = uint64_t(1024 / 16) << 32;
  uint64_t leading = uint64_t(alongK ? 1 : WgmmaTile::matrixBytes / 16) << 16;
  return swizzle128 | stride | leading;
}

static Value getDescriptor(ImplicitLocOpBuilder &b, Value address, bool alongK) {
  Value low = arith::ExtUIOp::create(b, b.getI64Type(), sharedDiv(b, address, 16));
  Value bits = arith::ConstantIntOp::create(b, b.getI64Type(),
                                            static_cast<int64_t>(getDescriptorBits(alongK)));
  return arith::OrIOp::create(b, low, bits);
}

static Value advance(ImplicitLocOpBuilder &b, Value descriptor, int64_t units) {
  if (units == 0)
    return descriptor;
  return arith::AddIOp::create(b, descriptor,
                               arith::ConstantIntOp::create(b, b.getI64Type(), units));
}

Value WgmmaTile::multiplyAdd(ImplicitLocOpBuilder &builder, Value a, Value b, Value sums) const {
  Value left = getDescriptor(builder, a, aAlongK), right = getDescriptor(builder, b, bAlongK);
  NVVM::WGMMATypes type = element.isBF16() ? NVVM::WGMMATypes::bf16 : NVVM::WGMMATypes::f16;
  auto shape = NVVM::MMAShapeAttr::get(builder.getContext(), 64, static_cast<int>(n), stepDepth);
  NVVM::WgmmaFenceAlignedOp::create(builder);
  for (int64_t k = 0; k < groupDepth / stepDepth; ++k)
    sums = NVVM::WgmmaMmaAsyncOp::create(
        builder, sumsType, sums, advance(builder, left, k * (aAlongK ? 2 : 128)),
        advance(builder, right, k * (bAlongK ? 2 : 128)), shape, type, type, NVVM::WGMMATypes::f32,
        NVVM::WGMMAScaleOut::one, NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one,
        aAlongK ? NVVM::MMALayout::row : NVVM::MMALayout::col,
        bAlongK ? NVVM::MMALayout::col : NVVM::MMALayout::row, NVVM::MMAIntOverflowAttr());
  NVVM::WgmmaGroupSyncAlignedOp::create(builder);
  return sums;
}

void WgmmaTile::waitAllButLast(ImplicitLocOpBuilder &b) const {
  NVVM::WgmmaWaitGroupSyncOp::create(b, 1);
}

void WgmmaTile::waitAll(ImplicitLocOpBuilder &b) const { NVVM::WgmmaWaitGroupSyncOp::create(b, 0); }

/// `instruction` with every sum as its operand and result: the operations for it
/// tell LLVM nothing of the sums, which would then move across it.
Value WgmmaTile::tie(ImplicitLocOpBuilder &b, StringRef instruction, Value sums) const {
  SmallVector<Value> operands;
  std::string constraints;
  for (int64_t i = 0; i < sumsPerThread(); ++i) {
    operands.push_back(LLVM::ExtractValueOp::create(b, sums, i));
    constraints += "=f,";
  }
  for (int64_t i = 0; i < sumsPerThread(); ++i)
    constraints += std::to_string(i) + (i + 1 == sumsPerThread() ? "" : ",");
  auto dialect = LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT);
  return LLVM::InlineAsmOp::create(b, sumsType, operands, instruction, constraints,
                                   /*has_side_effects=*/true, /*is_align_stack=*/false,
                                   LLVM::tailcallkind::TailCallKind::None, dialect, ArrayAttr())
      .getResult(0);
}

Value WgmmaTile::zeros(ImplicitLocOpBuilder &b) const {
  Value zero = LLVM::ZeroOp::create(b, sumsType);
  return tie(b, "wgmma.fence.sync.aligned;", zero);
}

SmallVector<Value> WgmmaTile::finish(ImplicitLocOpBuilder &b, Value sums) const {
  Value tied = tie(b, "wgmma.wait_group.sync.aligned 0;", sums);
  SmallVector<Value> result;
  for (int64_t i = 0; i < sumsPerThread(); ++i)
    result.push_back(LLVM::ExtractValueOp::create(b, tied, i));
  return result;
}
