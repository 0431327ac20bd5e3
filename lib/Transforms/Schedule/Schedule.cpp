// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Transforms/Schedule.h"
#include "../StagedProduct.h"
#include "ProductShape.h"
#include "SampledTilings.h"
#include "blocksparse/IR/PlannedOps.h"
#include "blocksparse/Layout/Patterns.h"
#include "blocksparse/Plan/AlignedCopies.h"
#include "blocksparse/Plan/AttentionOrderPlan.h"
#include "blocksparse/Plan/Balance.h"
#include "blocksparse/Plan/Reblock.h"
#include "blocksparse/Plan/RunTimeStages.h"
#include "blocksparse/Plan/RunTimeTiles.h"
#include "blocksparse/Plan/SkinnyTile.h"
#include "blocksparse/Plan/StageCost.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::BlockLayout;
using ::blocksparse::KernelFamily;
using ::blocksparse::KernelProblem;
using ::blocksparse::MmaParams;
using ::blocksparse::PanelParams;
using ::blocksparse::ProblemKind;
using ::blocksparse::Schedule;
using ::blocksparse::SimtParams;
using ::blocksparse::SkinnyParams;
using ::blocksparse::StreamParams;
using ::blocksparse::TargetInfo;
using ::blocksparse::WgmmaParams;

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

/// Returns the largest number of blocks in a segment if the rows of a pattern leave workers idle,
/// or 0 if no row needs to be split.
static int64_t selectSplit(const ProductShape &shape, const TargetInfo &target, int64_t tileCols) {
  if (!shape.layout || target.workers() < 2 || ShapedType::isDynamic(shape.leading) ||
      ShapedType::isDynamic(shape.cols) || tileCols < 1)
    return 0;
  std::vector<::blocksparse::RowSegment> segments =
      ::blocksparse::buildRowLut(*shape.layout, shape.transposeLayout).segments;
  int64_t columnTiles = llvm::divideCeil(shape.cols, tileCols);
  int64_t copies = columnTiles * shape.leading / std::max<int64_t>(1, shape.layout->grid().heads);
  // Splitting pays only while the whole operation has fewer tiles than there are workers.
  if (static_cast<int64_t>(segments.size()) * copies >= target.workers())
    return 0;
  int64_t longest = 0;
  for (const ::blocksparse::RowSegment &segment : segments)
    longest = std::max<int64_t>(longest, segment.count);
  int64_t workers = std::max<int64_t>(1, target.workers() / std::max<int64_t>(1, copies));
  // A segment of fewer blocks does not pay for its slot.
  int64_t share = std::max<int64_t>(8, ::blocksparse::balancedShare(segments, workers));
  return longest > share ? share : 0;
}

/// Returns true if there are so few tiles that split rows, on a kernel without stages, keep more
/// workers busy.
static bool prefersSplit(const ProductShape &shape, const TargetInfo &target, int64_t tiles) {
  return tiles * 4 <= target.workers() && selectSplit(shape, target, 128) > 0;
}

//===----------------------------------------------------------------------===//
// Products on the CPU
//===----------------------------------------------------------------------===//

static Schedule selectColumnTile(const ProductShape &shape, const TargetInfo &target) {
  int64_t lanes = std::max<int64_t>(1, target.cpuFacts().simdBits / shape.accumulatorBits);
  int64_t vectors = 2;
  if (!ShapedType::isDynamic(shape.cols)) {
    vectors = std::clamp<int64_t>(llvm::divideCeil(shape.cols, lanes), 1, 2);
    // Two vectors of each of one or two rows are so few accumulators that each multiply-add waits
    // for the one before it. Four are taken where no column is computed for nothing.
    if (shape.rows >= 1 && shape.rows <= 2 && shape.cols % (4 * lanes) == 0)
      vectors = 4;
  }
  // The other quarter of the registers holds a row of the panel and a broadcast.
  int64_t most = target.cpuFacts().vectorRegisters >= 32 ? 8 : 6;
  PanelParams params;
  params.tile = {most, vectors * lanes};
  if (!ShapedType::isDynamic(shape.rows) && shape.rows > 0)
    params.tile.rows = llvm::divideCeil(shape.rows, llvm::divideCeil(shape.rows, most));
  params.split = selectSplit(shape, target, params.tile.cols);
  return Schedule(KernelFamily::CPUPanel, params);
}

