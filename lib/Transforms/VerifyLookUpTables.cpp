// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VerifyLookUpTables.h"
#include "LookUpTables.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::BlockCoordinate;
using ::blocksparse::CombineRow;
using ::blocksparse::CoordinateLutExtents;
using ::blocksparse::CoordinateSegment;
using ::blocksparse::RowEntry;
using ::blocksparse::RowLutExtents;
using ::blocksparse::RowSegment;

static int64_t sizeFromEnd(Value value, int64_t fromEnd) {
  auto type = cast<ShapedType>(value.getType());
  return fromEnd < type.getRank() ? type.getDimSize(type.getRank() - 1 - fromEnd) : 1;
}

/// Returns the number of blocks of `block` elements that cover `size`; unknown if size is.
static int64_t blocksOf(int64_t size, int64_t block) {
  return ShapedType::isDynamic(size) ? size : static_cast<int64_t>(llvm::divideCeil(size, block));
}

static InFlightDiagnostic emitFault(Operation *op) {
  return op->emitOpError() << "got faulty look-up tables: ";
}

static LogicalResult report(Operation *op, const std::string &fault) {
  return fault.empty() ? success() : LogicalResult(emitFault(op) << fault);
}

/// Checks the size of a table that a few bytes of text may state: all its numbers are equal. No
/// valid table is both that and large.
static LogicalResult checkEqualNumbers(Operation *op, Value table) {
  constexpr int64_t most = 1 << 20;
  ElementsAttr elements;
  if (!table || !matchPattern(table, m_Constant(&elements)) || !elements.isSplat())
    return success();
  int64_t numbers = 1;
  bool overflow = false;
  for (int64_t extent : elements.getShapedType().getShape())
    overflow |= static_cast<bool>(llvm::MulOverflow(numbers, extent, numbers));
  if (!overflow && numbers <= most)
    return success();
  return emitFault(op) << "expects a table of at most " << most << " equal numbers, but got "
                       << elements.getShapedType();
}

/// Returns the operands of a planned operation that are tables.
static SmallVector<Value> getTables(Operation *op) {
  SmallVector<Value> tables;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](PlannedDSDOp op) {
        tables = {op.getSegments(), op.getEntries(), op.getCombine()};
        llvm::append_range(tables, op.getStages());
      })
      .Case([&](PlannedSDDOp op) {
        tables = {op.getLut(), op.getSegments()};
        llvm::append_range(tables, op.getTiles());
      })
      .Case<PlannedSoftmaxOp, PlannedSoftmaxGradOp>(
          [&](auto op) { tables = {op.getSegments(), op.getEntries()}; })
      .Case([&](PlannedAttentionOp op) {
        tables = {op.getSegments(), op.getEntries()};
        llvm::append_range(tables, op.getLists());
      })
      .Case([&](PlannedAttentionGradOp op) {
        tables = {op.getSegments(), op.getEntries(), op.getColumnSegments(), op.getColumnEntries()};
        llvm::append_range(tables, op.getLists());
      })
      .Case<PlannedToDenseOp, PlannedFromDenseOp>([&](auto op) { tables = {op.getLut()}; })
      .Case([&](PlannedTransposeOp op) { tables = {op.getPermutation()}; })
      .Default([](Operation *) {});
  return tables;
}

namespace {
/// Describes the value blocks of an operation: how many its type states, the heads of the table and
/// those of the operation. A size that the types do not tell is dynamic.
struct StoredBlocks {
  int64_t stored, lutHeads, heads;
  /// True if all heads may also use the same value blocks: those of one head.
  bool mayShareValues;
};
} // namespace

/// Checks that a table of `rows` rows, one for each value block of its heads, names all the value
/// blocks that the operation has. If one head stands for all, each head has as many.
static LogicalResult checkStored(Operation *op, int64_t rows, const StoredBlocks &blocks) {
  if (ShapedType::isDynamic(blocks.stored) ||
      (blocks.stored == rows && (blocks.lutHeads != 1 || blocks.mayShareValues)))
    return success();
  const bool repeats = blocks.lutHeads == 1, known = !ShapedType::isDynamic(blocks.heads);
  if (repeats && !known && (rows == 0 ? blocks.stored == 0 : blocks.stored % rows == 0))
    return success();
  int64_t wanted = 0;
  if (repeats && known && !llvm::MulOverflow(rows, blocks.heads, wanted) && wanted == blocks.stored)
    return success();
  InFlightDiagnostic error = emitFault(op) << "expects each of the " << blocks.stored
                                           << " value blocks once, but got " << rows << " entries";
  if (repeats && known && blocks.heads != 1)
    error << " for each of " << blocks.heads << " heads";
  return error;
}

