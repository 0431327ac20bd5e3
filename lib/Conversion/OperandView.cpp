// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OperandView.h"
#include "LoopView.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blocksparse;

int64_t mlir::blocksparse::getElementBytes(Value memref) {
  return cast<MemRefType>(memref.getType()).getElementTypeBitWidth() / 8;
}

Value mlir::blocksparse::memrefDim(ImplicitLocOpBuilder &b, Value memref, int64_t axis) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(axis))
    return indexConstant(b, type.getDimSize(axis));
  return memref::DimOp::create(b, memref, axis);
}

Value mlir::blocksparse::loadIndex(ImplicitLocOpBuilder &b, Value memref, ValueRange indices) {
  Value element = memref::LoadOp::create(b, memref, indices);
  return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), element);
}

//===----------------------------------------------------------------------===//
// Strided views
//===----------------------------------------------------------------------===//

namespace {

/// Describes a memref by its parts: element (i0, i1, ..) is base[offset + sum of i * stride].
struct StridedBuffer {
  Value base, offset;
  SmallVector<Value, 4> sizes, strides;
};

} // namespace

static StridedBuffer takeApart(ImplicitLocOpBuilder &b, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  StridedBuffer buffer{metadata.getBaseBuffer(), metadata.getOffset(), {}, {}};
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset))) {
    strides.assign(type.getRank(), ShapedType::kDynamic);
    offset = ShapedType::kDynamic;
  }
  if (!ShapedType::isDynamic(offset))
    buffer.offset = indexConstant(b, offset);
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    buffer.sizes.push_back(type.isDynamicDim(axis) ? metadata.getSizes()[axis]
                                                   : indexConstant(b, type.getDimSize(axis)));
    buffer.strides.push_back(ShapedType::isDynamic(strides[axis])
                                 ? metadata.getStrides()[axis]
                                 : indexConstant(b, strides[axis]));
  }
  return buffer;
}

/// Returns the matrix with the given geometry. Its type is as static as the values are.
static MatrixView makeMatrix(ImplicitLocOpBuilder &b, Value base, Value offset, Value rows,
                             Value cols, Value rowStride, Value colStride) {
  auto baseType = cast<MemRefType>(base.getType());
  // A broadcast axis has stride 0, which a static layout cannot express.
  auto typedStride = [](Value stride) {
    int64_t known = knownIndex(stride);
    return known == 0 ? ShapedType::kDynamic : known;
  };
  auto operand = [](Value value, int64_t known, Builder &builder) -> OpFoldResult {
    if (ShapedType::isDynamic(known))
      return value;
    return builder.getIndexAttr(known);
  };
  int64_t strides[] = {typedStride(rowStride), typedStride(colStride)};
  int64_t shape[] = {knownIndex(rows), knownIndex(cols)};
  int64_t knownOffset = knownIndex(offset);
  auto layout = StridedLayoutAttr::get(b.getContext(), knownOffset, strides);
  auto type = MemRefType::get(shape, baseType.getElementType(), layout, baseType.getMemorySpace());
  Value memref = memref::ReinterpretCastOp::create(
      b, type, base, operand(offset, knownOffset, b),
      ArrayRef<OpFoldResult>{operand(rows, shape[0], b), operand(cols, shape[1], b)},
      ArrayRef<OpFoldResult>{operand(rowStride, strides[0], b), operand(colStride, strides[1], b)});
  return {memref, rows, cols, knownIndex(colStride) == 0};
}

static Value isOne(ImplicitLocOpBuilder &b, Value value) {
  return indexEqual(b, value, indexConstant(b, 1));
}

Value MatrixView::load(ImplicitLocOpBuilder &b, Value row, Value col) const {
  return memref::LoadOp::create(b, memref, ValueRange{row, col});
}

void MatrixView::store(ImplicitLocOpBuilder &b, Value element, Value row, Value col) const {
  memref::StoreOp::create(b, element, memref, ValueRange{row, col});
}

Value MatrixView::hasUnitStride(ImplicitLocOpBuilder &b) const {
  return isOne(b, takeApart(b, memref).strides[1]);
}