//===----------------------------------------------------------------------===//
// Products on a GPU
//===----------------------------------------------------------------------===//

/// Chooses the tile of a "cuda.mma" kernel. Narrow rows take column tiles of 256, so that the
/// elements of the dense factor that come through the cache are used as often as they can be, if
/// that leaves work for all SMs.
static MmaParams selectMma(const ProductShape &shape, const TargetInfo &target) {
  constexpr int64_t usual = MmaParams::usualTile, widest = MmaParams::maxTileCols;
  MmaParams params;
  params.stages = MmaParams::usualStages;
  params.tile.rows = shape.isSparse() ? ::blocksparse::divideMmaTile(shape.rows, usual)
                                      : ::blocksparse::fitMmaTile(shape.rows, usual);
  params.tile.cols = ::blocksparse::fitMmaTile(shape.cols, usual);
  // A dense product of few rows is judged by the tile of many.
  int64_t rows = shape.isSparse() ? params.tile.rows : usual;
  if (rows <= 64 && params.tile.cols == usual && !ShapedType::isDynamic(shape.cols) &&
      shape.cols % widest == 0 && !ShapedType::isDynamic(shape.resultElements) &&
      shape.resultElements / (rows * widest) >= 4 * target.workers())
    params.tile.cols = widest;
  if (shape.problem.a == ::blocksparse::ElementType::f64) {
    params.tile.rows = std::min(params.tile.rows, MmaParams::maxF64Rows);
    params.tile.cols = std::min(params.tile.cols, MmaParams::maxF64Cols);
  }
  if (shape.problem.kind == ProblemKind::Sampled)
    params.tile.cols = ::blocksparse::divideMmaTile(shape.cols, params.tile.cols);
  params.split = selectSplit(shape, target, params.tile.cols);
  return params;
}

/// Returns false if a result of few columns leaves most of a tile of exact factors empty, or a
/// small one leaves most SMs without a tile.
static bool fillsTiles(const ProductShape &shape) {
  constexpr int64_t fewElements = 1 << 14;
  return (ShapedType::isDynamic(shape.cols) || shape.cols >= MmaParams::minTile) &&
         (ShapedType::isDynamic(shape.resultElements) || shape.resultElements >= fewElements);
}

/// Chooses the tile of a "cuda.fma" kernel, or nothing if scalar kernels are better. Tiles of 64
/// columns measured best from 64 rows on (docs/Developer/LabNotes/all-shapes.md).
static std::optional<Schedule> selectFma(const ProductShape &shape, const TargetInfo &target) {
  if (!fillsTiles(shape))
    return std::nullopt;
  MmaParams params = selectMma(shape, target);
  params.tile.cols = std::min<int64_t>(params.tile.cols, params.tile.rows >= 64 ? 64 : 128);
  return Schedule(KernelFamily::CUDAFma, params);
}

/// Chooses the tile of a "cuda.skinny" kernel, or nothing if other families are better.
static std::optional<Schedule> selectSkinny(const ProductShape &shape, const TargetInfo &target) {
  ::blocksparse::SkinnyProblem problem{shape.problem.block, shape.cols};
  if (shape.layout && !ShapedType::isDynamic(shape.leading)) {
    ::blocksparse::BlockGrid grid = shape.layout->grid();
    problem.blockRows = shape.copiedBlockRows();
    problem.blocksPerRow = static_cast<double>(shape.layout->nnz()) /
                           static_cast<double>(std::max<int64_t>(1, grid.heads * grid.rows));
  }
  if (!::blocksparse::prefersSkinny(problem, target.workers()))
    return std::nullopt;
  return Schedule(KernelFamily::CUDASkinny,
                  ::blocksparse::chooseSkinny(problem, SkinnyParams(), target.workers()));
}

/// Returns what the planner needs to choose tiles of a reduction; `transposed` holds the pattern of
/// a transposed op(S).
static ::blocksparse::StageProblem stageProblem(const ProductShape &shape, const TargetInfo &target,
                                                BlockLayout &transposed) {
  if (shape.transposeLayout)
    transposed = shape.layout->transposed();
  return {shape.transposeLayout ? transposed : *shape.layout,
          shape.cols,
          shape.leading / std::max<int64_t>(1, shape.layout->grid().heads),
          target.gpuFacts(),
          shape.problem.denseKMajor,
          !shape.hasConstantValues,
          shape.epilogueMatrices};
}

