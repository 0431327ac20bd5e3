// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AlignedOperands.h"

#include "../../OperandView.h"
#include "RowCopy.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t alignment = 16;
/// Rows of a copy begin at lines of the L2 cache: what TMA loads of a row then has no more sectors
/// of 32 bytes than it needs. With rows of 8016 bytes a product took 91 us, with 8192 65 (H200).
static constexpr int64_t lineBytes = 128;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Returns the dense factors of a product; nothing for another operation.
static SmallVector<OpOperand *> getDenseFactors(Operation *op) {
  return llvm::TypeSwitch<Operation *, SmallVector<OpOperand *>>(op)
      .Case([](PlannedDSDOp dsd) { return SmallVector<OpOperand *>{&dsd.getDenseMutable()}; })
      .Case<PlannedSDDOp, PlannedMatmulOp>([](auto product) {
        return SmallVector<OpOperand *>{&product.getAMutable(), &product.getBMutable()};
      })
      .Default([](Operation *) { return SmallVector<OpOperand *>(); });
}

/// Returns the dense result of a product, or null.
static OpOperand *getDenseResult(Operation *op) {
  return llvm::TypeSwitch<Operation *, OpOperand *>(op)
      .Case<PlannedDSDOp, PlannedMatmulOp>([](auto product) { return &product.getInitMutable(); })
      .Default([](Operation *) { return nullptr; });
}

bool mlir::blocksparse::device::hasUnalignedRows(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (type.getRank() == 0 || failed(type.getStridesAndOffset(strides, offset)))
    return false;
  auto isKnown = [](int64_t stride) { return !ShapedType::isDynamic(stride); };
  if (isKnown(strides.back()) && strides.back() != 1 && type.getShape().back() != 1)
    return true;
  const int64_t columns = type.getShape().back();
  for (int64_t axis = 0; axis + 1 < type.getRank(); ++axis) {
    // The rows of contiguous memory are as long as the last axis.
    int64_t stride = isKnown(strides[axis]) ? strides[axis] : columns;
    if (type.getDimSize(axis) != 1 && isKnown(stride) &&
        stride * getElementBytes(memref) % alignment != 0)
      return true;
  }
  return false;
}

/// Returns memory for a copy of `memref` whose rows are aligned, as a buffer of the same sizes, and
/// adds it to `made`.
static Value allocateAligned(ImplicitLocOpBuilder &host, Value memref,
                             SmallVectorImpl<Value> &made) {
  auto type = cast<MemRefType>(memref.getType());
  const int64_t perLine = lineBytes / getElementBytes(memref), rank = type.getRank();
  SmallVector<int64_t> stored(type.getShape());
  SmallVector<Value> sizes, dynamic;
  for (int64_t axis = 0; axis < rank; ++axis)
    sizes.push_back(memrefDim(host, memref, axis));
  if (ShapedType::isDynamic(stored.back()))
    sizes.back() =
        Int(host, indexCeilDiv(host, sizes.back(), indexConstant(host, perLine))) * perLine;
  else
    stored.back() = static_cast<int64_t>(llvm::alignTo(stored.back(), perLine));
  for (int64_t axis = 0; axis < rank; ++axis)
    if (ShapedType::isDynamic(stored[axis]))
      dynamic.push_back(sizes[axis]);
  Value memory = memref::AllocOp::create(host, MemRefType::get(stored, type.getElementType()),
                                         dynamic, host.getI64IntegerAttr(lineBytes));
  made.push_back(memory);
  auto metadata = memref::ExtractStridedMetadataOp::create(host, memory);
  SmallVector<OpFoldResult> shape = memref::getMixedSizes(host, host.getLoc(), memref);
  SmallVector<OpFoldResult> strides = metadata.getConstifiedMixedStrides();
  return memref::ReinterpretCastOp::create(host, memory, host.getIndexAttr(0), shape, strides);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

bool AlignedProduct::isNeeded(Operation *op) {
  OpOperand *result = getDenseResult(op);
  return llvm::any_of(getDenseFactors(op),
                      [](OpOperand *factor) { return hasUnalignedRows(factor->get()); }) ||
         (result && hasUnalignedRows(result->get()));
}

AlignedProduct::AlignedProduct(Operation *op) : aligned(op->clone()) {}

AlignedProduct::~AlignedProduct() { aligned->destroy(); }

void AlignedProduct::alignFactors(ImplicitLocOpBuilder &host, KernelBuilder &kernels) {
  for (OpOperand *factor : getDenseFactors(aligned)) {
    Value given = factor->get();
    if (!hasUnalignedRows(given))
      continue;
    factor->set(allocateAligned(host, given, made));
    emitCopyRows(host, kernels, given, factor->get());
  }
}

void AlignedProduct::alignResult(ImplicitLocOpBuilder &host) {
  OpOperand *operand = getDenseResult(aligned);
  if (!operand || !hasUnalignedRows(operand->get()))
    return;
  result = operand->get();
  computed = allocateAligned(host, result, made);
  operand->set(computed);
}

void AlignedProduct::finish(ImplicitLocOpBuilder &host, KernelBuilder &kernels) {
  if (computed)
    emitCopyRows(host, kernels, computed, result);
  for (Value memory : made)
    memref::DeallocOp::create(host, memory);
}
