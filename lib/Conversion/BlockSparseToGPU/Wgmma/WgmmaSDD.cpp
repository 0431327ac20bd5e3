// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The `cuda.wgmma` and `cuda.wgmma_transposed` kernels of planned_sdd. A tile is a set of stored
// blocks in up to 128 rows and 256 columns of the result; see blocksparse/Plan/SampledTiles.h for
// its table. A tile may gather its rows and columns from block rows and block columns that are not
// neighbours. The result is stored in subtiles or, if several blocks share a subtile, block by
// block.

#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../../Device/Opaque.h"
#include "../Kit/AsyncCopy.h"
#include "../Kit/IntTable.h"
#include "../Kit/SharedTile.h"
#include "../Operands/StagedTiles.h"
#include "../Planner/PlannerKernels.h"
#include "TransposeDense.h"
#include "WgmmaKernels.h"
#include "WgmmaProduct.h"
#include "blocksparse/IR/KernelProblem.h"
#include "blocksparse/Plan/SampledTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;
using ::blocksparse::GatheredIndices;
using ::blocksparse::SampledTile;

static constexpr int64_t subtileRows = ::blocksparse::subtileSize;
/// Fields of a tile's WgmmaWork that follow the words of its row of the table of tiles: the index
/// of the row, and this thread's destination for each batch of subtiles.
static constexpr int64_t indexField = SampledTileTable::columns, firstDestination = indexField + 1;

static MemRefType bufferType(Value memref) { return cast<MemRefType>(memref.getType()); }

namespace {

/// Describes a factor as tiles see it: rows m (or columns n) by the k of the reduction.
struct Factor {
  Value memref;
  /// True if the factor is K-major.
  bool kMajor = false;
  /// If true, the rows or columns of a tile are gathered: `perSubtile` boxes form a subtile of 64,
  /// and more than 1 only if the factor is K-major. Otherwise each subtile is loaded as one box.
  bool gathers = false;
  int64_t perSubtile = 1;

  /// Makes the factor gathered, in boxes of `size` rows or columns.
  void gather(int64_t size) {
    gathers = true;
    perSubtile = subtileRows / size;
  }
  /// True if contiguous columns of a gathered factor are loaded as complete subtiles, too.
  bool hasRuns = false;
  bool copiesSubtiles() const { return !gathers || (hasRuns && perSubtile > 1); }
  int64_t gatheredSize() const { return subtileRows / perSubtile; }
  TensorBox subtileBox() const { return {subtileRows}; }
  TensorBox gatheredBox() const { return {gatheredSize()}; }
};

/// Holds the tensor maps of a factor: of complete subtiles and of gathered blocks. Null if no load
/// needs the map.
struct FactorMaps {
  Value subtiles, blocks;
};

/// Describes where a row of the table of tiles lists the gathered blocks of a factor: indices, two
/// to a word, from field `firstWord` on. Field `count` contains their number; they form up to
/// `subtiles` subtiles.
struct GatheredFields {
  int64_t firstWord, count, subtiles;
};
constexpr GatheredFields gatheredRows{SampledTileTable::BlockRows, SampledTileTable::NumBlockRows,
                                      2};
constexpr GatheredFields gatheredColumns{SampledTileTable::BlockCols,
                                         SampledTileTable::NumBlockCols, 4};

/// Holds the factors of the product: the operands, or temporary memory to which they were written
/// transposed.
struct Factors {
  Value a, b;
  ::blocksparse::SampledFactors transposes;
};

/// Describes the boxes, the factors and the shape of the kernel of a planned_sdd.
struct SDDPlan {
  SDDPlan(PlannedSDDOp op, const Factors &factors, const ::blocksparse::GPUFacts &gpu);

  ::blocksparse::BlockShape block;
  ::blocksparse::SampledForm form;
  /// Factors of the product that is computed. With swap AB, that is the transpose of the
  /// operation's product.
  Factor left, right;
  WgmmaShape shape;
  /// Number of subtile columns of a tile.
  int64_t subtiles;
  int64_t steps;
  /// Returns true if several blocks share a subtile; the result is then stored block by block.