/// Returns the schedule of a "cuda.mma" kernel that is estimated to compute a reduction of 16-bit
/// factors, `stored` without planned blocks, in less time than a kernel with stages, which takes
/// `seconds`; or nothing.
static std::optional<Schedule> selectShorterMma(const ProductShape &shape,
                                                const ::blocksparse::StageProblem &stored,
                                                double seconds, const TargetInfo &target) {
  // Both estimates are good to about a tenth; kernels with stages are preferred.
  constexpr double surely = 0.93;
  if (!::blocksparse::supports(KernelFamily::CUDAMma, shape.problem, target))
    return std::nullopt;
  const ::blocksparse::MmaChoice choice = ::blocksparse::chooseMma(stored);
  if (choice.seconds >= surely * seconds)
    return std::nullopt;
  MmaParams params;
  params.tile = {choice.tile.rows, choice.tile.cols};
  params.stages = MmaParams::usualStages;
  return Schedule(KernelFamily::CUDAMma, params);
}

/// Chooses the column tile and the stages of a "cuda.wgmma" reduction, or nothing if split rows or
/// narrower tiles are better.
static std::optional<Schedule> selectWgmma(const ProductShape &shape, const TargetInfo &target) {
  constexpr int64_t narrowestTile = 64;
  if (shape.cols < narrowestTile)
    return std::nullopt;
  BlockLayout transposed;
  const ::blocksparse::StageProblem stored = stageProblem(shape, target, transposed);
  ::blocksparse::WgmmaChoice choice = ::blocksparse::chooseWgmma(stored);
  int64_t rowTiles = llvm::divideCeil(shape.copiedBlockRows() * shape.rows, 128);
  if (prefersSplit(shape, target,
                   rowTiles * static_cast<int64_t>(llvm::divideCeil(shape.cols, choice.tileN))))
    return std::nullopt;
  if (std::optional<Schedule> mma = selectShorterMma(shape, stored, choice.seconds, target))
    return mma;
  WgmmaParams params;
  params.cluster = ::blocksparse::clusterSize(choice.tileN);
  params.tile = {128, choice.tileN / params.cluster};
  params.stages = choice.stages;
  return Schedule(KernelFamily::CUDAWgmma, params);
}

/// Chooses the side of the planned blocks and the shape of their stages, or stages of the stored
/// blocks if a stream kernel multiplies these. Sets `block` to the side, 0 for stored blocks.
/// Returns a choice without rows if none fits.
static ::blocksparse::StreamChoice chooseStreamBlocks(const ProductShape &shape,
                                                      const ::blocksparse::StageProblem &stored,
                                                      int64_t &block) {
  block = 0;
  if (::blocksparse::isStreamBlock(shape.problem))
    return ::blocksparse::chooseStream(stored);
  ::blocksparse::StreamChoice best;
  for (int64_t side : {32, 16}) {
    std::string error;
    std::optional<BlockLayout> planned = ::blocksparse::reblockLayout(
        stored.layout, {shape.problem.block, side, shape.problem.rows, shape.problem.depth}, error);
    if (!planned)
      continue;
    ::blocksparse::StreamChoice choice =
        ::blocksparse::chooseStream({*planned, stored.cols, stored.copies, stored.gpu,
                                     stored.kMajor, stored.packs, stored.epilogueMatrices});
    if (choice.shape.rows != 0 && (block == 0 || choice.seconds < best.seconds)) {
      best = choice;
      block = side;
    }
  }
  return best;
}

