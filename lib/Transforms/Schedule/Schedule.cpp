// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Transforms/Schedule.h"
#include "../StagedProduct.h"
#include "ScheduleFacts.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Plan/Balance.h"
#include "blocksparse/Plan/StageCost.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::BlockLayout;
using ::blocksparse::GPUFacts;
using ::blocksparse::TargetInfo;
using ::blocksparse::TargetKind;

//===----------------------------------------------------------------------===//
// Kernel families
//===----------------------------------------------------------------------===//

namespace {

enum class OpClass { None, Product, Rows, Blocks };

bool anyElement(Type) { return true; }
bool sixteenBitFloat(Type type) { return type.isF16() || type.isBF16(); }
bool isF8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }
bool mmaElement(Type type) { return sixteenBitFloat(type) || type.isInteger(8) || isF8(type); }
bool anyGPU(const GPUFacts &) { return true; }
bool hasWGMMA(const GPUFacts &facts) { return facts.wgmma && facts.tma; }
bool hasStreams(const GPUFacts &facts) { return facts.tma && facts.cpAsync; }
bool hasCpAsync(const GPUFacts &facts) { return facts.cpAsync; }

struct KernelFamily {
  StringRef name;
  TargetKind kind;
  OpClass ops;
  bool (*onChip)(const GPUFacts &);
  bool (*onElement)(Type);
};

constexpr KernelFamily families[] = {
    {"cpu.panel", TargetKind::CPU, OpClass::Product, anyGPU, anyElement},
    {"cpu.rows", TargetKind::CPU, OpClass::Rows, anyGPU, anyElement},
    {"cpu.blocks", TargetKind::CPU, OpClass::Blocks, anyGPU, anyElement},
    {"cuda.wgmma", TargetKind::CUDA, OpClass::Product, hasWGMMA, sixteenBitFloat},
    {"cuda.wgmma_turned", TargetKind::CUDA, OpClass::Product, hasWGMMA, sixteenBitFloat},
    {"cuda.stream", TargetKind::CUDA, OpClass::Product, hasStreams, sixteenBitFloat},
    {"cuda.stream_wgmma", TargetKind::CUDA, OpClass::Product, hasWGMMA, sixteenBitFloat},
    {"cuda.mma", TargetKind::CUDA, OpClass::Product, hasCpAsync, mmaElement},
    {"cuda.simt", TargetKind::CUDA, OpClass::Product, anyGPU, anyElement},
    {"cuda.rows", TargetKind::CUDA, OpClass::Rows, anyGPU, anyElement},
    {"cuda.blocks", TargetKind::CUDA, OpClass::Blocks, anyGPU, anyElement},
};

OpClass classify(Operation *op) {
  if (isa<SDDOp, DSDOp, DDSOp, BsrAddmmOp, SampledAddmmOp, ScatterMMOp, MatmulOp>(op))
    return OpClass::Product;
  if (isa<SoftmaxOp, SoftmaxGradOp>(op))
    return OpClass::Rows;
  return isa<ToDenseOp, FromDenseOp, TransposeOp>(op) ? OpClass::Blocks : OpClass::None;
}

/// Element type of the factors.
Type factorElement(Operation *op) {
  return cast<RankedTensorType>(op->getOperand(0).getType()).getElementType();
}

/// Whether the factors are f32 that may be rounded to tf32.
bool roundsFactors(Operation *op) {
  auto precision = op->getAttrOfType<PrecisionAttr>("precision");
  return precision && precision.getValue() != Precision::IEEE;
}

/// Whether "cuda.mma" takes the factors on a chip.
bool takesMMA(Operation *op, const GPUFacts &facts) {
  Type element = factorElement(op);
  return hasCpAsync(facts) && (mmaElement(element) || roundsFactors(op)) &&
         (facts.f8ToF16 || !isF8(element));
}

bool canCompute(const KernelFamily &family, Operation *op, const TargetInfo &target) {
  if (family.kind != target.kind() || family.ops != classify(op))
    return false;
  if (family.name == "cuda.mma")
    return takesMMA(op, target.gpuFacts());
  return (target.isCPU() || family.onChip(target.gpuFacts())) &&
         family.onElement(factorElement(op));
}

//===----------------------------------------------------------------------===//
// The shape of a product
//===----------------------------------------------------------------------===//

