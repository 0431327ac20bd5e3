// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ContiguousBlocks.h"

#include "../OperandView.h"
#include "PanelKernel.h"
#include "TaskLoop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;

/// Copies all blocks in a parallel loop over them, and returns the copy.
static Value copyBlocks(ImplicitLocOpBuilder &b, Value values) {
  auto type = cast<MemRefType>(values.getType());
  int64_t rank = type.getRank();
  SmallVector<Value> sizes, outer;
  for (int64_t axis = 0; axis < rank; ++axis) {
    Value size = memrefDim(b, values, axis);
    if (type.isDynamicDim(axis))
      sizes.push_back(size);
    if (axis < rank - 2)
      outer.push_back(size);
  }
  Value copy = allocateScratch(b, MemRefType::get(type.getShape(), type.getElementType()), sizes);
  emitTaskLoop(b, outer, [&](ValueRange ids) {
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Value> indices(ids);
    for (int64_t axis = rank - 2; axis < rank; ++axis)
      indices.push_back(enterLoop(b, indexConstant(b, 0), memrefDim(b, values, axis), 1));
    Value element = memref::LoadOp::create(b, values, indices);
    memref::StoreOp::create(b, element, copy, indices);
  });
  return copy;
}

ContiguousBlocks::ContiguousBlocks(ImplicitLocOpBuilder &b, Value values) : contiguous(values) {
  auto type = cast<MemRefType>(values.getType());
  int64_t rank = type.getRank();
  int64_t rowLength = type.getDimSize(rank - 1);
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return;
  if (strides[rank - 1] == 1 && strides[rank - 2] == rowLength)
    return;

  SmallVector<int64_t> wanted(rank, ShapedType::kDynamic);
  wanted[rank - 2] = rowLength;
  wanted[rank - 1] = 1;
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, wanted);
  auto target =
      MemRefType::get(type.getShape(), type.getElementType(), layout, type.getMemorySpace());
  if (!memref::CastOp::areCastCompatible(type, target)) {
    contiguous = copyBlocks(b, values);
    copied = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
    return;
  }
  auto metadata = memref::ExtractStridedMetadataOp::create(b, values);
  Value inner = indexEqual(b, metadata.getStrides()[rank - 1], indexConstant(b, 1));
  Value outer = indexEqual(b, metadata.getStrides()[rank - 2], indexConstant(b, rowLength));
  Value fits = b.createOrFold<arith::AndIOp>(inner, outer);
  auto choice = scf::IfOp::create(b, TypeRange{target}, fits, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, memref::CastOp::create(b, target, values).getResult());
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, memref::CastOp::create(b, target, copyBlocks(b, values)).getResult());
  b.setInsertionPointAfter(choice);
  contiguous = choice.getResult(0);
  copied = arith::XOrIOp::create(b, fits, arith::ConstantIntOp::create(b, b.getI1Type(), 1));
}

void ContiguousBlocks::release(ImplicitLocOpBuilder &b) {
  if (!copied)
    return;
  auto choice = scf::IfOp::create(b, copied, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  freeScratch(b, contiguous);
}
