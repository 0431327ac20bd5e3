// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VectorAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/bit.h"

#include <numeric>

using namespace mlir;
using namespace mlir::blocksparse;

FloatType mlir::blocksparse::getComputeType(Type element) {
  if (element.isF64())
    return cast<FloatType>(element);
  return Float32Type::get(element.getContext());
}

Value mlir::blocksparse::splat(ImplicitLocOpBuilder &b, Value scalar, int64_t width) {
  return vector::BroadcastOp::create(b, VectorType::get({width}, scalar.getType()), scalar);
}

Value mlir::blocksparse::zeroVector(ImplicitLocOpBuilder &b, VectorType type) {
  // Integers are used because not every target has constants of the 8-bit float types.
  auto bits = b.getIntegerType(type.getElementTypeBitWidth());
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type.clone(bits)));
  if (type.getElementType() == bits)
    return zero;
  return arith::BitcastOp::create(b, type, zero);
}

//===----------------------------------------------------------------------===//
// Vectors of a row
//===----------------------------------------------------------------------===//

int64_t mlir::blocksparse::chooseWidth(int64_t blockCols, int64_t laneBits, int64_t vectorBits,
                                       ScheduleAttr schedule) {
  int64_t most = std::max<int64_t>(vectorBits / laneBits, 1);
  const auto *params = schedule ? schedule.getIf<::blocksparse::VectorParams>() : nullptr;
  if (params && params->lanes > 0)
    most = std::min<int64_t>(most, params->lanes);
  most = llvm::bit_floor<uint64_t>(most);
  int64_t dividing = std::gcd(most, blockCols);
  if (dividing == blockCols || dividing * 4 >= most)
    return dividing;
  return std::min<int64_t>(most, llvm::bit_ceil<uint64_t>(blockCols));
}

/// Returns the memory that starts at element (row, col) of `matrix` as a 1-D memref, and the
/// distance in it of neighbours of a row.
static std::pair<Value, Value> flatten(ImplicitLocOpBuilder &b, const MatrixView &matrix, Value row,
                                       Value col, int64_t width) {
  Value one = indexConstant(b, 1), lanes = indexConstant(b, width);
  auto metadata =
      memref::ExtractStridedMetadataOp::create(b, matrix.window(b, row, col, one, lanes).memref);
  Value stride = metadata.getStrides()[1];
  Value last = Int(b, stride) * (width - 1);
  auto type = MemRefType::get({ShapedType::kDynamic}, matrix.elementType(),
                              StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1}));
  Value flat = memref::ReinterpretCastOp::create(
      b, type, metadata.getBaseBuffer(), OpFoldResult(metadata.getOffset()),
      ArrayRef<OpFoldResult>{Value(Int(b, last) + one)}, ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  return {flat, stride};
}

/// Returns the positions 0, stride, 2 * stride, ..
static Value strideVector(ImplicitLocOpBuilder &b, Value stride, int64_t width) {
  Value steps = vector::StepOp::create(b, VectorType::get({width}, b.getIndexType()));
  return arith::MulIOp::create(b, steps, splat(b, stride, width));
}

Value VectorAccess::mask(ImplicitLocOpBuilder &b, Value count) const {
  return vector::CreateMaskOp::create(b, VectorType::get({width}, b.getI1Type()), count);
}

Value VectorAccess::load(ImplicitLocOpBuilder &b, const MatrixView &matrix, Value row, Value col,
                         Value mask) const {
  auto type = VectorType::get({width}, matrix.elementType());
  if (knownIndex(matrix.cols) == 1) {
    Value all = splat(b, matrix.load(b, row, indexConstant(b, 0)), width);
    return mask ? arith::SelectOp::create(b, mask, all, zeroVector(b, type)) : all;
  }
  if (unitStride) {
    Value memref = matrix.withUnitStride(b).memref;
    if (!mask)
      return vector::LoadOp::create(b, type, memref, ValueRange{row, col});
    return vector::MaskedLoadOp::create(b, type, memref, ValueRange{row, col}, mask,
                                        zeroVector(b, type));
  }
  auto [flat, stride] = flatten(b, matrix, row, col, width);
  if (!mask)
    mask = this->mask(b, indexConstant(b, width));
  return vector::GatherOp::create(b, type, flat, ValueRange{indexConstant(b, 0)},
                                  strideVector(b, stride, width), mask, zeroVector(b, type));
}