/// What decides the tiles of a product; sizes are kDynamic where unknown.
struct ProductShape {
  Type accumulator;
  /// Rows and columns of one output tile's natural unit: op(block) x N for dsd, a block for sdd.
  int64_t rows = ShapedType::kDynamic;
  int64_t cols = ShapedType::kDynamic;
  /// Static pattern of a reduction over its block rows (columns when transposed), or null.
  const BlockLayout *layout = nullptr;
  bool transposeLayout = false;
  /// Batches times heads of the result.
  int64_t leading = 1;
};

int64_t leadingSize(RankedTensorType type) {
  int64_t size = 1;
  for (int64_t dim : type.getShape().drop_back(std::min<int64_t>(2, type.getRank())))
    size = ShapedType::isDynamic(dim) || ShapedType::isDynamic(size) ? ShapedType::kDynamic
                                                                     : size * dim;
  return size;
}

/// A reduction over the rows of op(sparse); `cols` is the other dimension of the result.
ProductShape rowProductShape(Type accumulator, Value sparse, bool transpose,
                             RankedTensorType result, int64_t cols) {
  SparseTensor type = *SparseTensor::get(sparse.getType());
  ::blocksparse::BlockShape block = type.getBlock();
  return {accumulator, transpose ? block.cols : block.rows,
          cols,        type.isStatic() ? type.getLayout().resolve() : nullptr,
          transpose,   leadingSize(result)};
}

ProductShape productShape(Operation *op) {
  Type accumulator = getAccumulatorType(factorElement(op));
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  int64_t rank = result.getRank();
  auto size = [&](int64_t fromEnd) { return result.getDimSize(rank - 1 - fromEnd); };
  return llvm::TypeSwitch<Operation *, ProductShape>(op)
      .Case([&](DSDOp dsd) {
        return rowProductShape(accumulator, dsd.getA(), dsd.getTransposeA(), result,
                               size(dsd.getTransposeOut() ? 1 : 0));
      })
      .Case([&](DDSOp dds) {
        return rowProductShape(accumulator, dds.getB(), !dds.getTransposeB(), result,
                               size(dds.getTransposeOut() ? 0 : 1));
      })
      .Case([&](BsrAddmmOp addmm) {
        return rowProductShape(accumulator, addmm.getSparse(), false, result, size(0));
      })
      .Case<SDDOp, SampledAddmmOp>([&](Operation *) {
        ::blocksparse::BlockShape block = SparseTensor::get(result)->getBlock();
        return ProductShape{accumulator, block.rows, block.cols,
                            nullptr,     false,      leadingSize(result)};
      })
      .Case([&](MatmulOp matmul) {
        // The context form has its rows, M, in front of the heads.
        int64_t rows = size(matmul.getForm() == MatmulForm::Context ? 2 : 1);
        return ProductShape{accumulator, rows, size(0), nullptr, false, leadingSize(result)};
      })
      .Default([&](Operation *) {
        return ProductShape{accumulator, size(1), size(0), nullptr, false, leadingSize(result)};
      });
}

