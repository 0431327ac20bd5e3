// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LookUpTables.h"
#include "StagedProduct.h"
#include "VerifyLookUpTables.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/KernelProblem.h"
#include "blocksparse/IR/RunTimeStages.h"
#include "blocksparse/Plan/Swizzle.h"
#include "blocksparse/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_BUILDSTAGESPASS
#include "blocksparse/Transforms/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::BlockCoordinate;
using ::blocksparse::GPUFacts;
using ::blocksparse::ReblockedRows;
using ::blocksparse::Reblocking;
using ::blocksparse::RowEntry;
using ::blocksparse::RowSegment;
using ::blocksparse::SampledWorkLists;
using ::blocksparse::StagedRows;
using ::blocksparse::StreamShape;
using ::blocksparse::TargetInfo;
using ::blocksparse::WorkLists;
using ::blocksparse::WorkOptions;

/// Writes the rows of op(V) of one value block of 16-bit elements, swizzled as kernels have them in
/// shared memory.
static void packBlock(const uint16_t *from, uint16_t *to, int64_t block, bool transpose) {
  constexpr int64_t perChunk = 8;
  for (int64_t row = 0; row < block; ++row)
    for (int64_t col = 0; col < block; ++col)
      to[row * block +
         ::blocksparse::swizzleChunk(block / perChunk, row, col / perChunk) * perChunk +
         col % perChunk] = transpose ? from[col * block + row] : from[row * block + col];
}

/// Returns the bytes of a constant of 16-bit elements (a splat has the bytes of one element), or
/// nothing.
static std::optional<ArrayRef<char>> rawBytes(ElementsAttr elements) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || static_cast<int64_t>(blob->getData().size()) != resource.getNumElements() * 2)
      return std::nullopt;
    return blob->getData();
  }
  if (auto dense = dyn_cast<DenseElementsAttr>(elements))
    return dense.getRawData();
  return std::nullopt;
}

/// Returns the values of `op` in the packed order of its stages, or null if they are not constant.
static Value createPacked(OpBuilder &builder, PlannedDSDOp op, ArrayRef<int32_t> order) {
  ElementsAttr elements;
  if (!matchPattern(op.getValues(), m_Constant(&elements)))
    return {};
  std::optional<ArrayRef<char>> bytes = rawBytes(elements);
  auto type = cast<RankedTensorType>(op.getValues().getType());
  int64_t block = op.getBlock()[0], area = block * block;
  int64_t stored = type.getDimSize(type.getRank() - 3), blocks = type.getNumElements() / area;
  // The values have the blocks of all heads, or those of one head that all heads share.
  if (!bytes || order.empty() || stored % order.size() != 0)
    return {};
  if (elements.isSplat())
    return op.getValues();
  std::vector<uint16_t> from(type.getNumElements()), to(type.getNumElements());
  std::memcpy(from.data(), bytes->data(), bytes->size());
  int64_t places = order.size();
  for (int64_t first = 0; first < blocks; first += places)
    for (auto [place, value] : llvm::enumerate(order))
      packBlock(&from[(first + value) * area], &to[(first + place) * area], block,
                op.getTransposeValues());
  return createConstant(builder, op.getLoc(), type,
                        {reinterpret_cast<const char *>(to.data()), to.size() * sizeof(uint16_t)},
                        "packed_");
}

static SmallVector<Value> createStageTables(OpBuilder &builder, Location loc,
                                            const StagedRows &staged, const WorkLists &lists) {
  auto size = [](const auto &table) { return static_cast<int64_t>(table.size()); };
  return {createTable(builder, loc, lists.tiles),
          createTable(builder, loc, {size(lists.workers)}, lists.workers),
          createTable(builder, loc, {size(staged.records) / staged.recordInts, staged.recordInts},
                      staged.records),
          createTable(builder, loc, {size(staged.rows) / staged.groupSize, staged.groupSize},
                      staged.rows),
          createTable(builder, loc, {size(staged.order)}, staged.order)};
}

static Value createGranules(OpBuilder &builder, Location loc, const ReblockedRows &planned,
                            const Reblocking &sizes) {
  const int64_t perBlock = sizes.granulesPerBlock();
  return createTable(builder, loc,
                     {static_cast<int64_t>(planned.granules.size()) / perBlock, perBlock},
                     planned.granules);
}

/// Returns the schedule with the column tile that its work lists are made for, if it left that to
/// the kernel.
static ScheduleAttr withTile(ScheduleAttr attribute, int64_t cols) {
  ::blocksparse::Schedule schedule = attribute.getSchedule();
  auto *wgmma = schedule.getIf<::blocksparse::WgmmaParams>();
  if (wgmma && !wgmma->tile.isGiven())
    wgmma->tile = {128, cols};
  return ScheduleAttr::get(attribute.getContext(), schedule);
}