  bool hasBlocks() const { return ::blocksparse::sharesSubtiles(block); }
  SubtileStore::Blocks blocks() const { return {block.rows, block.cols}; }
  /// Returns the box of one store.
  TensorBox resultBox() const {
    return hasBlocks() ? TensorBox{block.rows, 1, block.cols} : TensorBox{subtileRows};
  }
  /// Returns the number of batches of subtiles of a tile; the blocks of a batch are stored together
  /// by a warpgroup.
  int64_t batches() const { return subtiles / WgmmaShape::resultBuffers; }
};

/// Emits the kernel of a planned_sdd.
class SDDKernel : public WgmmaKernel {
public:
  SDDKernel(ImplicitLocOpBuilder &b, PlannedSDDOp op, const SDDPlan &plan, FactorMaps left,
            FactorMaps right, Value out, const IRMapping &mapping)
      : op(op), plan(plan), leftMaps(inKernel(left, mapping)), rightMaps(inKernel(right, mapping)),
        outMap(mapping.lookup(out)),
        tileTable(IntTable::get(b, mapping.lookup(op.getTiles()[SampledOperands::Tiles]))),
        workers(IntTable::get(b, mapping.lookup(op.getTiles()[SampledOperands::Workers]))) {
    if (plan.hasBlocks())
      places = IntTable::get(b, mapping.lookup(op.getTiles()[SampledOperands::Destinations]));
  }

  TileRange tiles(ImplicitLocOpBuilder &b) override { return StagedTiles::rangeOfCta(b, workers); }
  WgmmaWork getTile(ImplicitLocOpBuilder &b, Value number) override;
  Value stepBytes(ImplicitLocOpBuilder &b, const WgmmaWork &tile, ArrayRef<Value>) override;
  void emitCopies(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value step, ArrayRef<Value>,
                  const StageBuffers &stage) override;
  SmallVector<Value> emitResult(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value warpgroup,
                                const SubtileStore &store, InputSubtiles &,
                                ArrayRef<Value> accumulators) override;
  void emitDeferred(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value warpgroup,
                    const SubtileStore &store, ArrayRef<Value> deferred,
                    int64_t accumulators) override;

private:
  /// Describes where a load of a factor writes: shared-memory address (i32) and full barrier. `k`
  /// (i32) is the first value of the reduction to load.
  struct Target {
    Value address, barrier, k;
  };

  static FactorMaps inKernel(FactorMaps maps, const IRMapping &mapping) {
    return {mapping.lookupOrNull(maps.subtiles), mapping.lookupOrNull(maps.blocks)};
  }
  /// Issues the load of one box of a factor.
  void emitCopy(ImplicitLocOpBuilder &b, const Factor &factor, Value map, TensorBox box,
                const WgmmaWork &tile, Value across, const Target &to, int64_t cluster = 1) const;
  /// Issues the loads of a gathered factor by one producer warp.
  void emitGathered(ImplicitLocOpBuilder &b, const Factor &factor, const FactorMaps &maps,
                    const WgmmaWork &tile, const GatheredFields &fields, Value warp,
                    const Target &to) const;
  void readDestinations(ImplicitLocOpBuilder &b, SmallVectorImpl<Value> &fields) const;
  /// Returns the index (i32) of the first value block of the tile's batch and head.
  Value firstBlock(ImplicitLocOpBuilder &b, const WgmmaWork &tile);
  /// Starts the store of subtile `number` of warpgroup `warpgroup` from shared memory at `address`.
  void storeSubtileOf(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value warpgroup,
                      int64_t number, Value address);
  /// Starts the store of this thread's block of batch `batch` from shared memory at `address`.
  void storeBlock(ImplicitLocOpBuilder &b, const WgmmaWork &tile, int64_t batch, Value address);

  PlannedSDDOp op;
  SDDPlan plan;
  FactorMaps leftMaps, rightMaps;
  Value outMap;
  IntTable tileTable, workers, places;
};

} // namespace

/// Returns the length of the reduction.
static int64_t innerSize(PlannedSDDOp op) {
  MemRefType type = bufferType(op.getA());
  return type.getDimSize(type.getRank() - (op.getTransposeA() ? 2 : 1));
}

/// Returns the size in bytes of the matrix of one batch and head of a factor.
static int64_t matrixBytes(Value memref) {
  constexpr int64_t elementBytes = 2;
  ArrayRef<int64_t> sizes = bufferType(memref).getShape().take_back(2);
  return sizes.front() * sizes.back() * elementBytes;
}

static ::blocksparse::BlockShape blockOf(PlannedSDDOp op) {
  return {op.getBlock()[0], op.getBlock()[1]};
}

/// Returns the transpositions of the factors for which the operation's work lists were made, or
/// nothing if its schedule names another kernel.
static std::optional<::blocksparse::SampledFactors> getTransposes(PlannedSDDOp op) {
  if (!op.getSchedule())
    return std::nullopt;
  return ::blocksparse::SampledFactors::get(op.getSchedule()->getFamily(), blockOf(op),
                                            {op.getTransposeA(), op.getTransposeB()});
}