/// The longest run of a pattern that leaves workers idle, or 0 where no tile needs to be split.
int64_t selectSplit(const ProductShape &shape, const TargetInfo &target, int64_t tileN) {
  if (!shape.layout || target.workers() < 2 || ShapedType::isDynamic(shape.leading) ||
      ShapedType::isDynamic(shape.cols) || tileN < 1)
    return 0;
  std::vector<::blocksparse::RowSegment> segments =
      ::blocksparse::buildRowLut(*shape.layout, shape.transposeLayout).segments;
  int64_t panels = llvm::divideCeil(shape.cols, tileN);
  int64_t copies = panels * shape.leading / std::max<int64_t>(1, shape.layout->grid().heads);
  // Splitting pays only while the whole op has fewer tiles than there are workers.
  if (static_cast<int64_t>(segments.size()) * copies >= target.workers())
    return 0;
  int64_t longest = 0;
  for (const ::blocksparse::RowSegment &segment : segments)
    longest = std::max<int64_t>(longest, segment.count);
  int64_t workers = std::max<int64_t>(1, target.workers() / std::max<int64_t>(1, copies));
  // A run of fewer blocks does not pay for its slot.
  int64_t share = std::max<int64_t>(8, ::blocksparse::balancedShare(segments, workers));
  return longest > share ? share : 0;
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

ScheduleAttr makeSchedule(MLIRContext *context, StringRef kernel, int64_t tileM = 0,
                          int64_t tileN = 0, int64_t tileK = 0, int64_t stages = 0,
                          int64_t warps = 0, int64_t group = 1, int64_t split = 0) {
  return ScheduleAttr::get(context, kernel, tileM, tileN, tileK, stages, warps, group, split);
}

ScheduleAttr selectPanel(Operation *op, const TargetInfo &target) {
  ProductShape shape = productShape(op);
  int64_t lanes =
      std::max<int64_t>(1, target.cpuFacts().simdBits / shape.accumulator.getIntOrFloatBitWidth());
  int64_t vectors = 2;
  if (!ShapedType::isDynamic(shape.cols))
    vectors = std::clamp<int64_t>(llvm::divideCeil(shape.cols, lanes), 1, 2);
  // The other quarter of the registers holds a row of the panel and a broadcast.
  int64_t most = target.cpuFacts().vectorRegisters >= 32 ? 8 : 6;
  int64_t tileM = most;
  if (!ShapedType::isDynamic(shape.rows) && shape.rows > 0)
    tileM = llvm::divideCeil(shape.rows, llvm::divideCeil(shape.rows, most));
  int64_t tileN = vectors * lanes;
  return makeSchedule(op->getContext(), "cpu.panel", tileM, tileN, 0, 0, 0, 1,
                      selectSplit(shape, target, tileN));
}

/// Tiles of "cuda.mma" are powers of two from 16 to 128 (256 columns), and whole parts of a block
/// row. Narrow rows take wide panels, so that the elements of the dense factor that come through
/// the cache are used as often as they can be, where that leaves work for all multiprocessors.
ScheduleAttr selectMMA(Operation *op, const ProductShape &shape, int64_t rows,
                       const TargetInfo &target) {
  int64_t tileM = 128, tileN = 128;
  while (rows % tileM != 0)
    tileM /= 2;
  if (!ShapedType::isDynamic(shape.cols))
    tileN = std::clamp<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(shape.cols, 1)), 16, 128);
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  if (tileM <= 64 && tileN == 128 && !ShapedType::isDynamic(shape.cols) && shape.cols % 256 == 0 &&
      result.hasStaticShape() && result.getNumElements() / (tileM * 256) >= 4 * target.workers())
    tileN = 256;
  // 64 bytes of k a step.
  int64_t tileK = 64 / (factorElement(op).getIntOrFloatBitWidth() / 8);
  int64_t warps = llvm::divideCeil(tileM, 64) * llvm::divideCeil(tileN, 64);
  if (warps == 1 && tileM * tileN > 16 * 16)
    warps = 2;
  return makeSchedule(op->getContext(), "cuda.mma", tileM, tileN, tileK, 4, warps, 1,
                      selectSplit(shape, target, tileN));
}

/// Sizes of a reduction over a static pattern as the kernels of stages see them; nothing where
/// the op is another or a size is not static.
std::optional<StagedSizes> stagedSizes(Operation *op, const ProductShape &shape) {
  if (!shape.layout)
    return std::nullopt;
  for (Value operand : op->getOperands())
    if (!cast<RankedTensorType>(operand.getType()).hasStaticShape())
      return std::nullopt;
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  if (!result.hasStaticShape())
    return std::nullopt;
  auto [sparse, dense, inner] =
      llvm::TypeSwitch<Operation *, std::tuple<Value, Value, int64_t>>(op)
          .Case([](DSDOp dsd) {
            return std::tuple(dsd.getA(), dsd.getB(), dsd.getTransposeB() ? 0 : 1);
          })
          .Case([](DDSOp dds) {
            return std::tuple(dds.getB(), dds.getA(), dds.getTransposeA() ? 1 : 0);
          })
          .Case([](BsrAddmmOp addmm) { return std::tuple(addmm.getSparse(), addmm.getDense(), 1); })
          .Default([](Operation *) { return std::tuple(Value(), Value(), 0); });
  if (!sparse)
    return std::nullopt;
  auto denseType = cast<RankedTensorType>(dense.getType());
  ::blocksparse::BlockShape block = shape.layout->block();
  return StagedSizes{factorElement(op),
                     denseType.getElementType(),
                     result.getElementType(),
                     shape.rows,
                     shape.transposeLayout ? block.rows : block.cols,
                     denseType.getDimSize(denseType.getRank() - 1 - inner),
                     shape.cols,
                     inner == 0};
}

/// Block rows of op(S) in all copies that a kernel computes.
int64_t copiedBlockRows(const ProductShape &shape) {
  ::blocksparse::BlockGrid grid = shape.layout->grid();
  return (shape.transposeLayout ? grid.cols : grid.rows) * shape.leading;
}