/// Warns that an operation whose schedule names a family with stages keeps the kernels without
/// them. Says nothing if `reason` is empty: the schedule names no such family.
static void warnUnstaged(Operation *op, const std::string &reason) {
  if (!reason.empty())
    op->emitWarning() << "keeps kernels without stages in place of " << op->getAttr("schedule")
                      << ": " << reason;
}

static void buildStages(PlannedDSDOp op, const TargetInfo &target) {
  if (!op.getStages().empty())
    return;
  std::string error;
  std::optional<StagedProduct> product = StagedProduct::get(op, target, error);
  if (!product)
    return warnUnstaged(op, error);
  if (op.getCombine())
    return warnUnstaged(op, "expects unsplit rows, but got a combine table");
  if (isPlannedAtRunTime(op)) {
    // The kernels that make the tables are emitted with those that read them.
    op.setScheduleAttr(withTile(op.getScheduleAttr(), product->tileN));
    if (!getRunTimeStages(op, target.gpuFacts(), error))
      warnUnstaged(op, error);
    return;
  }
  std::optional<std::vector<RowSegment>> segments = readTable<RowSegment>(op.getSegments());
  std::optional<std::vector<RowEntry>> entries = readTable<RowEntry>(op.getEntries());
  if (!segments || !entries)
    return warnUnstaged(op, "expects constant look-up tables, but got some made at run time");
  // Without entries there is nothing to stage: the fallback writes the result.
  if (entries->empty())
    return;
  const GPUFacts &gpu = target.gpuFacts();
  product->rows.segments = *segments;
  product->rows.entries = *entries;
  std::optional<ReblockedRows> planned;
  if (product->reblocking) {
    planned = ::blocksparse::reblockRows(product->rows, *product->reblocking, error);
    if (!planned)
      return warnUnstaged(op, error);
    product->rows = planned->product(product->rows, *product->reblocking);
  }
  std::optional<StagedRows> staged =
      product->stream
          ? ::blocksparse::buildStreamStages(product->rows, *product->stream, product->tileN,
                                             /*cluster=*/true, gpu.rates, error)
          : ::blocksparse::buildWgmmaStages(product->rows, product->tileN, error);
  // Tables may be too large for 32-bit indices.
  if (!staged)
    return warnUnstaged(op, error);
  WorkOptions options;
  const int64_t cluster = ::blocksparse::clusterSize(product->tileN);
  options.workers = std::max<int64_t>(1, gpu.multiprocessors / cluster);
  options.cacheBytes = gpu.plannedCacheBytes();
  options.columnTilesTogether = ::blocksparse::columnTilesTogether(
      product->rows.opRows(), product->stream.has_value(), cluster);
  constexpr int64_t bytesPerElement = 2;
  if (product->stream)
    options.columnTileBytes = product->k * product->tileN * bytesPerElement;
  WorkLists lists = ::blocksparse::buildWorkLists(*staged, product->space, options);
  OpBuilder builder(op);
  SmallVector<Value> tables = createStageTables(builder, op.getLoc(), *staged, lists);
  if (planned)
    tables.push_back(createGranules(builder, op.getLoc(), *planned, *product->reblocking));
  op.getStagesMutable().assign(tables);
  op.setScheduleAttr(withTile(op.getScheduleAttr(), product->tileN));
  if (product->stream && !planned)
    if (Value packed = createPacked(builder, op, staged->order))
      op.getPackedMutable().assign(packed);
}

/// Warns if the schedule asks for tiles that the device can't make. The kernels that make them are
/// emitted with the one that reads them.
static void checkRunTimeTiles(PlannedSDDOp op, const TargetInfo &target) {
  ScheduleAttr attribute = op.getScheduleAttr();
  if (!attribute || !attribute.getIf<::blocksparse::WgmmaParams>())
    return;
  std::string error =
      ::blocksparse::checkSupport(attribute.getFamily(), *getKernelProblem(op), target);
  if (!error.empty() || !getRunTimeTiles(op, target.gpuFacts(), error))
    warnUnstaged(op, error);
}

