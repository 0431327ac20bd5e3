// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/KernelFamilies.h"
#include "ProblemText.h"
#include "blocksparse/Plan/AttentionOrderPlan.h"
#include "blocksparse/Plan/SampledForm.h"
#include "blocksparse/Plan/SkinnyTile.h"
#include "blocksparse/Plan/Stages.h"

#include <algorithm>

using namespace blocksparse;
using namespace blocksparse::problem_text;

namespace {

//===----------------------------------------------------------------------===//
// Support
//===----------------------------------------------------------------------===//

// Each function returns an empty string or the reason, like checkSupport.
using Check = std::string (*)(const KernelProblem &problem, const GPUFacts &facts);

bool isSixteenBit(std::optional<ElementType> type) {
  return type == ElementType::f16 || type == ElementType::bf16;
}
bool isF8(std::optional<ElementType> type) {
  return type == ElementType::f8E4M3FN || type == ElementType::f8E5M2;
}

std::string checkAny(const KernelProblem &, const GPUFacts &) { return {}; }

std::string checkSixteenBits(const KernelProblem &problem) {
  if (!isSixteenBit(problem.a) || problem.b != problem.a || problem.out != problem.a)
    return expects("factors and a result of one type, f16 or bf16", textOfTypes(problem));
  return {};
}

/// Requires what tables of stages and tensor maps need, whatever the types are.
std::string checkStaticShape(const KernelProblem &problem) {
  if (!problem.staticPattern)
    return expects("a static pattern", "one that is known when the program runs");
  if (!problem.staticShapes)
    return expects("operands of static shape", "sizes that are known when the program runs");
  if (!problem.int32Coordinates)
    return expects("coordinates below 2^31", "larger operands");
  return {};
}

/// Requires what wgmma and TMA kernels of static problems have in common.
std::string checkStaticProblem(const KernelProblem &problem) {
  std::string reason = checkSixteenBits(problem);
  return reason.empty() ? checkStaticShape(problem) : reason;
}

/// Returns true if the depth of the reduction is known and made of whole blocks.
bool hasWholeDepth(const KernelProblem &problem) {
  return problem.depth > 0 && problem.block.cols > 0 && problem.depth % problem.block.cols == 0;
}

/// Requires columns. The last column tile may extend beyond them. Operands whose rows are no whole
/// chunks of 16 bytes, as TMA addresses them, are copied (blocksparse/Plan/AlignedCopies.h).
std::string checkStagedColumns(const KernelProblem &problem) {
  return problem.cols > 0 ? std::string() : expects("at least one column", text(problem.cols));
}

/// Requires factors of bytes that wgmma can multiply: K-major ones, or a dense factor that can be
/// transposed in chunks of 16 bytes.
std::string checkBytesByWgmma(const KernelProblem &problem) {
  if (problem.b != problem.a)
    return expects("factors of one type", textOfTypes(problem));
  if (problem.transposedBlocks)
    return expects("blocks of bytes that are stored as they are multiplied", "their transposes");
  if (!problem.denseKMajor && problem.cols != unknownSize && problem.cols % 16 != 0)
    return expects("a K-major dense factor of bytes, or a multiple of 16 columns",
                   text(problem.cols) + " columns");
  return {};
}

std::string checkReductionByWgmma(const KernelProblem &problem) {
  const BlockShape block = problem.block;
  if (block.rows <= 0 || block.rows % 64 != 0 || block.cols <= 0 || block.cols % 64 != 0)
    return expects("blocks of multiples of 64x64", text(block));
  const bool hasBytes = isF8(problem.a) || problem.a == ElementType::i8;
  std::string reason = hasBytes ? checkBytesByWgmma(problem) : checkSixteenBits(problem);
  if (reason.empty())
    reason = checkStaticShape(problem);
  if (!reason.empty())
    return reason;
  if (!hasWholeDepth(problem))
    return expects("a reduction over whole blocks of " + text(block.cols), text(problem.depth));
  return checkStagedColumns(problem);
}

std::string checkSampledByWgmma(const KernelProblem &problem) {
  const BlockShape block = problem.block;
  if (problem.addsInput)
    return expects("beta = 0", "an input that is added");
  if (problem.dynamicAlpha)
    return expects("alpha as an attribute", "an operand");
  if (!hasSampledTiles(block))
    return expects("blocks of multiples of 64x64 of at most 512 columns, or of 16, 32 or 64 rows "
                   "and columns",
                   text(block));
  if (std::string reason = checkStaticProblem(problem); !reason.empty())
    return reason;
  if (problem.rows <= 0 || problem.rows % block.rows != 0)
    return expects("rows of whole blocks of " + text(block.rows), text(problem.rows));
  if (problem.cols <= 0 || problem.cols % block.cols != 0)
    return expects("columns of whole blocks of " + text(block.cols), text(problem.cols));
  if (problem.depth <= 0)
    return expects("a reduction that is not empty", text(problem.depth));
  return {};
}

std::string checkDenseByWgmma(const KernelProblem &problem) {
  if (std::string reason = checkSixteenBits(problem); !reason.empty())
    return reason;
  if (problem.isZero)
    return expects("alpha other than 0", "0");
  return {};
}

std::string checkWgmmaChip(const GPUFacts &facts) {
  return facts.wgmma && facts.tma ? "" : expects("a chip with wgmma and TMA", "one without");
}

std::string checkWgmma(const KernelProblem &problem, const GPUFacts &facts) {
  if (std::string reason = checkWgmmaChip(facts); !reason.empty())
    return reason;
  switch (problem.kind) {
  case ProblemKind::Reduction:
    return checkReductionByWgmma(problem);
  case ProblemKind::Sampled:
    return checkSampledByWgmma(problem);
  default:
    return checkDenseByWgmma(problem);
  }
}

std::string checkWgmmaTransposed(const KernelProblem &problem, const GPUFacts &facts) {
  if (std::string reason = checkWgmmaChip(facts); !reason.empty())
    return reason;
  if (!sharesSubtiles(problem.block))
    return expects("blocks of less than 64 rows or columns", text(problem.block));
  if (!problem.transposeA && problem.transposeB)
    return expects("a factor that is not K-major", "two that are");
  // A factor is transposed in chunks of 16 bytes.
  if (problem.depth > 0 && problem.depth % 8 != 0)
    return expects("a reduction of a multiple of 8", text(problem.depth));
  return checkSampledByWgmma(problem);
}

std::string checkStreamBlocks(const KernelProblem &problem) {
  const BlockShape block = problem.block;
  if (block.rows <= 0 || block.cols <= 0)
    return expects("blocks of known size", text(block));
  if (block.rows % 64 == 0 && block.cols % 64 == 0 && hasWholeDepth(problem))
    return expects("blocks of no multiples of 64x64", text(block));
  if (std::string reason = checkStaticProblem(problem); !reason.empty())
    return reason;
  if (problem.depth <= 0 || problem.rows <= 0)
    return expects("a product that is not empty",
                   text(problem.rows) + " rows and a reduction of " + text(problem.depth));
  return checkStagedColumns(problem);
}

std::string checkStream(const KernelProblem &problem, const GPUFacts &facts) {
  if (!facts.tma || !facts.cpAsync)
    return expects("a chip with TMA", "one without");
  return checkStreamBlocks(problem);
}

std::string checkStreamWgmma(const KernelProblem &problem, const GPUFacts &facts) {
  if (std::string reason = checkWgmmaChip(facts); !reason.empty())
    return reason;
  return checkStreamBlocks(problem);
}

std::string checkMma(const KernelProblem &problem, const GPUFacts &facts) {
  if (!facts.cpAsync)
    return expects("a chip with cp.async and mma.sync of 16-bit floats", "one without");
  const bool known = isSixteenBit(problem.a) || problem.a == ElementType::i8 || isF8(problem.a) ||
                     problem.a == ElementType::f64 ||
                     (problem.a == ElementType::f32 && problem.roundsF32);
  if (!known || problem.b != problem.a)
    return expects(
        "factors of one type, i8, f16, bf16, f8, f64 or f32 of a precision other than ieee",
        text(problem.a) + " and " + text(problem.b));
  // m16n8k4, the shape with the full rate of sm_90.
  if (problem.a == ElementType::f64 && (!facts.f64MMA || facts.computeCapability < 90))
    return expects("a chip with mma.sync m16n8k4 of f64 (from sm_90 on)", "one without");
  if (isF8(problem.a) && !facts.f8ToF16)
    return expects("a chip that converts f8 to f16 (from sm_90 on)", "one that does not");
  const BlockShape block = problem.block;
  if (problem.kind != ProblemKind::Dense && (block.rows % 16 != 0 || block.cols % 16 != 0))
    return expects("blocks of multiples of 16x16", text(block));
  return {};
}

/// Requires what products with exact factors have: tiles that cp.async fills.
std::string checkFma(const KernelProblem &problem, const GPUFacts &facts) {
  if (!facts.cpAsync)
    return expects("a chip with cp.async", "one without");
  const bool known =
      problem.a == ElementType::f64 || (problem.a == ElementType::f32 && !problem.roundsF32);
  if (!known || problem.b != problem.a)
    return expects("factors of one type, f64 or f32 of the precision ieee",
                   text(problem.a) + " and " + text(problem.b));
  const BlockShape block = problem.block;
  if (problem.kind != ProblemKind::Dense && (block.rows % 16 != 0 || block.cols % 16 != 0))
    return expects("blocks of multiples of 16x16", text(block));
  return {};
}

std::string checkSkinny(const KernelProblem &problem, const GPUFacts &facts) {
  if (!facts.cpAsync)
    return expects("a chip with mma.sync of 16-bit floats", "one without");
  if (!isSixteenBit(problem.a) || problem.b != problem.a)
    return expects("factors of one type, f16 or bf16", text(problem.a) + " and " + text(problem.b));
  if (problem.transposedBlocks)
    return expects("blocks that are stored as they are multiplied", "their transposes");
  if (problem.block.cols <= 0 || problem.block.cols % 8 != 0)
    return expects("blocks of a multiple of 8 columns", text(problem.block.cols));
  if (problem.depth <= 0 || problem.depth % 8 != 0)
    return expects("a reduction of a multiple of 8", text(problem.depth));
  if (problem.cols <= 0 || problem.cols > SkinnyParams::maxTileCols)
    return expects("from 1 to 64 columns", text(problem.cols));
  return {};
}

bool isFloatOfRows(std::optional<ElementType> type) {
  return isSixteenBit(type) || type == ElementType::f32;
}

std::string checkRowKernel(const KernelProblem &problem, const GPUFacts &) {
  for (std::optional<ElementType> type : {problem.a, problem.b, problem.out})
    if (type && !isFloatOfRows(type))
      return expects("elements of f16, bf16 or f32", text(type));
  if (!problem.a || !problem.out)
    return expects("elements of f16, bf16 or f32", text(std::nullopt));
  const int64_t chunk = getRowChunk(problem);
  if (problem.block.cols <= 0 || problem.block.cols % chunk != 0)
    return expects("blocks of a multiple of " + text(chunk) + " columns", text(problem.block.cols));
  for (const RowOperand &operand : problem.rowOperands) {
    if (!isFloatOfRows(operand.type) && operand.type != ElementType::i8 &&
        operand.type != ElementType::i32)
      return expects("biases and masks of f16, bf16, f32, i8 or i32", text(operand.type));
    // A chunk of an operand must not pass the end of its row.
    if (!operand.isOneColumn && (problem.cols == unknownSize || problem.cols % chunk != 0))
      return expects("a multiple of " + text(chunk) + " columns beside a bias or mask",
                     text(problem.cols));
  }
  return {};
}

/// Requires an attention that one tile of shared memory and registers can hold.
std::string checkAttention(const KernelProblem &problem, const GPUFacts &facts) {
  constexpr int64_t mostCols = 128;
  if (std::string reason = checkWgmmaChip(facts); !reason.empty())
    return reason;
  if (!problem.decomposedFeature.empty())
    return expects("attention without what several operations compute", problem.decomposedFeature);
  if (!problem.positiveScale)
    return expects("a finite scale above 0", "another one");
  if (std::string reason = checkStaticProblem(problem); !reason.empty())
    return reason;
  const BlockShape block = problem.block;
  const int64_t multiple = problem.isGradient ? attentionRows : AttentionSlices::keysOfSlice;
  if (block.rows <= 0 || block.rows % multiple != 0 || block.cols <= 0 ||
      block.cols % multiple != 0)
    return expects("blocks of multiples of " + text(BlockShape{multiple, multiple}), text(block));
  if (problem.rows <= 0 || problem.rows % block.rows != 0)
    return expects("queries of whole blocks of " + text(block.rows), text(problem.rows));
  if (problem.cols <= 0 || problem.cols % block.cols != 0)
    return expects("keys of whole blocks of " + text(block.cols), text(problem.cols));
  for (const int64_t cols : {problem.depth, problem.valueCols})
    if (cols <= 0 || cols % 8 != 0 || cols > mostCols)
      return expects("head dimensions of a multiple of 8 up to " + text(mostCols), text(cols));
  return {};
}

/// Describes a row of the table.
struct FamilyRow {
  KernelFamily family;
  TargetKind target;
  std::initializer_list<ProblemKind> kinds;
  Check check;
};

constexpr std::initializer_list<ProblemKind> products{ProblemKind::Reduction, ProblemKind::Sampled,
                                                      ProblemKind::Dense, ProblemKind::Scatter};
constexpr std::initializer_list<ProblemKind> matrixProducts{
    ProblemKind::Reduction, ProblemKind::Sampled, ProblemKind::Dense};
constexpr std::initializer_list<ProblemKind> reductions{ProblemKind::Reduction};
constexpr std::initializer_list<ProblemKind> sampled{ProblemKind::Sampled};
constexpr std::initializer_list<ProblemKind> rows{ProblemKind::Rows};
constexpr std::initializer_list<ProblemKind> rowsAndAttention{ProblemKind::Rows,
                                                              ProblemKind::Attention};
constexpr std::initializer_list<ProblemKind> attention{ProblemKind::Attention};
constexpr std::initializer_list<ProblemKind> allButBlocks{
    ProblemKind::Reduction, ProblemKind::Sampled, ProblemKind::Dense,
    ProblemKind::Scatter,   ProblemKind::Rows,    ProblemKind::Attention};
constexpr std::initializer_list<ProblemKind> blocks{ProblemKind::Blocks};

// The families of a target in order of preference.
const FamilyRow families[] = {
    {KernelFamily::CPUPanel, TargetKind::CPU, products, checkAny},
    {KernelFamily::CPURows, TargetKind::CPU, rowsAndAttention, checkAny},
    {KernelFamily::CPUBlocks, TargetKind::CPU, blocks, checkAny},
    {KernelFamily::CUDAWgmma, TargetKind::CUDA, matrixProducts, checkWgmma},
    {KernelFamily::CUDAWgmmaTransposed, TargetKind::CUDA, sampled, checkWgmmaTransposed},
    {KernelFamily::CUDAStream, TargetKind::CUDA, reductions, checkStream},
    {KernelFamily::CUDAStreamWgmma, TargetKind::CUDA, reductions, checkStreamWgmma},
    {KernelFamily::CUDASkinny, TargetKind::CUDA, reductions, checkSkinny},
    {KernelFamily::CUDAMma, TargetKind::CUDA, matrixProducts, checkMma},
    {KernelFamily::CUDAFma, TargetKind::CUDA, matrixProducts, checkFma},
    {KernelFamily::CUDARows, TargetKind::CUDA, rows, checkRowKernel},
    {KernelFamily::CUDAAttention, TargetKind::CUDA, attention, checkAttention},
    {KernelFamily::CUDASimt, TargetKind::CUDA, allButBlocks, checkAny},
    {KernelFamily::CUDABlocks, TargetKind::CUDA, blocks, checkAny},
};

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

std::string checkPanel(const PanelParams &params, const KernelProblem &problem,
                       const TargetInfo &target) {
  const bool wide = problem.a == ElementType::f64 || problem.a == ElementType::i64;
  const int64_t lanes = std::max<int64_t>(1, target.cpuFacts().simdBits / (wide ? 64 : 32));
  const int64_t cols = params.tile.cols;
  const bool narrow = cols < lanes && (cols & (cols - 1)) == 0;
  if (params.tile.isGiven() && !narrow && cols % lanes != 0)
    return expects("columns of a tile that are a multiple of " + text(lanes) +
                       " lanes, or a smaller power of two",
                   text(cols));
  return {};
}

std::string checkSplit(int64_t split, const KernelProblem &problem) {
  const bool hasPattern =
      problem.kind == ProblemKind::Reduction || problem.kind == ProblemKind::Sampled;
  return split == 0 || hasPattern
             ? std::string()
             : expects("split = 0 for " + std::string(describeKind(problem.kind)), text(split));
}

std::string checkSkinnySizes(const SkinnyParams &params, const KernelProblem &problem,
                             const GPUFacts &facts) {
  const TileSize tile = params.tile;
  if (const int64_t cols = fitSkinnyCols(problem.cols); tile.isGiven() && tile.cols != cols)
    return expects("a tile of " + text(cols) + " columns for " + text(problem.cols) + " columns",
                   text(tile.cols));
  if (tile.rows > 16 && tile.rows >= 2 * problem.block.rows)
    return expects("a tile of 16 rows or of less than twice the block rows of " +
                       text(problem.block.rows),
                   text(tile.rows));
  const SkinnyParams all =
      chooseSkinny({problem.block, problem.cols}, params, /*multiprocessors=*/1);
  // A lane holds the accumulators in registers.
  if (all.tile.rows * all.tile.cols > 4096)
    return expects("a tile of at most 4096 elements", text(tile));
  if (const int64_t bytes = getSkinnySharedBytes(all); bytes > facts.sharedMemoryPerBlock)
    return expects("warps whose sums fit " + text(facts.sharedMemoryPerBlock) +
                       " bytes of shared memory",
                   text(all.warps) + " of " + text(bytes) + " bytes together");
  return {};
}

std::string checkMmaSizes(const MmaParams &params, const KernelProblem &problem) {
  const TileSize tile = params.tile;
  if (!tile.isGiven())
    return {};
  if (problem.a == ElementType::f64 &&
      (tile.rows > MmaParams::maxF64Rows || tile.cols > MmaParams::maxF64Cols))
    return expects("a tile of at most 64x128 for f64", text(tile));
  if (problem.kind != ProblemKind::Dense && problem.block.rows % tile.rows != 0)
    return expects("rows of a tile that divide block rows of " + text(problem.block.rows),
                   text(tile.rows));
  if (problem.kind == ProblemKind::Sampled && problem.block.cols % tile.cols != 0)
    return expects("columns of a tile that divide blocks of " + text(problem.block.cols),
                   text(tile.cols));
  if (problem.kind == ProblemKind::Dense)
    if (int64_t most = fitMmaTile(problem.rows, MmaParams::maxTileRows); tile.rows > most)
      return expects("at most " + text(most) + " rows of a tile for " + text(problem.rows) +
                         " rows",
                     text(tile.rows));
  if (problem.kind != ProblemKind::Sampled)
    if (int64_t most = fitMmaTile(problem.cols, MmaParams::maxTileCols); tile.cols > most)
      return expects("at most " + text(most) + " columns of a tile for " + text(problem.cols) +
                         " columns",
                     text(tile.cols));
  return {};
}

std::string checkSampledTile(const Schedule &schedule, const WgmmaParams &params,
                             const KernelProblem &problem) {
  const BlockShape block = problem.block;
  if (params.gather && !canGatherRows(block))
    return expects("gather = false for block rows of a multiple of 128", "true");
  if (params.cluster > 1 && !canShareRows(block))
    return expects("cluster = 1 for block rows of no multiple of 128", text(params.cluster));
  const std::optional<SampledFactors> factors =
      SampledFactors::get(schedule.family(), block, {problem.transposeA, problem.transposeB});
  const SampledForm form = SampledForm::get(block, *factors, params.gather, params.cluster);
  if (TileSize tile = getSampledTile(block, form); params.tile.isGiven() && params.tile != tile)
    return expects("a tile of " + text(tile) + " for blocks of " + text(block), text(params.tile));
  return {};
}

/// Requires a column tile that the columns of a reduction fill but for less than 64.
std::string checkColumnTile(const KernelProblem &problem, int64_t cols) {
  if (problem.cols == unknownSize)
    return {};
  const int64_t most = (problem.cols + 63) / 64 * 64;
  return cols <= most ? std::string()
                      : expects("column tiles of at most " + text(most) + " columns for " +
                                    text(problem.cols) + " columns",
                                text(cols));
}

std::string checkReductionTile(const WgmmaParams &params, const KernelProblem &problem) {
  if (params.gather)
    return expects("gather = false for a reduction over block rows", "true");
  if (params.cluster > 1 && elementSize(*problem.a) == 1)
    return expects("cluster = 1 for factors of bytes", text(params.cluster));
  if (!params.tile.isGiven())
    return params.cluster == 1
               ? std::string()
               : expects("a tile of 128x256 with cluster = " + text(params.cluster), "none");
  if (params.tile.rows != 128)
    return expects("a tile of 128 rows", text(params.tile.rows));
  if (params.cluster > 1 && params.tile.cols != wgmmaCtaCols)
    return expects("a tile of 128x256 with cluster = " + text(params.cluster), text(params.tile));
  if (params.tile.cols != 64 && params.tile.cols != 128 && params.tile.cols != 256)
    return expects("a tile of 64, 128 or 256 columns", text(params.tile.cols));
  if (const int64_t most = getMostWgmmaCols(*problem.a); params.tile.cols > most)
    return expects("a tile of at most " + text(most) + " columns for f8", text(params.tile.cols));
  return checkColumnTile(problem, params.tile.cols * params.cluster);
}

std::string checkDenseTile(const WgmmaParams &params, const KernelProblem &problem) {
  if (params.gather)
    return expects("gather = false for a dense product", "true");
  if (params.cluster != 1)
    return expects("cluster = 1 for a dense product", text(params.cluster));
  if (!params.tile.isGiven())
    return {};
  if (params.tile.rows != 128)
    return expects("a tile of 128 rows", text(params.tile.rows));
  if (int64_t most = fitDenseWgmmaCols(problem.cols); params.tile.cols > most)
    return expects("at most " + text(most) + " columns of a tile for " + text(problem.cols) +
                       " columns",
                   text(params.tile.cols));
  return {};
}

std::string checkWgmmaSizes(const Schedule &schedule, const KernelProblem &problem,
                            const GPUFacts &facts) {
  const WgmmaParams &params = *schedule.getIf<WgmmaParams>();
  std::string fault = problem.kind == ProblemKind::Sampled
                          ? checkSampledTile(schedule, params, problem)
                      : problem.kind == ProblemKind::Reduction ? checkReductionTile(params, problem)
                                                               : checkDenseTile(params, problem);
  if (!fault.empty() || params.stages == 0)
    return fault;
  const TileSize tile =
      params.tile.isGiven() ? params.tile : TileSize{128, getMostWgmmaCols(*problem.a)};
  if (int64_t bytes = boundWgmmaSharedBytes(tile, params.stages, elementSize(*problem.a));
      bytes > facts.sharedMemoryPerBlock)
    return expects("stages that fit " + text(facts.sharedMemoryPerBlock) +
                       " bytes of shared memory",
                   text(params.stages) + " of " + text(bytes) + " bytes together");
  return {};
}

std::string checkStreamSizesOf(const Schedule &schedule, const KernelProblem &problem,
                               const GPUFacts &facts) {
  const StreamParams &params = *schedule.getIf<StreamParams>();
  if (params.block == 0 && !isStreamBlock(problem))
    return expects("block = 16 or 32 for blocks of " + text(problem.block) + " in a reduction of " +
                       text(problem.depth),
                   "none");
  const int64_t block = params.blockFor(problem.block.rows);
  if (params.tile.rows % block != 0)
    return expects("a tile of whole block rows of " + text(block),
                   text(params.tile.rows) + " rows");
  if (std::string fault = checkColumnTile(problem, params.tile.cols); !fault.empty())
    return fault;
  // One instruction loads several subtiles of 64 columns, but no part of one. A panel of a K-major
  // operand is one box, whatever its columns are.
  if (params.tile.cols > 64 && !problem.denseKMajor && problem.cols != unknownSize &&
      problem.cols % 64 != 0)
    return expects("column tiles of 64 for a number of columns that is no multiple of 64",
                   text(params.tile.cols) + " for " + text(problem.cols));
  std::string fault;
  getStreamShape(
      getStreamSizes(schedule, problem.block.rows, problem.denseKMajor, facts.sharedMemoryPerBlock),
      &fault);
  return fault;
}

/// Checks that as many kernels can compute the gradient of attention.
std::string checkKernels(int64_t kernels, const KernelProblem &problem) {
  if (kernels != 0 && !problem.isGradient)
    return expects("kernels for a gradient of attention alone", text(kernels));
  if (kernels == 1 && problem.sharedHeads != 1)
    return expects("a head of keys for each head of queries for 1 kernel",
                   "one for " + text(problem.sharedHeads));
  return kernels == 1 ? checkOrderedGradient(problem.block.cols, problem.depth, problem.valueCols)
                      : "";
}

std::string checkRows(const RowParams &params, const KernelProblem &problem) {
  const int64_t chunk = getRowChunk(problem);
  return params.elementsPerLane % chunk == 0
             ? std::string()
             : expects("elements_per_lane that are a multiple of " + text(chunk),
                       text(params.elementsPerLane));
}

} // namespace