/// Whether so few tiles take the long rows of the pattern that rows cut into pieces, on the
/// kernels without stages, keep more workers busy.
bool wantsSplit(const ProductShape &shape, const TargetInfo &target, int64_t tiles) {
  return tiles * 4 <= target.workers() && selectSplit(shape, target, 128) > 0;
}

/// What the planner needs to choose tiles; `transposed` holds the pattern of a transposed op(S).
::blocksparse::StageProblem stageProblem(const ProductShape &shape, const StagedSizes &sizes,
                                         const TargetInfo &target, BlockLayout &transposed) {
  if (shape.transposeLayout)
    transposed = shape.layout->transposed();
  return {shape.transposeLayout ? transposed : *shape.layout, sizes.n,
          shape.leading / std::max<int64_t>(1, shape.layout->grid().heads), target.gpuFacts(),
          sizes.alongK};
}

/// "cuda.wgmma": 128 rows by a panel, three warpgroups. `group` block rows of 64 share a tile.
ScheduleAttr selectWGMMA(Operation *op, const ProductShape &shape, const StagedSizes &sizes,
                         const TargetInfo &target) {
  BlockLayout transposed;
  ::blocksparse::WgmmaChoice choice =
      ::blocksparse::chooseWgmma(stageProblem(shape, sizes, target, transposed));
  int64_t groups = llvm::divideCeil(copiedBlockRows(shape) * sizes.rows, 128);
  if (wantsSplit(shape, target, groups * (sizes.n / choice.tileN)))
    return {};
  return makeSchedule(op->getContext(), "cuda.wgmma", 128, choice.tileN, 64, choice.stages, 12,
                      sizes.rows % 128 == 0 ? 1 : 2);
}

/// "cuda.stream": `group` block rows by a panel, a whole number for each of `warps` warps; tile_k
/// is what the panels of a stage hold.
ScheduleAttr selectStream(Operation *op, const ProductShape &shape, const StagedSizes &sizes,
                          const TargetInfo &target) {
  BlockLayout transposed;
  ::blocksparse::StreamChoice choice =
      ::blocksparse::chooseStream(stageProblem(shape, sizes, target, transposed));
  int64_t rows = choice.shape.rows;
  if (rows == 0 ||
      wantsSplit(shape, target,
                 llvm::divideCeil(copiedBlockRows(shape), rows) * (sizes.n / choice.tileN)))
    return {};
  return makeSchedule(op->getContext(), choice.wgmma ? "cuda.stream_wgmma" : "cuda.stream",
                      rows * sizes.rows, choice.tileN, choice.shape.panels * sizes.rows,
                      choice.stages, choice.warps, rows);
}

/// A product at the blocks of a static pattern, without an input to add.
struct SampledProductOp {
  SampledSizes sizes;
  ::blocksparse::SampledFactors operands;
  /// Of the operands with all their batches and heads.
  int64_t bytesA = 0, bytesB = 0;
};

/// Of a tensor of 16-bit elements.
int64_t bytesOf(RankedTensorType type) { return type.getNumElements() * 2; }

std::optional<SampledProductOp> sampledProduct(Operation *op) {
  if (auto addmm = dyn_cast<SampledAddmmOp>(op); addmm && !addmm.getBeta().isZero())
    return std::nullopt;
  std::optional<SparseTensor> result = SparseTensor::get(op->getResult(0).getType());
  auto [a, b, transposeA, transposeB] =
      llvm::TypeSwitch<Operation *, std::tuple<Value, Value, bool, bool>>(op)
          .Case<SDDOp, SampledAddmmOp>([](auto op) {
            return std::tuple(op.getA(), op.getB(), op.getTransposeA(), op.getTransposeB());
          })
          .Default([](Operation *) { return std::tuple(Value(), Value(), false, false); });
  if (!a || !result || !result->isStatic() || !result->getType().hasStaticShape())
    return std::nullopt;
  auto typeA = cast<RankedTensorType>(a.getType()), typeB = cast<RankedTensorType>(b.getType());
  if (!typeA.hasStaticShape() || !typeB.hasStaticShape())
    return std::nullopt;
  SampledSizes sizes{typeA.getElementType(),
                     typeB.getElementType(),
                     result->getElementType(),
                     result->getBlock(),
                     result->getRows(),
                     result->getCols(),
                     typeA.getDimSize(typeA.getRank() - (transposeA ? 2 : 1))};
  return SampledProductOp{sizes, {transposeA, transposeB}, bytesOf(typeA), bytesOf(typeB)};
}

