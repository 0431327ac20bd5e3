// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LookUpTables.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::BlockLayout;
using ::blocksparse::CoordinateLut;
using ::blocksparse::CoordinateOrder;
using ::blocksparse::CoordinateSegmentTable;
using ::blocksparse::CoordinateTable;
using ::blocksparse::EntryTable;
using ::blocksparse::RowLut;
using ::blocksparse::SegmentTable;

// A table of more elements is a resource: the text of a module stays readable, and bytes stay
// bytes.
static constexpr int64_t kInlineElements = 1024;
// Elements of constants have at most 4 bytes.
static constexpr size_t kResourceAlignment = 4;

Value mlir::blocksparse::createConstant(OpBuilder &builder, Location loc, RankedTensorType type,
                                        ArrayRef<char> bytes, StringRef prefix) {
  if (type.getNumElements() <= kInlineElements)
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::getFromRawBuffer(type, bytes));
  std::string name =
      prefix.str() +
      llvm::utohexstr(llvm::xxh3_64bits(ArrayRef<uint8_t>(
                          reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size())),
                      /*LowerCase=*/true);
  MLIRContext *context = builder.getContext();
  auto &blobs = DenseResourceElementsHandle::getManagerInterface(context).getBlobManager();
  auto *known = blobs.lookup(name);
  if (known && known->getBlob() && known->getBlob()->getData() == bytes)
    return arith::ConstantOp::create(
        builder, loc,
        DenseResourceElementsAttr::get(
            type, DenseResourceElementsHandle(known, context->getLoadedDialect<BuiltinDialect>())));
  return arith::ConstantOp::create(
      builder, loc,
      DenseResourceElementsAttr::get(
          type, name, HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, kResourceAlignment)));
}

Value mlir::blocksparse::createTable(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
                                     ArrayRef<int32_t> data) {
  return createConstant(builder, loc, RankedTensorType::get(shape, builder.getI32Type()),
                        {reinterpret_cast<const char *>(data.data()), data.size() * 4}, "lut_");
}

std::optional<std::vector<int32_t>> mlir::blocksparse::readElements(Value table) {
  ElementsAttr elements;
  if (!matchPattern(table, m_Constant(&elements)) || !elements.getElementType().isInteger(32))
    return std::nullopt;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || static_cast<int64_t>(blob->getData().size()) != resource.getNumElements() * 4)
      return std::nullopt;
    auto *data = reinterpret_cast<const int32_t *>(blob->getData().data());
    return std::vector<int32_t>(data, data + resource.getNumElements());
  }
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense)
    return std::nullopt;
  return std::vector<int32_t>(dense.value_begin<int32_t>(), dense.value_end<int32_t>());
}

FailureOr<const BlockLayout *> mlir::blocksparse::resolveLayout(Operation *op,
                                                                LayoutAttrInterface layout) {
  if (const BlockLayout *resolved = layout.resolve())
    return resolved;
  return op->emitOpError() << layout.getResolveError();
}

FailureOr<int64_t> mlir::blocksparse::staticBlockCols(Operation *op, const SparseTensor &type) {
  int64_t cols = type.getBlockCols();
  if (!ShapedType::isDynamic(cols))
    return cols;
  return op->emitOpError()
         << "expects a static number of columns to transpose a dynamic pattern, but got "
         << type.getType();
}

/// Emits an error if tables differ from the layout. That is a fault of this compiler, and an error
/// is better than a wrong result.
static LogicalResult checkTables(Operation *op, const std::string &fault) {
  if (fault.empty())
    return success();
  return op->emitOpError() << "got look-up tables that differ from its layout: " << fault;
}

static FailureOr<RowTables> createStaticRowTables(Operation *op, OpBuilder &builder,
                                                  const BlockLayout &layout, bool transpose) {
  RowLut lut = ::blocksparse::buildRowLut(layout, transpose);
  if (failed(checkTables(
          op, ::blocksparse::verifyRowLut(layout, transpose, {lut.segments, lut.entries, {}}, 0))))
    return failure();
  return RowTables{createTable(builder, op->getLoc(), lut.segments),
                   createTable(builder, op->getLoc(), lut.entries)};
}

/// Creates a destination of shape `inner`, with the batch of `indices` in front if they have one.
static Value createIndexInit(OpBuilder &builder, Location loc, Value indices,
                             ArrayRef<OpFoldResult> inner) {
  auto type = cast<RankedTensorType>(indices.getType());
  SmallVector<OpFoldResult> sizes;
  if (type.getRank() == 2)
    sizes.push_back(tensor::getMixedSize(builder, loc, indices, 0));
  llvm::append_range(sizes, inner);
  return tensor::EmptyOp::create(builder, loc, sizes, builder.getI32Type());
}

static OpFoldResult lastSize(OpBuilder &builder, Location loc, Value indices) {
  return tensor::getMixedSize(builder, loc, indices,
                              cast<RankedTensorType>(indices.getType()).getRank() - 1);
}