static void buildTiles(PlannedSDDOp op, const TargetInfo &target) {
  if (!op.getTiles().empty())
    return;
  if (isPlannedAtRunTime(op))
    return checkRunTimeTiles(op, target);
  std::string error;
  std::optional<StagedSampled> product = StagedSampled::get(op, target, error);
  if (!product)
    return warnUnstaged(op, error);
  std::optional<std::vector<BlockCoordinate>> lut = readTable<BlockCoordinate>(op.getLut());
  if (!lut)
    return warnUnstaged(op, "expects a constant look-up table, but got one made at run time");
  if (lut->empty())
    return;
  const GPUFacts &gpu = target.gpuFacts();
  product->blocks.lut = *lut;
  WorkOptions options;
  options.workers = gpu.multiprocessors;
  options.cacheBytes = gpu.plannedCacheBytes();
  std::optional<SampledWorkLists> lists =
      ::blocksparse::buildSampledTiles(product->blocks, product->space, product->k, options, error);
  // Coordinates may be too large for 32-bit indices.
  if (!lists)
    return warnUnstaged(op, error);
  OpBuilder builder(op);
  SmallVector<Value> tables{createTable(builder, op.getLoc(), lists->tiles),
                            createTable(builder, op.getLoc(),
                                        {static_cast<int64_t>(lists->workers.size())},
                                        lists->workers)};
  if (!lists->destinations.empty()) {
    int64_t width = ::blocksparse::destinationsPerTile(product->blocks.block);
    tables.push_back(createTable(builder, op.getLoc(),
                                 {static_cast<int64_t>(lists->destinations.size()) / width, width},
                                 lists->destinations));
  }
  op.getTilesMutable().assign(tables);
}

/// Returns the tables of the lists of attention, or of a side of its gradient: tiles, where the
/// workers begin, and steps.
template <typename Lists>
static SmallVector<Value> createListTables(OpBuilder &builder, Location loc, const Lists &lists) {
  return {createTable(builder, loc, lists.tiles),
          createTable(builder, loc, {static_cast<int64_t>(lists.workers.size())}, lists.workers),
          createTable(builder, loc, lists.steps)};
}

static void buildLists(PlannedAttentionOp op, const TargetInfo &target) {
  if (!op.getLists().empty())
    return;
  std::string error;
  std::optional<StagedAttention> attention = StagedAttention::get(op, target, error);
  if (!attention)
    return warnUnstaged(op, error);
  std::optional<::blocksparse::AttentionLists> lists =
      ::blocksparse::buildAttentionLists(attention->problem(), attention->options, error);
  // Tables may be too large for 32-bit indices.
  if (!lists)
    return warnUnstaged(op, error);
  OpBuilder builder(op);
  SmallVector<Value> tables = createListTables(builder, op.getLoc(), *lists);
  if (::blocksparse::joinsBlocks(attention->layout.block()))
    tables.push_back(createTable(builder, op.getLoc(), lists->slices));
  op.getListsMutable().assign(tables);
}

static void buildLists(PlannedAttentionGradOp op, const TargetInfo &target) {
  if (!op.getLists().empty())
    return;
  std::string error;
  std::optional<StagedAttention> attention = StagedAttention::get(op, target, error);
  if (!attention)
    return warnUnstaged(op, error);
  OpBuilder builder(op);
  if (attention->ordered) {
    std::optional<::blocksparse::AttentionOrderLists> lists =
        ::blocksparse::buildAttentionOrderLists(attention->problem(), attention->options, error);
    // There may be too many steps.
    if (!lists)
      return warnUnstaged(op, error);
    op.getListsMutable().assign(createListTables(builder, op.getLoc(), *lists));
    return;
  }
  SmallVector<Value> tables;
  using ::blocksparse::AttentionGradSide;
  for (AttentionGradSide side : {AttentionGradSide::Keys, AttentionGradSide::Queries}) {
    std::optional<::blocksparse::AttentionGradLists> lists = ::blocksparse::buildAttentionGradLists(
        attention->problem(), side, attention->options, error);
    // Tables may be too large for 32-bit indices.
    if (!lists)
      return warnUnstaged(op, error);
    tables.append(createListTables(builder, op.getLoc(), *lists));
  }
  op.getListsMutable().assign(tables);
}

namespace {
struct BuildStages : mlir::blocksparse::impl::BuildStagesPassBase<BuildStages> {
  using BuildStagesPassBase::BuildStagesPassBase;

  void runOnOperation() override {
    if (target.isCPU())
      return;
    // Work lists are computed from tables whose indices must be right.
    WalkResult verified =
        getOperation()->walk([](Operation *op) { return WalkResult(verifyLookUpTables(op)); });
    if (verified.wasInterrupted())
      return signalPassFailure();
    getOperation()->walk([&](Operation *op) {
      if (auto dsd = dyn_cast<PlannedDSDOp>(op))
        buildStages(dsd, target);
      else if (auto sdd = dyn_cast<PlannedSDDOp>(op))
        buildTiles(sdd, target);
      else if (auto attention = dyn_cast<PlannedAttentionOp>(op))
        buildLists(attention, target);
      else if (auto grad = dyn_cast<PlannedAttentionGradOp>(op))
        buildLists(grad, target);
    });
  }
};
} // namespace