/// Returns `extent`, or, if the types do not tell it, the smallest extent that the table needs.
template <typename Row>
static int64_t known(int64_t extent, const std::vector<Row> &rows, int32_t Row::*field) {
  if (!ShapedType::isDynamic(extent))
    return extent;
  int64_t needed = 0;
  for (const Row &row : rows)
    needed = std::max<int64_t>(needed, int64_t{row.*field} + 1);
  return needed;
}

static LogicalResult verifyRows(Operation *op, Value segmentTable, Value entryTable,
                                Value combineTable, RowLutExtents extents,
                                const StoredBlocks &blocks) {
  std::optional<std::vector<RowSegment>> segments = readTable<RowSegment>(segmentTable);
  std::optional<std::vector<RowEntry>> entries = readTable<RowEntry>(entryTable);
  std::optional<std::vector<CombineRow>> combine;
  if (combineTable)
    combine = readTable<CombineRow>(combineTable);
  if (!segments || !entries || (combineTable && !combine))
    return success();
  // A product without entries reads no value blocks.
  const bool isEmptyProduct = isa<PlannedDSDOp>(op) && entries->empty();
  if (!isEmptyProduct && failed(checkStored(op, entries->size(), blocks)))
    return failure();
  extents.values = entries->size();
  extents.tiles = known(extents.tiles, *segments, &RowSegment::tile);
  extents.denseBlocks = known(extents.denseBlocks, *entries, &RowEntry::dense);
  std::span<const CombineRow> combineRows;
  if (combine)
    combineRows = *combine;
  return report(op, ::blocksparse::verifyRowTables({*segments, *entries, combineRows}, extents));
}

static LogicalResult verifyCoordinates(Operation *op, Value lutTable, Value segmentTable,
                                       CoordinateLutExtents extents, const StoredBlocks &blocks) {
  std::optional<std::vector<BlockCoordinate>> lut = readTable<BlockCoordinate>(lutTable);
  if (!lut)
    return success();
  std::optional<std::vector<CoordinateSegment>> segments;
  if (segmentTable)
    segments = readTable<CoordinateSegment>(segmentTable);
  else
    segments = std::vector<CoordinateSegment>{{0, static_cast<int32_t>(lut->size())}};
  if (!segments)
    return success();
  if (failed(checkStored(op, lut->size(), blocks)))
    return failure();
  extents.values = lut->size();
  extents.rows = known(extents.rows, *lut, &BlockCoordinate::row);
  extents.cols = known(extents.cols, *lut, &BlockCoordinate::col);
  return report(op, ::blocksparse::verifyCoordinateTables(*lut, *segments, extents));
}

static LogicalResult verify(PlannedDSDOp op) {
  ArrayRef<int64_t> block = op.getBlock();
  int64_t rows = block[op.getTransposeValues() ? 1 : 0];
  int64_t inner = block[op.getTransposeValues() ? 0 : 1];
  RowLutExtents extents;
  extents.heads = op.getLutHeads();
  extents.tiles = blocksOf(sizeFromEnd(op.getInit(), op.getTransposeOut() ? 0 : 1), rows);
  extents.denseBlocks = blocksOf(sizeFromEnd(op.getDense(), op.getTransposeB() ? 0 : 1), inner);
  extents.slots = op.getSlots();
  StoredBlocks blocks{sizeFromEnd(op.getValues(), 2), static_cast<int64_t>(op.getLutHeads()),
                      sizeFromEnd(op.getInit(), 2), /*mayShareValues=*/true};
  return verifyRows(op, op.getSegments(), op.getEntries(), op.getCombine(), extents, blocks);
}