MatrixView MatrixView::withUnitStride(ImplicitLocOpBuilder &b) const {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (succeeded(type.getStridesAndOffset(strides, offset)) && strides[1] == 1)
    return *this;
  // A memref.cast would not do: vector.load folds with it and becomes invalid.
  StridedBuffer buffer = takeApart(b, memref);
  return makeMatrix(b, buffer.base, buffer.offset, rows, cols, buffer.strides[0],
                    indexConstant(b, 1));
}

MatrixView MatrixView::window(ImplicitLocOpBuilder &b, Value row, Value col, Value windowRows,
                              Value windowCols) const {
  StridedBuffer buffer = takeApart(b, memref);
  Value offset = Int(b, buffer.offset) + Int(b, row) * buffer.strides[0];
  offset = Int(b, offset) + Int(b, col) * buffer.strides[1];
  return makeMatrix(b, buffer.base, offset, windowRows, windowCols, buffer.strides[0],
                    buffer.strides[1]);
}

//===----------------------------------------------------------------------===//
// Dense operands
//===----------------------------------------------------------------------===//

DenseAxes DenseAxes::ofMatrices(int64_t rank, bool transposed) {
  return DenseAxes{0, 1, transposed ? 3 : 2, transposed ? 2 : 3}.alignedTo(rank);
}

DenseAxes DenseAxes::alignedTo(int64_t rank) const {
  auto shift = [&](int axis) { return std::max(axis - 4 + static_cast<int>(rank), -1); };
  return {shift(batch), shift(head), shift(row), shift(col)};
}

DenseAxes DenseAxes::ofColumnVectors(int64_t rank) {
  DenseAxes axes;
  axes.batch = rank == 3 ? 0 : -1;
  axes.head = rank >= 2 ? static_cast<int>(rank) - 2 : -1;
  axes.col = static_cast<int>(rank) - 1;
  return axes;
}

DenseAxes DenseAxes::ofRowVectors(int64_t rank) {
  DenseAxes axes = ofColumnVectors(rank);
  std::swap(axes.row, axes.col);
  return axes;
}

DenseView DenseView::get(ImplicitLocOpBuilder &b, Value memref, DenseAxes axes) {
  auto type = cast<MemRefType>(memref.getType());
  StridedBuffer buffer = takeApart(b, memref);
  DenseView view;
  view.memref = memref;
  view.base = buffer.base;
  view.offset = buffer.offset;
  view.one = indexConstant(b, 1);
  view.axes = axes;
  view.sizes = buffer.sizes;
  view.strides = buffer.strides;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.getDimSize(axis) == 1)
      view.strides[axis] = indexConstant(b, 0);
  return view;
}

DenseView DenseView::get(ImplicitLocOpBuilder &b, Value memref, bool transposed) {
  int64_t rank = cast<MemRefType>(memref.getType()).getRank();
  return get(b, memref, DenseAxes::ofMatrices(rank, transposed));
}

MatrixView DenseView::matrix(ImplicitLocOpBuilder &b, Value batch, Value head) const {
  Value start = offset;
  if (axes.batch >= 0)
    start = Int(b, start) + Int(b, batch) * strides[axes.batch];
  if (axes.head >= 0)
    start = Int(b, start) + Int(b, head) * strides[axes.head];
  auto stride = [&](int axis) { return axis < 0 ? indexConstant(b, 0) : strides[axis]; };
  return makeMatrix(b, base, start, rows(), cols(), stride(axes.row), stride(axes.col));
}

bool DenseView::broadcastsColumns() const {
  return axes.col < 0 || knownIndex(strides[axes.col]) == 0;
}

Value DenseView::hasUnitStride(ImplicitLocOpBuilder &b) const {
  if (axes.col < 0)
    return arith::ConstantIntOp::create(b, b.getI1Type(), 0);
  return isOne(b, strides[axes.col]);
}

//===----------------------------------------------------------------------===//
// Operands of loops
//===----------------------------------------------------------------------===//

