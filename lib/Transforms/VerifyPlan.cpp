// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LookUpTables.h"
#include "StagedProduct.h"
#include "VerifyLookUpTables.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Transforms/Passes.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_VERIFYPLANPASS
#include "blocksparse/Transforms/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::AttentionGradOperands;
using ::blocksparse::AttentionOperands;
using ::blocksparse::AttentionOrderOperands;
using ::blocksparse::AttentionSlices;
using ::blocksparse::AttentionStep;
using ::blocksparse::AttentionTile;
using ::blocksparse::BlockCoordinate;
using ::blocksparse::ReblockedRows;
using ::blocksparse::Reblocking;
using ::blocksparse::RowEntry;
using ::blocksparse::RowSegment;
using ::blocksparse::SampledOperands;
using ::blocksparse::SampledTile;
using ::blocksparse::StageOperands;
using ::blocksparse::StageTables;
using ::blocksparse::StageTile;
using ::blocksparse::TargetInfo;

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

/// Returns the first difference of the table of granules and `planned`, or an empty string.
static std::string verifyGranules(PlannedDSDOp op, const ReblockedRows &planned,
                                  const Reblocking &sizes) {
  if (op.getStages().size() != StageOperands::count)
    return "expects a table of granules with a schedule that names a block, but got none";
  Value table = op.getStages()[StageOperands::Granules];
  std::optional<std::vector<int32_t>> granules = readElements(table);
  const int64_t columns = cast<ShapedType>(table.getType()).getDimSize(1),
                wanted = sizes.granulesPerBlock();
  if (columns != wanted)
    return "expects " + std::to_string(wanted) + " granules of a planned block, but got " +
           std::to_string(columns);
  if (!granules || granules->size() != planned.granules.size())
    return "expects a constant table of " + std::to_string(planned.granules.size()) +
           " granules, but got " + (granules ? std::to_string(granules->size()) : "another");
  for (auto [index, pair] : llvm::enumerate(llvm::zip_equal(planned.granules, *granules)))
    if (auto [expected, got] = pair; expected != got)
      return "expects granule " + std::to_string(index % wanted) + " of planned block " +
             std::to_string(index / wanted) + " to be " + std::to_string(expected) + ", but got " +
             std::to_string(got);
  return {};
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
  std::optional<ReblockedRows> planned;
  if (product->reblocking) {
    std::string fault;
    planned = ::blocksparse::reblockRows(product->rows, *product->reblocking, fault);
    if (planned)
      fault = verifyGranules(op, *planned, *product->reblocking);
    if (!fault.empty())
      return reportFault(op, "stages", fault);
    product->rows = planned->product(product->rows, *product->reblocking);
  }
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

/// Verifies work lists of attention against the row LUT, which is verified already.
static LogicalResult verifyLists(PlannedAttentionOp op, const TargetInfo &target) {
  if (op.getLists().empty())
    return success();
  std::string reason;
  std::optional<StagedAttention> attention = StagedAttention::get(op, target, reason);
  OperandRange operands = op.getLists();
  std::optional<std::vector<AttentionTile>> tiles =
      readTable<AttentionTile>(operands[AttentionOperands::Tiles]);
  std::optional<std::vector<int32_t>> workers = readElements(operands[AttentionOperands::Workers]);
  std::optional<std::vector<AttentionStep>> steps =
      readTable<AttentionStep>(operands[AttentionOperands::Steps]);
  std::optional<std::vector<AttentionSlices>> slices{std::in_place};
  if (operands.size() > AttentionOperands::Slices)
    slices = readTable<AttentionSlices>(operands[AttentionOperands::Slices]);
  if (!attention || !tiles || !workers || !steps || !slices)
    return reportNoKernel(op, "lists", attention.has_value(), reason);
  return reportFault(op, "lists",
                     ::blocksparse::verifyAttentionLists(attention->problem(),
                                                         {*tiles, *workers, *steps, *slices}));
}

/// Verifies work lists of the gradient of attention in the same way.
static LogicalResult verifyLists(PlannedAttentionGradOp op, const TargetInfo &target) {
  if (op.getLists().empty())
    return success();
  std::string reason;
  std::optional<StagedAttention> attention = StagedAttention::get(op, target, reason);
  OperandRange operands = op.getLists();
  if (operands.size() == AttentionOrderOperands::count) {
    auto tiles =
        readTable<::blocksparse::AttentionOrderTile>(operands[AttentionOrderOperands::Tiles]);
    std::optional<std::vector<int32_t>> workers =
        readElements(operands[AttentionOrderOperands::Workers]);
    auto steps =
        readTable<::blocksparse::AttentionOrderStep>(operands[AttentionOrderOperands::Steps]);
    if (!attention || !tiles || !workers || !steps)
      return reportNoKernel(op, "lists", attention.has_value(), reason);
    return reportFault(
        op, "lists",
        ::blocksparse::verifyAttentionOrderLists(attention->problem(), {*tiles, *workers, *steps}));
  }
  using ::blocksparse::AttentionGradSide;
  for (AttentionGradSide side : {AttentionGradSide::Keys, AttentionGradSide::Queries}) {
    const auto first = side == AttentionGradSide::Keys ? AttentionGradOperands::KeyTiles
                                                       : AttentionGradOperands::QueryTiles;
    auto tiles = readTable<::blocksparse::AttentionGradTile>(operands[first]);
    std::optional<std::vector<int32_t>> workers = readElements(operands[first + 1]);
    auto steps = readTable<::blocksparse::AttentionGradStep>(operands[first + 2]);
    if (!attention || !tiles || !workers || !steps)
      return reportNoKernel(op, "lists", attention.has_value(), reason);
    if (failed(reportFault(op, "lists",
                           ::blocksparse::verifyAttentionGradLists(attention->problem(), side,
                                                                   {*tiles, *workers, *steps}))))
      return failure();
  }
  return success();
}

static LogicalResult verifyOperation(Operation *op, const TargetInfo &target) {
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (isSparseTensor(type))
        return op->emitOpError() << "expects no block-sparse tensor in the plan, but got " << type;
  if (failed(verifyLookUpTables(op)))
    return failure();
  if (auto dsd = dyn_cast<PlannedDSDOp>(op))
    return verifyStages(dsd, target);
  if (auto sdd = dyn_cast<PlannedSDDOp>(op))
    return verifyTiles(sdd, target);
  if (auto attention = dyn_cast<PlannedAttentionOp>(op))
    return verifyLists(attention, target);
  if (auto grad = dyn_cast<PlannedAttentionGradOp>(op))
    return verifyLists(grad, target);
  return success();
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