/// Chooses the shape of stages of a stream reduction, or nothing if none fits or split rows or
/// smaller CTAs are better.
static std::optional<Schedule> selectStream(const ProductShape &shape, const TargetInfo &target) {
  // One or two column tiles leave the long stages of a stream too few CTAs: "cuda.mma" takes .5 to
  // .9 of the time (docs/Developer/LabNotes/few-columns.md).
  constexpr int64_t fewCols = 128;
  const bool hasMma = ::blocksparse::supports(KernelFamily::CUDAMma, shape.problem, target);
  if (shape.cols <= fewCols && hasMma)
    return std::nullopt;
  BlockLayout transposed;
  const ::blocksparse::StageProblem stored = stageProblem(shape, target, transposed);
  int64_t block = 0;
  ::blocksparse::StreamChoice choice = chooseStreamBlocks(shape, stored, block);
  const int64_t rows = choice.shape.rows;
  if (rows == 0)
    return std::nullopt;
  const int64_t rowGroups =
      llvm::divideCeil(shape.copiedBlockRows() * shape.rows, rows * choice.shape.block);
  const int64_t columnTiles = llvm::divideCeil(shape.cols, choice.tileN);
  if (hasMma && prefersSplit(shape, target, rowGroups * columnTiles))
    return std::nullopt;
  if (std::optional<Schedule> mma = selectShorterMma(shape, stored, choice.seconds, target))
    return mma;
  StreamParams params;
  params.block = block;
  params.tile = {rows * choice.shape.block, choice.tileN};
  params.panels = choice.shape.panels;
  params.panelsPerCopy = choice.shape.panelsPerCopy;
  params.stages = choice.stages;
  params.warps = choice.warps;
  return Schedule(choice.wgmma ? KernelFamily::CUDAStreamWgmma : KernelFamily::CUDAStream, params);
}

/// Returns stages of as many panels as the planner of the device can put in a record, which loads
/// panels one by one: with room for words, one panel less than `params`.
static StreamParams withSinglePanels(StreamParams params) {
  params.panelsPerCopy = 1;
  params.panels = std::max<int64_t>(1, params.panels - 1);
  return params;
}

/// Returns a pattern of the usual density with rows of equal length at random columns, which stands
/// for a run-time pattern of `grid`.
static std::optional<BlockLayout> buildUsualPattern(::blocksparse::BlockShape block,
                                                    const ::blocksparse::BlockGrid &grid) {
  std::string error;
  return ::blocksparse::buildPattern(
      {"random_balanced", {{"density", ::blocksparse::runTimeDensity}}}, block, grid, error);
}

/// Returns the schedule of a kernel with stages for a reduction over a run-time pattern, or nothing
/// if a kernel without stages is as fast.
static std::optional<Schedule> selectRunTimeStages(const ProductShape &shape,
                                                   const TargetInfo &target) {
  const KernelProblem &problem = shape.problem;
  if (shape.layout || ShapedType::isDynamic(shape.cols) || shape.leading < 1)
    return std::nullopt;
  const ::blocksparse::BlockShape block = problem.block;
  const ::blocksparse::BlockGrid grid{
      1, static_cast<int64_t>(llvm::divideCeil(problem.rows, block.rows)),
      static_cast<int64_t>(llvm::divideCeil(problem.depth, block.cols))};
  const double multiplyAdds = ::blocksparse::runTimeDensity * static_cast<double>(problem.rows) *
                              static_cast<double>(problem.depth) *
                              static_cast<double>(shape.cols * shape.leading);
  if (!::blocksparse::paysToPlanAtRunTime(block, multiplyAdds))
    return std::nullopt;
  std::optional<BlockLayout> layout = buildUsualPattern(block, grid);
  if (!layout)
    return std::nullopt;
  ProductShape usual = shape;
  usual.layout = &*layout;
  usual.transposeLayout = false;
  std::optional<Schedule> schedule =
      ::blocksparse::supports(KernelFamily::CUDAWgmma, problem, target)
          ? selectWgmma(usual, target)
          : selectStream(usual, target);
  if (!schedule || schedule->family() == KernelFamily::CUDAMma)
    return std::nullopt;
  if (auto *stream = schedule->getIf<StreamParams>())
    if (stream->panelsPerCopy != 1)
      *stream = withSinglePanels(*stream);
  std::string error;
  const bool works =
      ::blocksparse::checkSchedule(*schedule, problem, target).empty() &&
      ::blocksparse::RunTimeStages::get(problem, *schedule, {}, target.gpuFacts(), error);
  return works ? schedule : std::nullopt;
}