SDDPlan::SDDPlan(PlannedSDDOp op, const Factors &factors, const ::blocksparse::GPUFacts &gpu)
    : block(blockOf(op)) {
  const auto *params = op.getSchedule()->getIf<::blocksparse::WgmmaParams>();
  form =
      ::blocksparse::SampledForm::get(block, factors.transposes, params->gather, params->cluster);
  shape.cluster = form.cluster;
  shape.splitColumns = !form.sharesColumns(block);
  subtiles = form.subtileColumns(block);
  shape.cols = subtiles * subtileCols / (shape.splitColumns ? 2 : 1);
  shape.element = shape.result = getElementTypeOrSelf(op.getA().getType());
  left = {factors.a, !factors.transposes.transposeA};
  right = {factors.b, factors.transposes.transposeB};
  if (form.swapsAB)
    std::swap(left, right);
  if (hasBlocks() && form.gathersRows)
    left.gather(form.of(block).rows * form.rowsTogether);
  if (form.gathersColumns)
    right.gather(form.of(block).cols * form.columnsTogether);
  right.hasRuns = true;
  if (right.gathers)
    shape.producerWarps = 4;
  shape.aKMajor = left.kMajor;
  shape.bKMajor = right.kMajor;
  shape.transposeOut = form.swapsAB;
  shape.fitStages(params->stages ? params->stages : params->usualStages, gpu.sharedMemoryPerBlock);
  steps = llvm::divideCeil(innerSize(op), WgmmaShape::stepDepth);
  // Gathered tiles read from all over the factors. CTAs are throttled only if the factors do not
  // fit in the L2 cache.
  if (form.gathersRows &&
      matrixBytes(op.getA()) + matrixBytes(op.getB()) > gpu.plannedCacheBytes()) {
    shape.blocks = bufferType(op.getTiles()[SampledOperands::Workers]).getDimSize(0) - 1;
    shape.throttledTiles =
        bufferType(op.getTiles()[SampledOperands::Tiles]).getDimSize(0) / shape.blocks;
  }
}

/// Returns i1: a coordinate or a destination is not -1.
static Value isThere(ImplicitLocOpBuilder &b, Value number) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, number, i32Constant(b, 0));
}

WgmmaWork SDDKernel::getTile(ImplicitLocOpBuilder &b, Value number) {
  SmallVector<Value> fields = tileTable.read(b, number, 0, SampledTileTable::columns);
  fields.push_back(number);
  if (plan.hasBlocks())
    readDestinations(b, fields);
  Value steps = i32Constant(b, plan.steps);
  // The number of steps is opaque, because LLVM would unroll all of a few k steps, and the
  // addresses of their loads would not fit in the registers of the producer.
  return {plan.steps > 2 ? makeOpaque(b, steps) : steps, fields};
}