/// How the tiles of a product may be made.
struct SampledTiling {
  StringRef kernel;
  ::blocksparse::SampledForm form;
  /// For writing factors transposed first.
  double turnSeconds = 0;
};

/// Tiles of 128 x 256, or 64 x 384, with `group` block rows from anywhere; the columns are those of
/// a cluster's tiles together.
ScheduleAttr makeSampledSchedule(MLIRContext *context, ::blocksparse::BlockShape block,
                                 const SampledTiling &tiling) {
  const ::blocksparse::SampledForm &form = tiling.form;
  return makeSchedule(context, tiling.kernel, form.sharesColumns(block) ? 128 : 64,
                      form.chunks(block) * form.cluster * 64, 64, 4, 12, form.groupRows(block));
}

/// Of neighbouring rows, or of any, or shared by clusters; of the factors as they are, then of
/// turned ones.
SmallVector<SampledTiling, 4> sampledTilings(const SampledProductOp &product, const GPUFacts &gpu) {
  const ::blocksparse::BlockShape block = product.sizes.block;
  SmallVector<SampledTiling, 4> tilings;
  for (StringRef kernel : {"cuda.wgmma", "cuda.wgmma_turned"}) {
    std::optional<::blocksparse::SampledFactors> factors =
        ::blocksparse::SampledFactors::get(kernel, block, product.operands);
    if (!factors)
      continue;
    double seconds = 0;
    if (factors->transposeA != product.operands.transposeA)
      seconds += ::blocksparse::estimateTurnTime(gpu.rates, product.bytesA);
    if (factors->transposeB != product.operands.transposeB)
      seconds += ::blocksparse::estimateTurnTime(gpu.rates, product.bytesB);
    auto add = [&](bool gathersRows, int64_t cluster) {
      tilings.push_back({kernel,
                         ::blocksparse::SampledForm::get(block, *factors, gathersRows, cluster),
                         seconds});
    };
    add(/*gathersRows=*/false, /*cluster=*/1);
    if (::blocksparse::canGatherRows(block))
      add(/*gathersRows=*/true, /*cluster=*/1);
    if (::blocksparse::canShareRows(block))
      add(/*gathersRows=*/false, ::blocksparse::wgmmaClusterSize);
  }
  return tilings;
}

/// The tiles that take least time by the estimate, of turned factors, which take memory, and of
/// clusters only where that is less by 3 %. Nothing for blocks of less than 64 rows or columns
/// where "cuda.mma" takes less on the blocks alone: tiles are computed in full.
ScheduleAttr selectTiles(Operation *op, const ProductShape &shape, const SampledProductOp &product,
                         const TargetInfo &target) {
  const GPUFacts &gpu = target.gpuFacts();
  const ::blocksparse::BlockShape block = product.sizes.block;
  const BlockLayout *layout = SparseTensor::get(op->getResult(0).getType())->getLayout().resolve();
  const bool fine = ::blocksparse::sharesPieces(block);
  if (!layout || layout->nnz() == 0)
    return fine
               ? ScheduleAttr()
               : makeSampledSchedule(op->getContext(), block, sampledTilings(product, gpu).front());
  int64_t heads = std::max<int64_t>(1, layout->grid().heads), copies = shape.leading / heads;
  ::blocksparse::CoordinateLut lut =
      ::blocksparse::buildCoordinateLut(*layout, ::blocksparse::CoordinateOrder::Columns);
  ::blocksparse::WorkOptions options;
  options.workers = gpu.multiprocessors;
  options.cacheBytes = gpu.plannedCacheBytes();
  ScheduleAttr best;
  double seconds = std::numeric_limits<double>::infinity();
  if (fine) {
    const double mmaRate =
        (std::min(block.rows, block.cols) >= 32 ? gpu.rates.sampledMma32 : gpu.rates.sampledMma16) *
        static_cast<double>(gpu.multiprocessors);
    seconds = 2.0 * layout->nnz() * copies * block.rows * block.cols * product.sizes.k / mmaRate;
  }
  for (const SampledTiling &tiling : sampledTilings(product, gpu)) {
    ::blocksparse::SampledProduct blocks{lut.lut, heads, block, tiling.form};
    std::string error;
    std::optional<::blocksparse::SampledWorkLists> lists = ::blocksparse::buildSampledTiles(
        blocks, {1, copies, heads, heads}, product.sizes.k, options, error);
    if (!lists) // beyond int32: the general kernels
      continue;
    double estimate =
        ::blocksparse::estimateSampledTime(*lists, blocks, product.sizes.k, gpu.rates.wgmma);
    if (tiling.turnSeconds > 0 || tiling.form.cluster > 1)
      estimate = (estimate + tiling.turnSeconds) * 1.03;
    if (estimate < seconds) {
      seconds = estimate;
      best = makeSampledSchedule(op->getContext(), block, tiling);
    }
  }
  return best;
}

