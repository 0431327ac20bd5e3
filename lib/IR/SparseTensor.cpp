// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/SparseTensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;

bool mlir::blocksparse::isSparseTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() >= 2 && tensor.getRank() <= 4 &&
         isa_and_present<LayoutAttrInterface, BsrAttr>(tensor.getEncoding());
}

std::optional<SparseTensor> SparseTensor::get(Type type) {
  if (!isSparseTensor(type))
    return std::nullopt;
  auto tensor = cast<RankedTensorType>(type);
  return SparseTensor(tensor, dyn_cast<LayoutAttrInterface>(tensor.getEncoding()),
                      dyn_cast<BsrAttr>(tensor.getEncoding()));
}

::blocksparse::BlockShape SparseTensor::getBlock() const {
  return layout ? layout.getBlockShape() : bsr.getBlock();
}

static int64_t ceilDivide(int64_t size, int64_t block) {
  return ShapedType::isDynamic(size) ? size : llvm::divideCeil(size, block);
}

int64_t SparseTensor::getBlockRows() const { return ceilDivide(getRows(), getBlock().rows); }
int64_t SparseTensor::getBlockCols() const { return ceilDivide(getCols(), getBlock().cols); }

int64_t SparseTensor::getLutHeads() const { return layout ? layout.getBlockGrid().heads : 1; }

int64_t SparseTensor::getStoredBlocks() const {
  const ::blocksparse::BlockLayout *pattern = layout ? layout.resolve() : nullptr;
  if (!pattern)
    return ShapedType::kDynamic;
  if (getLutHeads() == getHeads())
    return pattern->nnz();
  return ShapedType::isDynamic(getHeads()) ? getHeads() : pattern->nnz() * getHeads();
}

/// Returns `inner` with the batch dimension of `type` in front, if it has one.
static SmallVector<int64_t> withBatch(RankedTensorType type, ArrayRef<int64_t> inner) {
  SmallVector<int64_t> shape;
  if (type.getRank() == 4)
    shape.push_back(type.getShape()[0]);
  llvm::append_range(shape, inner);
  return shape;
}

RankedTensorType SparseTensor::getValuesType() const {
  ::blocksparse::BlockShape block = getBlock();
  return RankedTensorType::get(withBatch(type, {getStoredBlocks(), block.rows, block.cols}),
                               getElementType());
}

RankedTensorType SparseTensor::getCrowType() const {
  int64_t rows = getBlockRows();
  return RankedTensorType::get(withBatch(type, {ShapedType::isDynamic(rows) ? rows : rows + 1}),
                               IntegerType::get(type.getContext(), bsr.getIndexWidth()));
}

RankedTensorType SparseTensor::getColType() const {
  return RankedTensorType::get(withBatch(type, {ShapedType::kDynamic}),
                               IntegerType::get(type.getContext(), bsr.getIndexWidth()));
}

std::optional<::blocksparse::BlockLayout>
mlir::blocksparse::getSlicedLayout(const SparseTensor &source, ArrayRef<int64_t> offsets,
                                   ArrayRef<int64_t> sizes) {
  const ::blocksparse::BlockLayout *layout =
      source.isStatic() ? source.getLayout().resolve() : nullptr;
  if (!layout || offsets.size() != 2 || sizes.size() != 2)
    return std::nullopt;
  ::blocksparse::BlockShape block = source.getBlock();
  const int64_t extents[] = {source.getRows(), source.getCols()};
  const int64_t blocks[] = {block.rows, block.cols};
  for (size_t axis = 0; axis < 2; ++axis) {
    int64_t first = offsets[axis], size = sizes[axis];
    if (first < 0 || first > extents[axis] || size < 0 || size > extents[axis] - first ||
        first % blocks[axis] != 0 ||
        ((first + size) % blocks[axis] != 0 && first + size != extents[axis]))
      return std::nullopt;
  }
  std::string error;
  return ::blocksparse::subLayout(
      *layout, {0, offsets[0] / block.rows, offsets[1] / block.cols},
      {layout->grid().heads, ceilDivide(sizes[0], block.rows), ceilDivide(sizes[1], block.cols)},
      error);
}

Type mlir::blocksparse::getAccumulatorType(Type element) {
  if (element.isInteger())
    return IntegerType::get(element.getContext(), 32);
  return element.isF64() ? element : Float32Type::get(element.getContext());
}

int64_t mlir::blocksparse::countSharingHeads(ShapedType q, ShapedType type) {
  if (q.getRank() < 3 || type.getRank() < 3)
    return 1;
  int64_t heads = q.getDimSize(q.getRank() - 3), own = type.getDimSize(type.getRank() - 3);
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(own) || heads <= 1 || own <= 1)
    return 1;
  return heads / own;
}