void VectorAccess::store(ImplicitLocOpBuilder &b, Value vector, const MatrixView &matrix, Value row,
                         Value col, Value mask) const {
  if (unitStride) {
    Value memref = matrix.withUnitStride(b).memref;
    if (mask)
      vector::MaskedStoreOp::create(b, memref, ValueRange{row, col}, mask, vector);
    else
      vector::StoreOp::create(b, vector, memref, ValueRange{row, col});
    return;
  }
  auto [flat, stride] = flatten(b, matrix, row, col, width);
  if (!mask)
    mask = this->mask(b, indexConstant(b, width));
  vector::ScatterOp::create(b, Type(), flat, ValueRange{indexConstant(b, 0)},
                            strideVector(b, stride, width), mask, vector);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void mlir::blocksparse::emitIf(ImplicitLocOpBuilder &b, Value condition,
                               llvm::function_ref<void(ImplicitLocOpBuilder &)> body,
                               llvm::function_ref<void(ImplicitLocOpBuilder &)> otherwise) {
  if (!condition || matchPattern(condition, m_One()))
    return body(b);
  if (matchPattern(condition, m_Zero())) {
    if (otherwise)
      otherwise(b);
    return;
  }
  OpBuilder::InsertionGuard guard(b);
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/static_cast<bool>(otherwise));
  b.setInsertionPointToStart(branch.thenBlock());
  body(b);
  if (!otherwise)
    return;
  b.setInsertionPointToStart(branch.elseBlock());
  otherwise(b);
}

void mlir::blocksparse::emitVersions(
    ImplicitLocOpBuilder &b, ArrayRef<Value> conditions,
    llvm::function_ref<void(ImplicitLocOpBuilder &, bool)> kernel) {
  Value all = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
  for (Value condition : conditions)
    all = b.createOrFold<arith::AndIOp>(all, condition);
  emitIf(
      b, all, [&](ImplicitLocOpBuilder &b) { kernel(b, true); },
      [&](ImplicitLocOpBuilder &b) { kernel(b, false); });
}

void mlir::blocksparse::emitParallel(
    ImplicitLocOpBuilder &b, ArrayRef<Value> sizes,
    llvm::function_ref<void(ImplicitLocOpBuilder &, ValueRange)> body) {
  SmallVector<OpFoldResult> bounds;
  for (Value size : sizes) {
    int64_t known = knownIndex(size);
    bounds.push_back(ShapedType::isDynamic(known) ? OpFoldResult(size) : b.getIndexAttr(known));
  }
  OpBuilder::InsertionGuard guard(b);
  auto loop = scf::ForallOp::create(b, bounds, ValueRange(), std::nullopt);
  b.setInsertionPoint(loop.getTerminator());
  body(b, loop.getInductionVars());
}

void mlir::blocksparse::emitLoop(ImplicitLocOpBuilder &b, Value begin, Value end, int64_t step,
                                 llvm::function_ref<void(ImplicitLocOpBuilder &, Value)> body) {
  OpBuilder::InsertionGuard guard(b);
  auto loop = scf::ForOp::create(b, begin, end, indexConstant(b, step));
  b.setInsertionPointToStart(loop.getBody());
  body(b, loop.getInductionVar());
}

Value mlir::blocksparse::emitReduction(
    ImplicitLocOpBuilder &b, Value begin, Value end, int64_t step, Value init,
    llvm::function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> body) {
  OpBuilder::InsertionGuard guard(b);
  auto loop = scf::ForOp::create(b, begin, end, indexConstant(b, step), init);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(b, body(b, loop.getInductionVar(), loop.getRegionIterArg(0)));
  return loop.getResult(0);
}

SmallVector<Value> mlir::blocksparse::emitReductions(
    ImplicitLocOpBuilder &b, Value begin, Value end, int64_t step, ValueRange init,
    llvm::function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value, ValueRange)> body) {
  OpBuilder::InsertionGuard guard(b);
  auto loop = scf::ForOp::create(b, begin, end, indexConstant(b, step), init);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(b, body(b, loop.getInductionVar(), loop.getRegionIterArgs()));
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> mlir::blocksparse::emitBranches(
    ImplicitLocOpBuilder &b, Value condition, TypeRange types,
    llvm::function_ref<SmallVector<Value>(ImplicitLocOpBuilder &)> whenTrue,
    llvm::function_ref<SmallVector<Value>(ImplicitLocOpBuilder &)> whenFalse) {
  OpBuilder::InsertionGuard guard(b);
  auto branch = scf::IfOp::create(b, types, condition, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, whenTrue(b));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, whenFalse(b));
  return SmallVector<Value>(branch.getResults());
}