ScheduleAttr selectCUDAProduct(Operation *op, const TargetInfo &target) {
  MLIRContext *context = op->getContext();
  ProductShape shape = productShape(op);
  Type element = factorElement(op);
  bool wgmma = hasWGMMA(target.gpuFacts());
  std::optional<StagedSizes> sizes = stagedSizes(op, shape);
  ScheduleAttr schedule;
  if (wgmma && sizes && hasWgmmaSizes(*sizes))
    schedule = selectWGMMA(op, shape, *sizes, target);
  else if (hasStreams(target.gpuFacts()) && sizes && hasStreamSizes(*sizes))
    schedule = selectStream(op, shape, *sizes, target);
  else if (std::optional<SampledProductOp> sampled = sampledProduct(op);
           wgmma && sampled && hasWgmmaSizes(sampled->sizes))
    schedule = selectTiles(op, shape, *sampled, target);
  else if (wgmma && isa<MatmulOp>(op) && sixteenBitFloat(element))
    schedule = makeSchedule(context, "cuda.wgmma", 128, 256, 64, 4, 12);
  if (schedule)
    return schedule;
  bool sparse = !isa<MatmulOp, ScatterMMOp>(op);
  int64_t rows = sparse && !ShapedType::isDynamic(shape.rows) ? shape.rows : 128;
  if (takesMMA(op, target.gpuFacts()) && rows % 16 == 0)
    return selectMMA(op, shape, rows, target);
  return makeSchedule(context, "cuda.simt", 32, 32, 16, 1, 4, 1, selectSplit(shape, target, 32));
}

} // namespace

bool mlir::blocksparse::needsSchedule(Operation *op) { return classify(op) != OpClass::None; }

ScheduleAttr mlir::blocksparse::selectSchedule(Operation *op, const TargetInfo &target) {
  switch (classify(op)) {
  case OpClass::Product:
    return target.isCPU() ? selectPanel(op, target) : selectCUDAProduct(op, target);
  case OpClass::Rows:
    return makeSchedule(op->getContext(), target.isCPU() ? "cpu.rows" : "cuda.rows");
  case OpClass::Blocks:
    return makeSchedule(op->getContext(), target.isCPU() ? "cpu.blocks" : "cuda.blocks");
  case OpClass::None:
    break;
  }
  return {};
}

SmallVector<StringRef> mlir::blocksparse::getKernels(Operation *op, const TargetInfo &target) {
  SmallVector<StringRef> able;
  for (const KernelFamily &family : families)
    if (canCompute(family, op, target))
      able.push_back(family.name);
  return able;
}

LogicalResult mlir::blocksparse::verifySchedule(Operation *op, ScheduleAttr schedule,
                                                const TargetInfo &target) {
  SmallVector<StringRef> able = getKernels(op, target);
  if (llvm::is_contained(able, schedule.getKernel()))
    return success();
  return op->emitOpError() << "expects a kernel of " << target.toString() << " (one of "
                           << llvm::join(able, ", ") << "), but got " << schedule.getKernel();
}

ScheduleFacts mlir::blocksparse::getScheduleFacts(Operation *op, const TargetInfo &target) {
  ScheduleFacts facts;
  if (classify(op) != OpClass::Product)
    return facts;
  ProductShape shape = productShape(op);
  facts.rows = shape.rows;
  facts.cols = shape.cols;
  facts.accumulatorBits = shape.accumulator.getIntOrFloatBitWidth();
  if (target.isCPU())
    return facts;
  bool wgmma = hasWGMMA(target.gpuFacts());
  if (std::optional<StagedSizes> sizes = stagedSizes(op, shape)) {
    facts.wgmma = wgmma && hasWgmmaSizes(*sizes);
    facts.stream = hasStreams(target.gpuFacts()) && hasStreamSizes(*sizes);
    facts.alongK = sizes->alongK;
  }
  if (std::optional<SampledProductOp> product = sampledProduct(op);
      wgmma && product && hasWgmmaSizes(product->sizes))
    for (const SampledTiling &tiling : sampledTilings(*product, target.gpuFacts()))
      facts.sampled.push_back(makeSampledSchedule(op->getContext(), product->sizes.block, tiling));
  return facts;
}