bool blocksparse::isStreamBlock(const KernelProblem &problem) {
  const BlockShape block = problem.block;
  return block.rows == block.cols && (block.rows == 16 || block.rows == 32) &&
         hasWholeDepth(problem);
}

bool blocksparse::isProduct(ProblemKind kind) {
  return std::find(products.begin(), products.end(), kind) != products.end();
}

/// Returns the row of a family. Every family has one.
static const FamilyRow &findRow(KernelFamily family) {
  return *std::find_if(std::begin(families), std::end(families),
                       [&](const FamilyRow &row) { return row.family == family; });
}

static std::string checkRow(const FamilyRow &row, const KernelProblem &problem,
                            const GPUFacts &facts) {
  if (std::find(row.kinds.begin(), row.kinds.end(), problem.kind) == row.kinds.end())
    return expects(describeKinds(row.kinds), std::string(describeKind(problem.kind)));
  return row.check(problem, facts);
}

std::string blocksparse::checkSupport(KernelFamily family, const KernelProblem &problem,
                                      const TargetInfo &target) {
  const FamilyRow &row = findRow(family);
  if (row.target != target.kind())
    return expects(row.target == TargetKind::CPU ? "a CPU" : "a GPU", target.toString());
  return checkRow(row, problem, target.gpuFacts());
}