/// Returns the schedule of a kernel with tiles for a product at the blocks of a run-time pattern,
/// or nothing if a kernel without tiles is as fast.
static std::optional<Schedule> selectRunTimeTiles(const ProductShape &shape,
                                                  const TargetInfo &target) {
  const KernelProblem &problem = shape.problem;
  const ::blocksparse::BlockShape block = problem.block;
  const double multiplyAdds = ::blocksparse::runTimeDensity * static_cast<double>(problem.rows) *
                              static_cast<double>(problem.cols) *
                              static_cast<double>(problem.depth);
  if (!::blocksparse::paysToTileAtRunTime(block, multiplyAdds))
    return std::nullopt;
  std::optional<BlockLayout> usual =
      buildUsualPattern(block, {1, problem.rows / block.rows, problem.cols / block.cols});
  return usual ? selectRunTimeTiling(shape, *usual, target) : std::nullopt;
}

static Schedule makeDenseWgmma(const ProductShape &shape) {
  WgmmaParams params;
  params.tile = {128, ::blocksparse::fitDenseWgmmaCols(shape.cols)};
  params.stages = WgmmaParams::usualStages;
  return Schedule(KernelFamily::CUDAWgmma, params);
}

/// Chooses the tiles of a sampled product, or nothing if kernels without tiles are better.
static std::optional<Schedule> selectTiles(Operation *op, const ProductShape &shape,
                                           const TargetInfo &target) {
  SparseTensor type = *SparseTensor::get(op->getResult(0).getType());
  return type.isStatic() ? selectSampledTiling(shape, type.getLayout().resolve(), target)
                         : selectRunTimeTiles(shape, target);
}

/// Returns true if a reduction is so small that aligned copies of its operands take longer than
/// scalar kernels.
static bool isTooSmallToAlign(const ProductShape &shape, const TargetInfo &target) {
  if (shape.problem.kind != ProblemKind::Reduction || !shape.layout ||
      ShapedType::isDynamic(shape.leading) || ShapedType::isDynamic(shape.cols))
    return false;
  const int64_t times =
      std::max<int64_t>(1, shape.leading / std::max<int64_t>(1, shape.layout->grid().heads));
  const ::blocksparse::BlockShape block = shape.problem.block;
  const double operations = 2.0 * static_cast<double>(shape.layout->nnz()) *
                            static_cast<double>(block.rows * block.cols) *
                            static_cast<double>(shape.cols * times);
  return ::blocksparse::prefersScalarKernels(shape.problem, std::max<int64_t>(1, shape.leading),
                                             operations, target.gpuFacts());
}

static Schedule selectCUDAProduct(Operation *op, const TargetInfo &target) {
  ProductShape shape = ProductShape::get(op);
  // "cuda.wgmma" adds products of f8 with less than the bits of f32, and is not measured with i8:
  // it multiplies bytes only if a schedule says so.
  const bool hasBytes = shape.problem.a && ::blocksparse::elementSize(*shape.problem.a) == 1;
  auto supports = [&](KernelFamily family) {
    return !(hasBytes && family == KernelFamily::CUDAWgmma) &&
           ::blocksparse::supports(family, shape.problem, target);
  };
  std::optional<Schedule> schedule;
  if (supports(KernelFamily::CUDASkinny))
    schedule = selectSkinny(shape, target);
  if (schedule)
    return *schedule;
  if (isTooSmallToAlign(shape, target))
    return Schedule(KernelFamily::CUDASimt, SimtParams{selectSplit(shape, target, 32)});
  if (shape.problem.kind == ProblemKind::Reduction && !shape.layout) {
    if (supports(KernelFamily::CUDAWgmma) || supports(KernelFamily::CUDAStream))
      schedule = selectRunTimeStages(shape, target);
  } else if (supports(KernelFamily::CUDAWgmma)) {
    if (shape.problem.kind == ProblemKind::Reduction)
      schedule = selectWgmma(shape, target);
    else if (shape.problem.kind == ProblemKind::Sampled)
      schedule = selectTiles(op, shape, target);
    else
      schedule = makeDenseWgmma(shape);
  } else if (supports(KernelFamily::CUDAStream)) {
    schedule = selectStream(shape, target);
  }
  if (schedule)
    return *schedule;
  const bool isF64 = shape.problem.a == ::blocksparse::ElementType::f64;
  if (supports(KernelFamily::CUDAMma) && (!isF64 || fillsTiles(shape)))
    return Schedule(KernelFamily::CUDAMma, selectMma(shape, target));
  if (supports(KernelFamily::CUDAFma))
    schedule = selectFma(shape, target);
  if (schedule)
    return *schedule;
  return Schedule(KernelFamily::CUDASimt, SimtParams{selectSplit(shape, target, 32)});
}