/// Appends, for each batch of subtiles, the destination of the block that this thread stores. They
/// are read before the products, so that their latency is hidden.
void SDDKernel::readDestinations(ImplicitLocOpBuilder &b, SmallVectorImpl<Value> &fields) const {
  Value thread =
      arith::IndexCastOp::create(b, b.getI32Type(), gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  // The warpgroups are the producer, half 0 and half 1. The producer does not use what it reads.
  Value next = Int(b, thread) / 128 + 1;
  int64_t ofSubtile = plan.blocks().perSubtile(), each = WgmmaShape::resultBuffers * ofSubtile;
  int64_t width = ::blocksparse::destinationsPerTile(plan.block);
  Value at =
      Int(b, fields[SampledTileTable::DestinationRow]) * width + Int(b, next) % 2 * (width / 2);
  Value block = Int(b, thread) % each;
  if (plan.form.swapsAB) {
    // The table lists the blocks of a subtile along its columns, which are rows of the result.
    int64_t down = subtileRows / plan.block.rows, across = subtileRows / plan.block.cols;
    Value inSubtile = Int(b, block) % ofSubtile;
    Value transposed = Int(b, inSubtile) % across * down + Int(b, inSubtile) / across;
    block = Int(b, block) / ofSubtile * ofSubtile + transposed;
  }
  at = Int(b, at) + block;
  for (int64_t batch = 0; batch < plan.batches(); ++batch)
    fields.push_back(places.readAt(b, Int(b, at) + (batch * each)));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

Value SDDKernel::stepBytes(ImplicitLocOpBuilder &b, const WgmmaWork &tile, ArrayRef<Value>) {
  auto ofBlocks = [&](const Factor &factor, int64_t field) {
    return Int(b, tile.fields[field]) * (factor.gatheredBox().bytes());
  };
  auto ofSubtiles = [&](int64_t firstField, int64_t subtiles) {
    Value bytes = i32Constant(b, 0);
    for (int64_t subtile = 0; subtile < subtiles; ++subtile)
      bytes = Int(b, bytes) +
              arith::SelectOp::create(b, isThere(b, tile.fields[firstField + subtile]),
                                      i32Constant(b, WgmmaTile::matrixBytes), i32Constant(b, 0));
    return bytes;
  };
  Value rows = plan.left.gathers ? ofBlocks(plan.left, SampledTileTable::NumBlockRows)
                                 : ofSubtiles(SampledTileTable::FirstRow, plan.shape.aMatrices());
  Value cols = plan.right.gathers ? ofBlocks(plan.right, SampledTileTable::NumBlockCols)
                                  : ofSubtiles(SampledTileTable::FirstCol, plan.subtiles);
  return Int(b, rows) + cols;
}

/// Loads the box that begins at row or column `across` (i32) of the factor, for each of `cluster`
/// CTAs (multicast).
void SDDKernel::emitCopy(ImplicitLocOpBuilder &b, const Factor &factor, Value map, TensorBox box,
                         const WgmmaWork &tile, Value across, const Target &to,
                         int64_t cluster) const {
  TensorCoord coord =
      StagedTiles::coordIn(b, factor.memref, across, to.k, tile.fields[SampledTileTable::Batch],
                           tile.fields[SampledTileTable::Head]);
  if (!factor.kMajor)
    std::swap(coord.row, coord.col);
  emitTensorLoad(b, map, box, coord, to.address, to.barrier, cluster);
}

/// Each producer warp issues an equal share of the loads: of columns those of one subtile, of rows
/// as many.
void SDDKernel::emitGathered(ImplicitLocOpBuilder &b, const Factor &factor, const FactorMaps &maps,
                             const WgmmaWork &tile, const GatheredFields &fields, Value warp,
                             const Target &to) const {
  int64_t all = fields.subtiles * factor.perSubtile,
          warps = std::min(all, plan.shape.producerWarps);
  int64_t each = all / warps;
  Value first = Int(b, warp) * each;
  // The indices are read again in each k step, because the producer has no registers to keep them
  // in.
  Value row = Int(b, makeOpaque(b, tile.fields[indexField])) * tileTable.width();
  auto copy = [&](ImplicitLocOpBuilder &b, Value map, TensorBox box, int64_t i) {
    Value index = Int(b, first) + i;
    Value word = Int(b, index) / GatheredIndices::perWord + fields.firstWord;
    Value pair = tileTable.readAt(b, Int(b, row) + word);
    Value isFirst = arith::CmpIOp::create(
        b, arith::CmpIPredicate::eq, Int(b, index) % GatheredIndices::perWord, i32Constant(b, 0));
    Value number = arith::SelectOp::create(b, isFirst, Int(b, pair) % (GatheredIndices::mask + 1),
                                           Int(b, pair) / (GatheredIndices::mask + 1));
    Target at = to;
    at.address = Int(b, to.address) + Int(b, index) * (factor.gatheredBox().bytes());
    emitCopy(b, factor, map, box, tile, Int(b, number) * factor.gatheredSize(), at);
  };
  auto copyEach = [&](ImplicitLocOpBuilder &b) {
    for (int64_t i = 0; i < each; ++i) {
      Value has = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, tile.fields[fields.count],
                                        Int(b, first) + i);
      emitIf(b, has,
             [&](ImplicitLocOpBuilder &b) { copy(b, maps.blocks, factor.gatheredBox(), i); });
    }
  };
  auto copyPart = [&](ImplicitLocOpBuilder &b) {
    if (!factor.copiesSubtiles())
      return copyEach(b);
    Value bit =
        Int(b, arith::ShRUIOp::create(b, tile.fields[SampledTileTable::Contiguous], warp)) % 2;
    auto isRun = [&](int64_t wanted) {
      return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, bit, i32Constant(b, wanted));
    };
    emitIf(b, isRun(1),
           [&](ImplicitLocOpBuilder &b) { copy(b, maps.subtiles, factor.subtileBox(), 0); });
    emitIf(b, isRun(0), copyEach);
  };
  if (warps == plan.shape.producerWarps)
    return copyPart(b);
  Value takesPart =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, warp, i32Constant(b, warps));
  emitIf(b, takesPart, copyPart);
}

