// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LookUpTables.h"
#include "StagedProduct.h"
#include "blocksparse/IR/BlockSparseOps.h"
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
using ::blocksparse::RowEntry;
using ::blocksparse::RowSegment;
using ::blocksparse::SampledWorkLists;
using ::blocksparse::StagedRows;
using ::blocksparse::StreamShape;
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

static ScheduleAttr withTileN(ScheduleAttr schedule, int64_t tileN) {
  return ScheduleAttr::get(schedule.getContext(), schedule.getKernel(), schedule.getTileM(), tileN,
                           schedule.getTileK(), schedule.getStages(), schedule.getWarps(),
                           schedule.getGroup(), schedule.getSplit());
}

/// Returns the number of column tiles that are computed side by side. Two of them halve what is
/// read of the values from memory; four are better for pairs of block rows of 64 (measured, see
/// docs/Performance.md). Pairs in clusters would read more of the dense operand at a time than the
/// L2 cache holds.
static int64_t panelsTogether(const StagedProduct &product) {
  if (product.stream)
    return 1;
  const bool pairs = product.rows.opRows() % 128 != 0;
  if (!pairs)
    return 2;
  return ::blocksparse::clusterSize(product.tileN) > 1 ? 1 : 4;
}

static void buildStages(PlannedDSDOp op, const GPUFacts &gpu) {
  std::optional<StagedProduct> product = StagedProduct::get(op, gpu);
  if (!product || !op.getStages().empty() || op.getCombine())
    return;
  std::optional<std::vector<RowSegment>> segments = readTable<RowSegment>(op.getSegments());
  std::optional<std::vector<RowEntry>> entries = readTable<RowEntry>(op.getEntries());
  // Without entries there is nothing to stage: the fallback writes the result.
  if (!segments || !entries || entries->empty())
    return;
  product->rows.segments = *segments;
  product->rows.entries = *entries;
  std::string error;
  std::optional<StagedRows> staged =
      product->stream
          ? ::blocksparse::buildStreamStages(product->rows, *product->stream, product->tileN,
                                             /*cluster=*/true, gpu.rates, error)
          : ::blocksparse::buildWgmmaStages(product->rows, product->tileN, error);
  if (!staged) // tables beyond int32, or faulty ones, which blocksparse-verify-plan reports
    return;
  WorkOptions options;
  const int64_t cluster = ::blocksparse::clusterSize(product->tileN);
  options.workers = std::max<int64_t>(1, gpu.multiprocessors / cluster);
  options.cacheBytes = gpu.plannedCacheBytes();
  options.panelsTogether = panelsTogether(*product);
  constexpr int64_t bytesPerElement = 2;
  if (product->stream)
    options.panelBytes = product->k * product->tileN * bytesPerElement;
  WorkLists lists = ::blocksparse::buildWorkLists(*staged, product->space, options);
  OpBuilder builder(op);
  op.getStagesMutable().assign(createStageTables(builder, op.getLoc(), *staged, lists));
  op.setScheduleAttr(withTileN(op.getScheduleAttr(), product->tileN));
  if (product->stream)
    if (Value packed = createPacked(builder, op, staged->order))
      op.getPackedMutable().assign(packed);
}

static void buildTiles(PlannedSDDOp op, const GPUFacts &gpu) {
  std::optional<StagedSampled> product = StagedSampled::get(op);
  if (!product || !op.getTiles().empty())
    return;
  std::optional<std::vector<BlockCoordinate>> lut = readTable<BlockCoordinate>(op.getLut());
  if (!lut || lut->empty())
    return;
  product->blocks.lut = *lut;
  WorkOptions options;
  options.workers = gpu.multiprocessors;
  options.cacheBytes = gpu.plannedCacheBytes();
  std::string error;
  std::optional<SampledWorkLists> lists =
      ::blocksparse::buildSampledTiles(product->blocks, product->space, product->k, options, error);
  if (!lists) // places beyond int32, or a faulty table, which blocksparse-verify-plan reports
    return;
  OpBuilder builder(op);
  SmallVector<Value> tables{createTable(builder, op.getLoc(), lists->tiles),
                            createTable(builder, op.getLoc(),
                                        {static_cast<int64_t>(lists->workers.size())},
                                        lists->workers)};
  if (!lists->places.empty()) {
    int64_t width = ::blocksparse::placesPerTile(product->blocks.block);
    tables.push_back(createTable(builder, op.getLoc(),
                                 {static_cast<int64_t>(lists->places.size()) / width, width},
                                 lists->places));
  }
  op.getTilesMutable().assign(tables);
}

namespace {
struct BuildStages : mlir::blocksparse::impl::BuildStagesPassBase<BuildStages> {
  using BuildStagesPassBase::BuildStagesPassBase;

  void runOnOperation() override {
    if (target.isCPU())
      return;
    getOperation()->walk([&](Operation *op) {
      if (auto dsd = dyn_cast<PlannedDSDOp>(op))
        buildStages(dsd, target.gpuFacts());
      else if (auto sdd = dyn_cast<PlannedSDDOp>(op))
        buildTiles(sdd, target.gpuFacts());
    });
  }
};
} // namespace
