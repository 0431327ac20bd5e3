// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LookUpTables.h"
#include "StagedProduct.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_VERIFYPLANPASS
#include "blocksparse/Transforms/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::BlockCoordinate;
using ::blocksparse::CombineRow;
using ::blocksparse::CoordinateLutExtents;
using ::blocksparse::CoordinateSegment;
using ::blocksparse::RowEntry;
using ::blocksparse::RowLutExtents;
using ::blocksparse::RowSegment;
using ::blocksparse::SampledOperands;
using ::blocksparse::SampledTile;
using ::blocksparse::StageOperands;
using ::blocksparse::StageTables;
using ::blocksparse::StageTile;
using ::blocksparse::TargetInfo;

static int64_t sizeFromEnd(Value value, int64_t fromEnd) {
  auto type = cast<ShapedType>(value.getType());
  return fromEnd < type.getRank() ? type.getDimSize(type.getRank() - 1 - fromEnd) : 1;
}

/// Returns the number of blocks of `block` elements that cover `size`; unknown if size is.
static int64_t blocksOf(int64_t size, int64_t block) {
  return ShapedType::isDynamic(size) ? size : static_cast<int64_t>(llvm::divideCeil(size, block));
}

/// Returns the number of value blocks of the `lutHeads` heads of a table. `values` is [.., S, bm,
/// bn] of a tensor of `heads` heads, or of one head that all heads share: `table`, with a row for
/// each block, then lists all of its blocks.
static int64_t tableValues(Value values, int64_t lutHeads, int64_t heads, Value table) {
  int64_t stored = sizeFromEnd(values, 2);
  if (ShapedType::isDynamic(stored) || ShapedType::isDynamic(heads) || heads == 0)
    return ShapedType::kDynamic;
  if (lutHeads == 1 && stored == sizeFromEnd(table, 1))
    return stored;
  return lutHeads == heads ? stored : stored / heads;
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

/// Reports a fault, or that a table of `rows` rows has some but not all value blocks.
static LogicalResult report(Operation *op, const std::string &fault, int64_t rows, int64_t values) {
  if (!fault.empty())
    return op->emitOpError() << "got faulty look-up tables: " << fault;
  if (rows == 0 || ShapedType::isDynamic(values) || rows == values)
    return success();
  return op->emitOpError() << "got faulty look-up tables: expects each of the " << values
                           << " value blocks once, but got " << rows << " entries";
}

static LogicalResult verifyRows(Operation *op, Value segmentTable, Value entryTable,
                                Value combineTable, RowLutExtents extents) {
  std::optional<std::vector<RowSegment>> segments = readTable<RowSegment>(segmentTable);
  std::optional<std::vector<RowEntry>> entries = readTable<RowEntry>(entryTable);
  std::optional<std::vector<CombineRow>> combine;
  if (combineTable)
    combine = readTable<CombineRow>(combineTable);
  if (!segments || !entries || (combineTable && !combine))
    return success();
  int64_t values = extents.values;
  extents.tiles = known(extents.tiles, *segments, &RowSegment::tile);
  extents.denseBlocks = known(extents.denseBlocks, *entries, &RowEntry::dense);
  extents.values = known(extents.values, *entries, &RowEntry::value);
  std::span<const CombineRow> combineRows;
  if (combine)
    combineRows = *combine;
  return report(op, ::blocksparse::verifyRowTables({*segments, *entries, combineRows}, extents),
                entries->size(), values);
}

static LogicalResult verifyCoordinates(Operation *op, Value lutTable, Value segmentTable,
                                       CoordinateLutExtents extents) {
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
  int64_t values = extents.values;
  extents.rows = known(extents.rows, *lut, &BlockCoordinate::row);
  extents.cols = known(extents.cols, *lut, &BlockCoordinate::col);
  extents.values = known(extents.values, *lut, &BlockCoordinate::value);
  return report(op, ::blocksparse::verifyCoordinateTables(*lut, *segments, extents), lut->size(),
                values);
}

/// Reports work lists that no kernel can read.
template <typename Op>
static LogicalResult reportNoKernel(Op op, StringRef lists, bool fits, const std::string &reason) {
  return op.emitOpError() << "expects " << lists
                          << " for a kernel that its schedule names, constant tables and static "
                             "shapes that fit it, but got "
                          << op.getScheduleAttr() << " and "
                          << (fits ? "other tables" : "other shapes")
                          << (reason.empty() ? "" : ": ") << reason;
}

static LogicalResult reportFault(Operation *op, StringRef lists, const std::string &fault) {
  if (fault.empty())
    return success();
  return op->emitOpError() << "got faulty " << lists << ": " << fault;
}

/// Verifies stages against the row LUT, which is verified already.
static LogicalResult verifyStages(PlannedDSDOp op, const TargetInfo &target) {
  if (op.getStages().empty())
    return success();
  std::string reason;
  std::optional<StagedProduct> product = StagedProduct::get(op, target, reason);
  std::optional<std::vector<RowSegment>> segments = readTable<RowSegment>(op.getSegments());
  std::optional<std::vector<RowEntry>> entries = readTable<RowEntry>(op.getEntries());
  using Words = std::optional<std::vector<int32_t>>;
  OperandRange operands = op.getStages();
  std::optional<std::vector<StageTile>> tiles =
      readTable<StageTile>(operands[StageOperands::Tiles]);
  Words workers = readElements(operands[StageOperands::Workers]);
  Words records = readElements(operands[StageOperands::Records]);
  Words rows = readElements(operands[StageOperands::Rows]);
  Words order = readElements(operands[StageOperands::Order]);
  if (!product || !segments || !entries || !tiles || !workers || !records || !rows || !order)
    return reportNoKernel(op, "stages", product.has_value(), reason);
  product->rows.segments = *segments;
  product->rows.entries = *entries;
  auto columnsOf = [&](StageOperands::Operand table) {
    return cast<ShapedType>(operands[table].getType()).getDimSize(1);
  };
  StageTables stages{*tiles,
                     *workers,
                     *records,
                     *rows,
                     *order,
                     columnsOf(StageOperands::Records),
                     columnsOf(StageOperands::Rows)};
  std::string fault = ::blocksparse::verifyStages(product->rows, stages, product->space,
                                                  product->stream ? &*product->stream : nullptr);
  return reportFault(op, "stages", fault);
}

static LogicalResult verify(PlannedDSDOp op, const TargetInfo &target) {
  ArrayRef<int64_t> block = op.getBlock();
  int64_t rows = block[op.getTransposeValues() ? 1 : 0];
  int64_t inner = block[op.getTransposeValues() ? 0 : 1];
  int64_t lutHeads = op.getLutHeads();
  RowLutExtents extents;
  extents.heads = lutHeads;
  extents.tiles = blocksOf(sizeFromEnd(op.getInit(), op.getTransposeOut() ? 0 : 1), rows);
  extents.denseBlocks = blocksOf(sizeFromEnd(op.getDense(), op.getTransposeB() ? 0 : 1), inner);
  extents.values =
      tableValues(op.getValues(), lutHeads, sizeFromEnd(op.getInit(), 2), op.getEntries());
  extents.slots = op.getSlots();
  if (failed(verifyRows(op, op.getSegments(), op.getEntries(), op.getCombine(), extents)))
    return failure();
  return verifyStages(op, target);
}

/// Verifies the tables of a softmax or its gradient. Their values are those of `lut_heads` heads,
/// or of more heads.
template <typename Op>
static LogicalResult verifySoftmax(Op op, Value values) {
  ArrayRef<int64_t> block = op.getBlock(), shape = op.getShape();
  RowLutExtents extents;
  extents.heads = op.getLutHeads();
  extents.tiles = blocksOf(shape[0], block[0]);
  extents.denseBlocks = blocksOf(shape[1], block[1]);
  extents.values = op.getLutHeads() == 1 ? ShapedType::kDynamic : sizeFromEnd(values, 2);
  return verifyRows(op, op.getSegments(), op.getEntries(), Value(), extents);
}

/// Verifies work lists against the coordinate LUT, which is verified already.
static LogicalResult verifyTiles(PlannedSDDOp op, const TargetInfo &target) {
  if (op.getTiles().empty())
    return success();
  std::string reason;
  std::optional<StagedSampled> product = StagedSampled::get(op, target, reason);
  std::optional<std::vector<BlockCoordinate>> lut = readTable<BlockCoordinate>(op.getLut());
  OperandRange operands = op.getTiles();
  std::optional<std::vector<SampledTile>> tiles =
      readTable<SampledTile>(operands[SampledOperands::Tiles]);
  std::optional<std::vector<int32_t>> workers = readElements(operands[SampledOperands::Workers]);
  std::optional<std::vector<int32_t>> places;
  if (operands.size() == SampledOperands::count)
    places = readElements(operands[SampledOperands::Destinations]);
  else
    places.emplace();
  if (!product || !lut || !tiles || !workers || !places)
    return reportNoKernel(op, "work lists", product.has_value(), reason);
  product->blocks.lut = *lut;
  return reportFault(op, "work lists",
                     ::blocksparse::verifySampledTiles(product->blocks, {*tiles, *workers, *places},
                                                       product->space));
}

static LogicalResult verify(PlannedSDDOp op, const TargetInfo &target) {
  ArrayRef<int64_t> block = op.getBlock();
  CoordinateLutExtents extents;
  extents.heads = op.getLutHeads();
  extents.rows = blocksOf(sizeFromEnd(op.getA(), op.getTransposeA() ? 0 : 1), block[0]);
  extents.cols = blocksOf(sizeFromEnd(op.getB(), op.getTransposeB() ? 1 : 0), block[1]);
  extents.values = op.getLutHeads() == 1 ? ShapedType::kDynamic : sizeFromEnd(op.getInit(), 2);
  if (failed(verifyCoordinates(op, op.getLut(), op.getSegments(), extents)))
    return failure();
  return verifyTiles(op, target);
}

/// Verifies the table of to_dense or from_dense, which have no segments.
template <typename Op>
static LogicalResult verifyConversion(Op op, Value values, Value dense) {
  ArrayRef<int64_t> block = op.getBlock();
  CoordinateLutExtents extents;
  extents.heads = op.getLutHeads();
  extents.rows = blocksOf(sizeFromEnd(dense, 1), block[0]);
  extents.cols = blocksOf(sizeFromEnd(dense, 0), block[1]);
  extents.values = tableValues(values, op.getLutHeads(), sizeFromEnd(dense, 2), op.getLut());
  return verifyCoordinates(op, op.getLut(), Value(), extents);
}

static LogicalResult verify(PlannedTransposeOp op) {
  std::optional<std::vector<int32_t>> permutation = readElements(op.getPermutation());
  if (!permutation)
    return success();
  std::vector<uint8_t> used(permutation->size(), 0);
  for (auto [index, value] : llvm::enumerate(*permutation)) {
    if (value < 0 || value >= static_cast<int64_t>(used.size()) || used[value])
      return op.emitOpError() << "got a faulty permutation: expects each of the " << used.size()
                              << " value blocks once, but got " << value << " at " << index;
    used[value] = 1;
  }
  return success();
}

static LogicalResult verifyOperation(Operation *op, const TargetInfo &target) {
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (isSparseTensor(type))
        return op->emitOpError() << "expects no block-sparse tensor in the plan, but got " << type;
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<PlannedDSDOp, PlannedSDDOp>([&](auto op) { return verify(op, target); })
      .Case([](PlannedTransposeOp op) { return verify(op); })
      .Case([](PlannedSoftmaxOp op) { return verifySoftmax(op, op.getX()); })
      .Case([](PlannedSoftmaxGradOp op) { return verifySoftmax(op, op.getY()); })
      .Case([](PlannedToDenseOp op) { return verifyConversion(op, op.getValues(), op.getInit()); })
      .Case([](PlannedFromDenseOp op) { return verifyConversion(op, op.getInit(), op.getDense()); })
      .Default([](Operation *) { return success(); });
}

namespace {
struct VerifyPlan : mlir::blocksparse::impl::VerifyPlanPassBase<VerifyPlan> {
  using VerifyPlanPassBase::VerifyPlanPassBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    WalkResult result = getOperation()->walk(
        [&](Operation *op) { return WalkResult(verifyOperation(op, target)); });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