void SDDKernel::emitCopies(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value step,
                           ArrayRef<Value>, const StageBuffers &stage) {
  Value k = Int(b, step) * WgmmaShape::stepDepth;
  // CTA `subtile` of the cluster loads this subtile of the rows for all CTAs.
  Value rank;
  if (plan.shape.cluster > 1)
    rank = StagedTiles::clusterRank(b, plan.shape.cluster);
  auto copySubtiles = [&](const Factor &factor, Value map, int64_t firstField, int64_t subtiles,
                          Value to, int64_t cluster) {
    for (int64_t subtile = 0; subtile < subtiles; ++subtile) {
      Value first = tile.fields[firstField + subtile], number = i32Constant(b, subtile);
      Value copies = isThere(b, first);
      if (plan.shape.producerWarps > 1)
        copies = both(b, copies, isEqual(b, stage.warp, number));
      if (cluster > 1)
        copies = both(b, copies, isEqual(b, rank, number));
      emitIf(b, copies, [&](ImplicitLocOpBuilder &b) {
        Value address = Int(b, to) + (subtile * WgmmaTile::matrixBytes);
        emitCopy(b, factor, map, factor.subtileBox(), tile, first, {address, stage.barrier, k},
                 cluster);
      });
    }
  };
  if (plan.left.gathers)
    emitGathered(b, plan.left, leftMaps, tile, gatheredRows, stage.warp,
                 {stage.a, stage.barrier, k});
  else
    copySubtiles(plan.left, leftMaps.subtiles, SampledTileTable::FirstRow, plan.shape.aMatrices(),
                 stage.a, plan.shape.cluster);
  if (plan.right.gathers)
    emitGathered(b, plan.right, rightMaps, tile, gatheredColumns, stage.warp,
                 {stage.b, stage.barrier, k});
  else
    copySubtiles(plan.right, rightMaps.subtiles, SampledTileTable::FirstCol, plan.subtiles, stage.b,
                 /*cluster=*/1);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

Value SDDKernel::firstBlock(ImplicitLocOpBuilder &b, const WgmmaWork &tile) {
  return ValuesOrigin::get(op).blockOf(b, tile.fields[SampledTileTable::Batch],
                                       tile.fields[SampledTileTable::Head]);
}

void SDDKernel::storeSubtileOf(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value warpgroup,
                               int64_t number, Value address) {
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, warpgroup, i32Constant(b, 0));
  int64_t perWarpgroup = plan.shape.splitColumns ? plan.subtiles / 2 : 4;
  Value destination =
      arith::SelectOp::create(b, isFirst, tile.fields[SampledTileTable::Destination + number],
                              tile.fields[SampledTileTable::Destination + perWarpgroup + number]);
  emitIf(b, isThere(b, destination), [&](ImplicitLocOpBuilder &b) {
    Value zero = i32Constant(b, 0);
    Value firstRow = Int(b, firstBlock(b, tile)) * plan.block.rows;
    Value row = Int(b, destination) / SampledTile::destinationsPerRow + firstRow;
    Value col = Int(b, destination) % SampledTile::destinationsPerRow * subtileRows;
    emitTensorStore(b, outMap, {row, col, zero, zero}, address);
  });
}

void SDDKernel::storeBlock(ImplicitLocOpBuilder &b, const WgmmaWork &tile, int64_t batch,
                           Value address) {
  Value destination = tile.fields[firstDestination + batch];
  emitIf(b, isThere(b, destination), [&](ImplicitLocOpBuilder &b) {
    Value zero = i32Constant(b, 0);
    Value row = (Int(b, destination) + firstBlock(b, tile)) * plan.block.rows;
    emitTensorStore(b, outMap, {row, zero, zero, zero}, address);
  });
}

SmallVector<Value> SDDKernel::emitResult(ImplicitLocOpBuilder &b, const WgmmaWork &tile,
                                         Value warpgroup, const SubtileStore &store,
                                         InputSubtiles &, ArrayRef<Value> accumulators) {
  double alpha = op.getAlpha().convertToDouble();
  auto scale = [&](ImplicitLocOpBuilder &b, int64_t, MutableArrayRef<Value> accumulators) {
    for (Value &sum : accumulators)
      sum = mulNumbers(b, numberConstant(b, b.getF32Type(), alpha), sum);
  };
  SubtileStore::FinishFragment finish;
  if (alpha != 1)
    finish = scale;
  if (plan.hasBlocks())
    return store.emitBlocks(b, accumulators, plan.blocks(), finish,
                            [&](ImplicitLocOpBuilder &b, int64_t batch, Value address) {
                              storeBlock(b, tile, batch, address);
                            });
  return store.emit(b, accumulators, finish,
                    [&](ImplicitLocOpBuilder &b, int64_t number, Value address) {
                      storeSubtileOf(b, tile, warpgroup, number, address);
                    });
}