/// Returns the number of block rows that crow_indices describe.
static OpFoldResult blockRows(OpBuilder &builder, Location loc, Value crow) {
  OpFoldResult offsets = lastSize(builder, loc, crow);
  if (std::optional<int64_t> size = getConstantIntValue(offsets))
    return builder.getIndexAttr(*size - 1);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  return arith::SubIOp::create(builder, loc, cast<Value>(offsets), one).getResult();
}

static FailureOr<RowTables> createDynamicRowTables(Operation *op, OpBuilder &builder,
                                                   const SparseTensor &type, Value crow, Value col,
                                                   bool transpose) {
  Location loc = op->getLoc();
  OpFoldResult tiles;
  if (transpose) {
    FailureOr<int64_t> cols = staticBlockCols(op, type);
    if (failed(cols))
      return failure();
    tiles = builder.getIndexAttr(*cols);
  } else {
    tiles = blockRows(builder, loc, crow);
  }
  Value segments =
      createIndexInit(builder, loc, crow, {tiles, builder.getIndexAttr(SegmentTable::columns)});
  Value entries = createIndexInit(
      builder, loc, col, {lastSize(builder, loc, col), builder.getIndexAttr(EntryTable::columns)});
  auto lut = BsrRowLutOp::create(builder, loc, TypeRange{segments.getType(), entries.getType()},
                                 crow, col, segments, entries, transpose);
  return RowTables{lut.getResult(0), lut.getResult(1)};
}

/// Creates the row LUT of a pattern without blocks for a dynamic pattern: all segments have count
/// 0.
static FailureOr<RowTables> createEmptyDynamicRowTables(Operation *op, OpBuilder &builder,
                                                        const SparseStorage &pattern,
                                                        bool transpose) {
  Location loc = op->getLoc();
  int64_t tiles = transpose ? pattern.type.getBlockCols() : pattern.type.getBlockRows();
  if (!ShapedType::isDynamic(tiles)) {
    std::string error;
    std::optional<BlockLayout> none = BlockLayout::fromCsr(
        pattern.type.getBlock(), {1, tiles, 0}, std::vector<int32_t>(tiles + 1, 0), {}, error);
    if (!none)
      return op->emitOpError() << error;
    return createStaticRowTables(op, builder, *none, /*transpose=*/false);
  }
  auto index = cast<RankedTensorType>(pattern.crow.getType()).getElementType();
  Value zero = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(index, 0));
  OpFoldResult offsets = lastSize(builder, loc, pattern.crow);
  Value crow = tensor::SplatOp::create(builder, loc, zero, ArrayRef<OpFoldResult>{offsets});
  Value col = tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>{0}, index);
  return createDynamicRowTables(op, builder, pattern.type, crow, col, transpose);
}

FailureOr<RowTables> mlir::blocksparse::createRowTables(Operation *op, OpBuilder &builder,
                                                        const SparseStorage &pattern,
                                                        bool transpose, bool empty) {
  if (!pattern.type.isStatic())
    return empty ? createEmptyDynamicRowTables(op, builder, pattern, transpose)
                 : createDynamicRowTables(op, builder, pattern.type, pattern.crow, pattern.col,
                                          transpose);
  FailureOr<const BlockLayout *> layout = resolveLayout(op, pattern.type.getLayout());
  if (failed(layout))
    return failure();
  if (!empty)
    return createStaticRowTables(op, builder, **layout, transpose);
  ::blocksparse::BlockGrid grid = (*layout)->grid();
  std::string error;
  std::optional<BlockLayout> none = BlockLayout::fromCsr(
      (*layout)->block(), grid, std::vector<int32_t>(grid.heads * grid.rows + 1, 0), {}, error);
  if (!none)
    return op->emitOpError() << error;
  return createStaticRowTables(op, builder, *none, transpose);
}

FailureOr<CoordinateTables> mlir::blocksparse::createCoordinateTables(Operation *op,
                                                                      OpBuilder &builder,
                                                                      const SparseStorage &pattern,
                                                                      CoordinateOrder order) {
  Location loc = op->getLoc();
  if (!pattern.type.isStatic()) {
    Value lut = createIndexInit(
        builder, loc, pattern.col,
        {lastSize(builder, loc, pattern.col), builder.getIndexAttr(CoordinateTable::columns)});
    Value segments = createIndexInit(builder, loc, pattern.crow,
                                     {blockRows(builder, loc, pattern.crow),
                                      builder.getIndexAttr(CoordinateSegmentTable::columns)});
    auto op = BsrCoordinateLutOp::create(builder, loc, TypeRange{lut.getType(), segments.getType()},
                                         pattern.crow, pattern.col, lut, segments);
    return CoordinateTables{op.getResult(0), op.getResult(1)};
  }
  FailureOr<const BlockLayout *> layout = resolveLayout(op, pattern.type.getLayout());
  if (failed(layout))
    return failure();
  CoordinateLut lut = ::blocksparse::buildCoordinateLut(**layout, order);
  if (failed(checkTables(op, ::blocksparse::verifyCoordinateLut(**layout, lut.lut, lut.segments))))
    return failure();
  return CoordinateTables{createTable(builder, loc, lut.lut),
                          createTable(builder, loc, lut.segments)};
}