//===----------------------------------------------------------------------===//
// Attention on a GPU
//===----------------------------------------------------------------------===//

/// Returns the schedule of a gradient of attention by one kernel, or nothing if two are better.
static std::optional<Schedule> selectOrderedGradient(Operation *op, const KernelProblem &problem,
                                                     const TargetInfo &target) {
  auto grad = dyn_cast<AttentionGradOp>(op);
  // Where one kernel computes more for each element, it has no registers left (not measured).
  if (!grad || !hasPlannedForm(op) || readsAllElements(grad) || grad.getSoftCap() ||
      !::blocksparse::supports(KernelFamily::CUDAAttention, problem, target))
    return std::nullopt;
  ::blocksparse::AttentionParams params;
  params.kernels = 1;
  Schedule schedule(KernelFamily::CUDAAttention, params);
  auto out = cast<ShapedType>(grad.getOut().getType());
  if (!out.hasStaticShape() || !::blocksparse::checkSchedule(schedule, problem, target).empty())
    return std::nullopt;
  const BlockLayout *layout = grad.getLayout().resolve();
  const int64_t heads = ShapedType::getNumElements(out.getShape().drop_back(2));
  if (!layout ||
      !::blocksparse::prefersOrderedGradient({*layout, /*batches=*/1, heads}, target.gpuFacts()))
    return std::nullopt;
  return schedule;
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

bool mlir::blocksparse::needsSchedule(Operation *op) {
  return !isPlannedOp(op) && getKernelProblem(op);
}

ScheduleAttr mlir::blocksparse::selectSchedule(Operation *op, const TargetInfo &target) {
  if (!needsSchedule(op))
    return {};
  MLIRContext *context = op->getContext();
  std::optional<KernelProblem> problem = getKernelProblem(op);
  if (::blocksparse::isProduct(problem->kind))
    return ScheduleAttr::get(context, target.isCPU()
                                          ? selectColumnTile(ProductShape::get(op), target)
                                          : selectCUDAProduct(op, target));
  if (std::optional<Schedule> schedule = selectOrderedGradient(op, *problem, target))
    return ScheduleAttr::get(context, *schedule);
  return ScheduleAttr::get(context, ::blocksparse::getFamilies(*problem, target).front());
}

std::vector<KernelFamily> mlir::blocksparse::getKernelFamilies(Operation *op,
                                                               const TargetInfo &target) {
  std::optional<KernelProblem> problem = getKernelProblem(op);
  return problem ? ::blocksparse::getFamilies(*problem, target) : std::vector<KernelFamily>();
}

std::string mlir::blocksparse::checkSchedule(Operation *op, ScheduleAttr schedule,
                                             const TargetInfo &target) {
  std::optional<KernelProblem> problem = getKernelProblem(op);
  if (!problem)
    return ("expects no schedule, but got " + StringRef(schedule.getSchedule().familyName())).str();
  std::string reason = ::blocksparse::checkSupport(schedule.getFamily(), *problem, target);
  if (reason.empty())
    return ::blocksparse::checkSchedule(schedule.getSchedule(), *problem, target);
  std::string error;
  llvm::raw_string_ostream os(error);
  os << "expects a kernel of " << target.toString() << " (one of ";
  llvm::interleaveComma(::blocksparse::getFamilies(*problem, target), os,
                        [&](KernelFamily family) { os << ::blocksparse::getName(family); });
  os << "), but got " << schedule.getSchedule().familyName() << ", which " << reason;
  return error;
}

LogicalResult mlir::blocksparse::verifySchedule(Operation *op, ScheduleAttr schedule,
                                                const TargetInfo &target) {
  if (std::string fault = checkSchedule(op, schedule, target); !fault.empty())
    return op->emitOpError() << fault;
  return success();
}