void SDDKernel::emitDeferred(ImplicitLocOpBuilder &b, const WgmmaWork &tile, Value warpgroup,
                             const SubtileStore &store, ArrayRef<Value> deferred,
                             int64_t accumulators) {
  if (plan.hasBlocks())
    store.emitDeferredBlocks(b, deferred, accumulators, plan.blocks(),
                             [&](ImplicitLocOpBuilder &b, int64_t batch, Value address) {
                               storeBlock(b, tile, batch, address);
                             });
  else
    store.emitDeferred(b, deferred, accumulators,
                       [&](ImplicitLocOpBuilder &b, int64_t number, Value address) {
                         storeSubtileOf(b, tile, warpgroup, number, address);
                       });
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

bool mlir::blocksparse::device::supportsWgmma(const ::blocksparse::GPUFacts &facts,
                                              PlannedSDDOp op) {
  return (isScheduledFor(op, ::blocksparse::KernelFamily::CUDAWgmma, facts) ||
          isScheduledFor(op, ::blocksparse::KernelFamily::CUDAWgmmaTransposed, facts)) &&
         hasOrMakesTiles(facts, op);
}

Value mlir::blocksparse::device::fitsWgmma(ImplicitLocOpBuilder &host,
                                           const ::blocksparse::GPUFacts &, PlannedSDDOp op) {
  Value fits = both(host, isAligned16(host, op.getInit()), isRowMajor(host, op.getInit()));
  fits = both(host, fits, isAligned16(host, op.getA()));
  fits = both(host, fits, isAligned16(host, op.getB()));
  return both(host, fits, hasInt32Blocks(host, op));
}

/// Returns `operand` if it is stored as wanted (`isTransposed` == `wanted`). Otherwise emits a
/// kernel that writes it transposed to temporary memory, which is returned and added to `made`.
static Value getFactor(ImplicitLocOpBuilder &host, KernelBuilder &kernels, Value operand,
                       bool isTransposed, bool wanted, SmallVectorImpl<Value> &made) {
  if (isTransposed == wanted)
    return operand;
  made.push_back(emitTransposed(host, kernels, operand));
  return made.back();
}

void mlir::blocksparse::device::emitWgmma(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                          PlannedSDDOp op) {
  if (op.getTiles().empty())
    return withMadeTiles(host, kernels, op,
                         [&](PlannedSDDOp tiled) { emitWgmma(host, kernels, tiled); });
  ::blocksparse::SampledFactors transposes = *getTransposes(op);
  SmallVector<Value> made;
  Value a = getFactor(host, kernels, op.getA(), op.getTransposeA(), transposes.transposeA, made);
  Value b = getFactor(host, kernels, op.getB(), op.getTransposeB(), transposes.transposeB, made);
  SDDPlan plan(op, {a, b, transposes}, kernels.getFacts());
  SmallVector<Value> maps;
  auto createMaps = [&](const Factor &factor) {
    DenseAxes axes = DenseAxes::ofMatrices(factor.memref);
    FactorMaps created;
    if (factor.copiesSubtiles())
      maps.push_back(created.subtiles =
                         createTensorMap(host, factor.memref, axes, factor.subtileBox()));
    if (factor.gathers)
      maps.push_back(created.blocks =
                         createTensorMap(host, factor.memref, axes, factor.gatheredBox()));
    return created;
  };
  FactorMaps left = createMaps(plan.left), right = createMaps(plan.right);
  Value out = createValuesMap(host, op.getInit(), plan.resultBox());
  maps.push_back(out);
  Value blocks =
      indexConstant(host, bufferType(op.getTiles()[SampledOperands::Workers]).getDimSize(0) - 1);
  WgmmaProduct(plan.shape)
      .launch(host, kernels, "sdd_wgmma", maps, op.getTiles(), blocks,
              [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
                return std::make_unique<SDDKernel>(b, op, plan, left, right, out, mapping);
              });
  for (Value memory : made)
    memref::DeallocOp::create(host, memory);
}
