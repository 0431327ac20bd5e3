// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SharedTile.h"

#include "blocksparse/Plan/Swizzle.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr StringLiteral sharedSymbol = "blocksparse_shared";
static constexpr unsigned sharedSpace = 3;

static LLVM::LLVMPointerType getSharedPointer(MLIRContext *context) {
  return LLVM::LLVMPointerType::get(context, sharedSpace);
}

SharedMemory SharedMemory::get(ImplicitLocOpBuilder &b) {
  auto kernels = b.getInsertionBlock()->getParentOp()->getParentOfType<gpu::GPUModuleOp>();
  if (!kernels.lookupSymbol(sharedSymbol)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(kernels.getBody());
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
    LLVM::GlobalOp::create(b, type, /*isConstant=*/false, LLVM::Linkage::External, sharedSymbol,
                           Attribute(), /*alignment=*/128, sharedSpace);
  }
  return SharedMemory(LLVM::AddressOfOp::create(b, getSharedPointer(b.getContext()), sharedSymbol));
}

Value SharedMemory::at(ImplicitLocOpBuilder &b, Value offset, int64_t constant) const {
  Type byte = b.getI8Type();
  Value pointer =
      LLVM::GEPOp::create(b, base.getType(), byte, base, ArrayRef<LLVM::GEPArg>{offset});
  if (constant == 0)
    return pointer;
  return LLVM::GEPOp::create(b, base.getType(), byte, pointer,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(constant)});
}

Value SharedMemory::load(ImplicitLocOpBuilder &b, Type type, Value offset,
                         int64_t alignment) const {
  return LLVM::LoadOp::create(b, type, at(b, offset), alignment);
}

void SharedMemory::store(ImplicitLocOpBuilder &b, Value value, Value offset,
                         int64_t alignment) const {
  LLVM::StoreOp::create(b, value, at(b, offset), alignment);
}

void mlir::blocksparse::device::emitBarrier(ImplicitLocOpBuilder &b) { gpu::BarrierOp::create(b); }

Value SharedTile::offset(ImplicitLocOpBuilder &b, Value base, Value row, Value chunk) const {
  auto swizzle = ::blocksparse::Swizzle::get(chunks(), pairs);
  Value permutation = Int(b, row) / swizzle.rowsPerStep % swizzle.steps;
  permutation = Int(b, permutation) * swizzle.scale;
  Value stored = Int(b, chunk) ^ permutation;
  Value start = (Int(b, base) + row) * rowBytes();
  return Int(b, start) + Int(b, stored) * chunkBytes;
}