/// Verifies the tables of a softmax or its gradient. If they have no `lse`, only the values tell
/// the number of heads.
template <typename Op>
static LogicalResult verifySoftmax(Op op, Value values, Value lse) {
  ArrayRef<int64_t> block = op.getBlock(), shape = op.getShape();
  RowLutExtents extents;
  extents.heads = op.getLutHeads();
  extents.tiles = blocksOf(shape[0], block[0]);
  extents.denseBlocks = blocksOf(shape[1], block[1]);
  StoredBlocks blocks{sizeFromEnd(values, 2), static_cast<int64_t>(op.getLutHeads()),
                      lse ? sizeFromEnd(lse, 1) : ShapedType::kDynamic, /*mayShareValues=*/true};
  return verifyRows(op, op.getSegments(), op.getEntries(), Value(), extents, blocks);
}

static LogicalResult verify(PlannedAttentionOp op) {
  ArrayRef<int64_t> block = op.getBlock();
  Value lse = op.getInits().back();
  RowLutExtents extents;
  extents.heads = op.getLutHeads();
  extents.tiles = blocksOf(sizeFromEnd(lse, 0), block[0]);
  extents.denseBlocks = blocksOf(sizeFromEnd(op.getK(), 1), block[1]);
  StoredBlocks blocks{ShapedType::kDynamic, static_cast<int64_t>(op.getLutHeads()),
                      sizeFromEnd(lse, 1), /*mayShareValues=*/true};
  return verifyRows(op, op.getSegments(), op.getEntries(), Value(), extents, blocks);
}

using BlockPlace = std::array<int32_t, 3>; // (head, block row, block column)

/// Returns the blocks of a row LUT in ascending order, or nothing if it is not constant.
static std::optional<std::vector<BlockPlace>> blocksOfRows(Value segmentTable, Value entryTable,
                                                           bool transposed) {
  std::optional<std::vector<RowSegment>> segments = readTable<RowSegment>(segmentTable);
  std::optional<std::vector<RowEntry>> entries = readTable<RowEntry>(entryTable);
  if (!segments || !entries)
    return std::nullopt;
  std::vector<BlockPlace> places;
  for (const RowSegment &segment : *segments)
    for (int64_t i = 0; i < segment.count; ++i) {
      const int32_t dense = (*entries)[segment.first + i].dense;
      if (transposed)
        places.push_back({segment.head, dense, segment.tile});
      else
        places.push_back({segment.head, segment.tile, dense});
    }
  std::sort(places.begin(), places.end());
  return places;
}

/// Checks that the two row LUTs of the gradient of attention, which are right in themselves, have
/// the same blocks.
static LogicalResult verifyTransposed(PlannedAttentionGradOp op) {
  auto rows = blocksOfRows(op.getSegments(), op.getEntries(), /*transposed=*/false);
  auto cols = blocksOfRows(op.getColumnSegments(), op.getColumnEntries(), /*transposed=*/true);
  if (!rows || !cols || *rows == *cols)
    return success();
  if (rows->size() != cols->size())
    return emitFault(op) << "expects the " << rows->size()
                         << " blocks of the rows in columns, but got " << cols->size();
  auto [row, col] = std::mismatch(rows->begin(), rows->end(), cols->begin());
  auto textOf = [](const BlockPlace &place) {
    return llvm::formatv("({0}, {1}, {2})", place[0], place[1], place[2]).str();
  };
  return emitFault(op) << "expects block " << textOf(*row)
                       << " of (head, row, column) in columns, but got " << textOf(*col);
}

/// Verifies the row LUT of the gradient of attention and that of the transpose, which must have the
/// same blocks.
static LogicalResult verify(PlannedAttentionGradOp op) {
  ArrayRef<int64_t> block = op.getBlock();
  const int64_t rows = blocksOf(sizeFromEnd(op.getLse(), 0), block[0]);
  const int64_t cols = blocksOf(sizeFromEnd(op.getK(), 1), block[1]);
  StoredBlocks blocks{ShapedType::kDynamic, static_cast<int64_t>(op.getLutHeads()),
                      sizeFromEnd(op.getLse(), 1), /*mayShareValues=*/true};
  RowLutExtents extents;
  extents.heads = op.getLutHeads();
  extents.tiles = rows;
  extents.denseBlocks = cols;
  if (failed(verifyRows(op, op.getSegments(), op.getEntries(), Value(), extents, blocks)))
    return failure();
  extents.tiles = cols;
  extents.denseBlocks = rows;
  if (failed(
          verifyRows(op, op.getColumnSegments(), op.getColumnEntries(), Value(), extents, blocks)))
    return failure();
  return verifyTransposed(op);
}