std::string blocksparse::checkSupport(KernelFamily family, const KernelProblem &problem,
                                      const GPUFacts &facts) {
  const FamilyRow &row = findRow(family);
  if (row.target != TargetKind::CUDA)
    return expects("a CPU", "a GPU");
  return checkRow(row, problem, facts);
}

std::vector<KernelFamily> blocksparse::getFamilies(const KernelProblem &problem,
                                                   const TargetInfo &target) {
  std::vector<KernelFamily> able;
  for (const FamilyRow &row : families)
    if (supports(row.family, problem, target))
      able.push_back(row.family);
  return able;
}

std::string blocksparse::checkSchedule(const Schedule &schedule, const KernelProblem &problem,
                                       const TargetInfo &target) {
  if (std::string fault = checkParams(schedule); !fault.empty())
    return fault;
  if (std::string fault = checkSplit(schedule.split(), problem); !fault.empty())
    return fault;
  if (const auto *panel = schedule.getIf<PanelParams>())
    return checkPanel(*panel, problem, target);
  if (const auto *skinny = schedule.getIf<SkinnyParams>())
    return checkSkinnySizes(*skinny, problem, target.gpuFacts());
  if (const auto *mma = schedule.getIf<MmaParams>())
    return checkMmaSizes(*mma, problem);
  if (schedule.getIf<WgmmaParams>())
    return checkWgmmaSizes(schedule, problem, target.gpuFacts());
  if (schedule.getIf<StreamParams>())
    return checkStreamSizesOf(schedule, problem, target.gpuFacts());
  if (const auto *rows = schedule.getIf<RowParams>())
    return checkRows(*rows, problem);
  const auto *attention = schedule.getIf<AttentionParams>();
  return attention ? checkKernels(attention->kernels, problem) : "";
}