LoopView LoopView::get(ImplicitLocOpBuilder &b, Value memref, AffineMap map) {
  StridedBuffer buffer = takeApart(b, memref);
  LoopView view;
  view.base = buffer.base;
  view.offset = buffer.offset;
  view.strides.assign(map.getNumDims(), indexConstant(b, 0));
  for (unsigned axis = 0; axis < map.getNumResults(); ++axis)
    view.strides[map.getDimPosition(axis)] = buffer.strides[axis];
  return view;
}

MatrixView LoopView::row(ImplicitLocOpBuilder &b, ValueRange outer, Value length) const {
  Value start = offset, one = indexConstant(b, 1);
  for (auto [index, stride] : llvm::zip(outer, strides))
    if (knownIndex(stride) != 0)
      start = Int(b, start) + Int(b, index) * stride;
  Value stride = strides.empty() ? one : strides.back();
  return makeMatrix(b, base, start, one, knownIndex(stride) == 0 ? one : length, length, stride);
}

Value LoopView::hasUnitStride(ImplicitLocOpBuilder &b) const {
  if (strides.empty() || knownIndex(strides.back()) == 0)
    return arith::ConstantIntOp::create(b, b.getI1Type(), 1);
  return isOne(b, strides.back());
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

ValuesView ValuesView::get(ImplicitLocOpBuilder &b, Value memref, int64_t lutHeads, Value lutBlocks,
                           Value heads) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t rank = type.getRank();
  StridedBuffer buffer = takeApart(b, memref);
  ValuesView view;
  view.memref = memref;
  view.base = buffer.base;
  view.offset = buffer.offset;
  view.rows = type.getDimSize(rank - 2);
  view.cols = type.getDimSize(rank - 1);
  view.count = buffer.sizes[rank - 3];
  view.blockStride = buffer.strides[rank - 3];
  view.rowStride = buffer.strides[rank - 2];
  view.colStride = buffer.strides[rank - 1];
  if (rank == 4 && type.getDimSize(0) != 1)
    view.batchStride = buffer.strides[0];
  if (lutHeads == 1 && knownIndex(heads) != 1) {
    Value shared = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sle, view.count, lutBlocks);
    view.headStride = b.createOrFold<arith::SelectOp>(shared, indexConstant(b, 0), lutBlocks);
  }
  return view;
}

Value ValuesView::headBase(ImplicitLocOpBuilder &b, Value head) const {
  return headStride ? Int(b, head) * headStride : indexConstant(b, 0);
}

MatrixView ValuesView::block(ImplicitLocOpBuilder &b, Value batch, Value index,
                             bool transposed) const {
  Value start = Int(b, offset) + Int(b, index) * blockStride;
  if (batchStride)
    start = Int(b, start) + Int(b, batch) * batchStride;
  Value rowCount = indexConstant(b, rows), colCount = indexConstant(b, cols);
  if (transposed)
    return makeMatrix(b, base, start, colCount, rowCount, colStride, rowStride);
  return makeMatrix(b, base, start, rowCount, colCount, rowStride, colStride);
}

Value ValuesView::hasContiguousBlocks(ImplicitLocOpBuilder &b) const {
  Value inner = isOne(b, colStride);
  Value outer = indexEqual(b, rowStride, indexConstant(b, cols));
  return b.createOrFold<arith::AndIOp>(inner, outer);
}

//===----------------------------------------------------------------------===//
// Look-up tables
//===----------------------------------------------------------------------===//

LutView::LutView(ImplicitLocOpBuilder &b, Value memref) : memref(memref) {
  auto type = cast<MemRefType>(memref.getType());
  batched = type.getRank() == 3 && type.getDimSize(0) != 1;
  count = memrefDim(b, memref, type.getRank() - 2);
}

Value LutView::load(ImplicitLocOpBuilder &b, Value batch, Value row, int64_t column) const {
  SmallVector<Value, 3> indices;
  if (cast<MemRefType>(memref.getType()).getRank() == 3)
    indices.push_back(batched ? batch : indexConstant(b, 0));
  indices.append({row, indexConstant(b, column)});
  return loadIndex(b, memref, indices);
}