static LogicalResult verify(PlannedSDDOp op) {
  ArrayRef<int64_t> block = op.getBlock();
  CoordinateLutExtents extents;
  extents.heads = op.getLutHeads();
  extents.rows = blocksOf(sizeFromEnd(op.getA(), op.getTransposeA() ? 0 : 1), block[0]);
  extents.cols = blocksOf(sizeFromEnd(op.getB(), op.getTransposeB() ? 1 : 0), block[1]);
  int64_t headsOfA = sizeFromEnd(op.getA(), 2), headsOfB = sizeFromEnd(op.getB(), 2);
  bool isKnown = !ShapedType::isDynamic(headsOfA) && !ShapedType::isDynamic(headsOfB);
  StoredBlocks blocks{sizeFromEnd(op.getInit(), 2), static_cast<int64_t>(op.getLutHeads()),
                      isKnown ? std::max(headsOfA, headsOfB) : ShapedType::kDynamic,
                      /*mayShareValues=*/false};
  return verifyCoordinates(op, op.getLut(), op.getSegments(), extents, blocks);
}

/// Verifies the table of to_dense or from_dense, which have no segments. The heads of a dense
/// operand may share the values that are read, but not those that are written.
template <typename Op>
static LogicalResult verifyConversion(Op op, Value values, Value dense, bool mayShareValues) {
  ArrayRef<int64_t> block = op.getBlock();
  CoordinateLutExtents extents;
  extents.heads = op.getLutHeads();
  extents.rows = blocksOf(sizeFromEnd(dense, 1), block[0]);
  extents.cols = blocksOf(sizeFromEnd(dense, 0), block[1]);
  StoredBlocks blocks{sizeFromEnd(values, 2), static_cast<int64_t>(op.getLutHeads()),
                      sizeFromEnd(dense, 2), mayShareValues};
  return verifyCoordinates(op, op.getLut(), Value(), extents, blocks);
}

static LogicalResult verify(PlannedTransposeOp op) {
  std::optional<std::vector<int32_t>> permutation = readElements(op.getPermutation());
  if (!permutation || cast<ShapedType>(op.getPermutation().getType()).getRank() != 1)
    return success();
  StoredBlocks blocks{sizeFromEnd(op.getValues(), 2), static_cast<int64_t>(op.getLutHeads()),
                      ShapedType::kDynamic, /*mayShareValues=*/true};
  if (failed(checkStored(op, permutation->size(), blocks)))
    return failure();
  std::vector<uint8_t> used(permutation->size(), 0);
  for (auto [index, value] : llvm::enumerate(*permutation)) {
    if (value < 0 || value >= static_cast<int64_t>(used.size()) || used[value])
      return op.emitOpError() << "got a faulty permutation: expects each of the " << used.size()
                              << " value blocks once, but got " << value << " at " << index;
    used[value] = 1;
  }
  return success();
}

LogicalResult mlir::blocksparse::verifyLookUpTables(Operation *op) {
  for (Value table : getTables(op))
    if (failed(checkEqualNumbers(op, table)))
      return failure();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<PlannedDSDOp, PlannedSDDOp, PlannedTransposeOp, PlannedAttentionOp,
            PlannedAttentionGradOp>([](auto op) { return verify(op); })
      .Case([](PlannedSoftmaxOp op) { return verifySoftmax(op, op.getX(), op.getLse()); })
      .Case([](PlannedSoftmaxGradOp op) { return verifySoftmax(op, op.getY(), Value()); })
      .Case([](PlannedToDenseOp op) {
        return verifyConversion(op, op.getValues(), op.getInit(), /*mayShareValues=*/true);
      })
      .Case([](PlannedFromDenseOp op) {
        return verifyConversion(op, op.getInit(), op.getDense(), /*mayShareValues=*/false);
      })
      .Default([](Operation *) { return success(); });
}
