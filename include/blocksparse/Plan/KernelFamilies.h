// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The table of kernel families: which operations each family computes, on which chips, and with
// which schedules. Scheduling and lowering both ask here, so that the family which a schedule names
// has a kernel for the operation. A kernel may still depend on facts that are known only when the
// program runs, such as the alignment of operands; the emitted host code tests those.
//
//   cpu.panel   products: register tiles over packed panels
//   cpu.rows    softmax and its gradient, one block row at a time
//   cpu.blocks  conversions between layouts, one block at a time
//   cuda.wgmma  products of 16-bit floats by warpgroup mma and TMA (sm_90a): reductions over a
//               static pattern of blocks of multiples of 64 x 64, products sampled at the blocks of
//               a static pattern, and dense products; also reductions of f8 and i8 over blocks that
//               are stored as they are multiplied
//   cuda.wgmma_transposed
//               sampled products for blocks of less than 64 rows or columns; a kernel first writes
//               transposed each factor that is not K-major
//   cuda.stream, cuda.stream_wgmma
//               reductions of 16-bit floats over a static pattern, by mma.sync or wgmma, with TMA
//               (sm_90, sm_90a); blocks of any shape are planned as square blocks of 16 or 32
//   cuda.skinny reductions of 16-bit floats with at most 64 columns, by mma.sync on fragments that
//               are loaded from global memory (from sm_80 on)
//   cuda.mma    products of 16-bit and 8-bit elements and of rounded f32 by mma.sync (from sm_80
//               on), and of f64 (from sm_90 on)
//   cuda.fma    products of f64 and of exact f32 by multiply-adds of the scalar units on tiles in
//               shared memory (from sm_80 on)
//   cuda.rows   softmax and its gradient, a row in the registers of a team of lanes: elements of
//               f16, bf16 or f32, and blocks of whole chunks of 16 bytes
//   cuda.attention
//               attention of 16-bit floats over a static pattern of blocks of multiples of 16 x 16,
//               and its gradient for multiples of 64 x 64, by warpgroup mma and TMA (sm_90a); the
//               scores stay in registers
//   cuda.simt   products of any element type without tensor cores; softmax, its gradient and
//               attention of any element type and block
//   cuda.blocks conversions between layouts, one element at a time

#ifndef BLOCKSPARSE_PLAN_KERNELFAMILIES_H
#define BLOCKSPARSE_PLAN_KERNELFAMILIES_H

#include "blocksparse/Layout/BlockLayout.h"
#include "blocksparse/Plan/Schedule.h"
#include "blocksparse/Support/ElementType.h"
#include "blocksparse/Target/TargetInfo.h"

#include <limits>
#include <string>
#include <vector>

namespace blocksparse {

/// Lists the kinds of operations that kernels compute.
enum class ProblemKind : uint8_t {
  /// op(S) times a dense matrix, or the transposed problem: dsd, dds, bsr_addmm.
  Reduction,
  /// A product at the blocks of a pattern: sdd, sampled_addmm.
  Sampled,
  /// A product of dense matrices: matmul.
  Dense,
  /// A sum of products of gathered blocks: scatter_mm.
  Scatter,
  /// softmax and its gradient.
  Rows,
  /// attention.
  Attention,
  /// Conversions: to_dense, from_dense, transpose.
  Blocks
};

/// Stands for a size that is known only when the program runs; equals ShapedType::kDynamic.
inline constexpr int64_t unknownSize = std::numeric_limits<int64_t>::min();

/// Describes an operand that softmax adds to the scores or masks them with.
struct RowOperand {
  /// Element type; absent if no tensor has it.
  std::optional<ElementType> type;
  /// True if one element serves all columns of a row.
  bool isOneColumn = false;
};

/// Describes an operation as far as it decides which kernels can compute it. Tensor operations and
/// planned operations are described alike.
struct KernelProblem {
  ProblemKind kind = ProblemKind::Dense;
  /// Elements of the two factors and of the result. A Rows problem reads x (`a`), or y and dy (`a`
  /// and `b`); an Attention problem reads q (`a`), and k and v (`b`); of a Blocks problem only `a`
  /// counts. An element type that no tensor (of the Support
  /// library) has is absent.
  std::optional<ElementType> a, b, out;
  /// True if f32 factors may be rounded to tf32.
  bool roundsF32 = false;
  /// Block of op(S) for a reduction (rows by depth), stored block for all others that have one.
  BlockShape block{0, 0};
  /// Sizes of the product, of a Rows problem those of the sparse matrix: rows and columns of the
  /// result and depth of the reduction. unknownSize if not known. For a reduction the result is
  /// that of op(S) times the dense factor. For an Attention problem, rows and columns are those of
  /// the scores, and `depth` is the number of columns of q and k.
  int64_t rows = unknownSize, cols = unknownSize, depth = unknownSize;
  /// Columns of v and of the result of an Attention problem.
  int64_t valueCols = unknownSize;
  /// True if an Attention problem is the gradient of attention.
  bool isGradient = false;
  /// True if the pattern is known at compile time, or if the device can make the tables of kernels
  /// with stages (blocksparse/Plan/RunTimeStages.h).
  bool staticPattern = false;
  /// True if the shapes of all operands and of the result are static.
  bool staticShapes = false;
  /// True if the coordinates of every element of an operand, seen as a matrix, are int32.
  bool int32Coordinates = true;
  /// True if the blocks of a reduction are stored as the transpose of those of op(S).
  bool transposedBlocks = false;
  /// True if the dense factor of a reduction is K-major: k is its last axis.
  bool denseKMajor = false;
  /// Transposes of the factors of a sampled product: A is stored [K, M], B is stored [N, K].
  bool transposeA = false, transposeB = false;
  /// True if a sampled product is added to an input (beta is not 0).
  bool addsInput = false;
  /// True if alpha is 0, so that nothing is multiplied.
  bool isZero = false;
  /// True if the factor of the scores of an Attention problem is finite and above 0.
  bool positiveScale = true;
  /// True if the factor alpha of a sampled product is known only when the program runs.
  bool dynamicAlpha = false;
  /// Heads of queries that share a head of keys in an Attention problem.
  int64_t sharedHeads = 1;
  /// Name of what an Attention problem has that only several operations compute; empty if there is
  /// nothing.
  std::string decomposedFeature;
  /// Position bias and masks of a softmax.
  std::vector<RowOperand> rowOperands;
};

/// Returns true if operations of this kind multiply matrices.
bool isProduct(ProblemKind kind);

/// Returns an empty string if kernels of `family` compute `problem` on `target`, else the reason
/// why they do not, as "expects X, but got Y".
std::string checkSupport(KernelFamily family, const KernelProblem &problem,
                         const TargetInfo &target);

/// Returns an empty string if kernels of `family` compute `problem` on a GPU with `facts`, else the
/// reason why they do not.
std::string checkSupport(KernelFamily family, const KernelProblem &problem, const GPUFacts &facts);

inline bool supports(KernelFamily family, const KernelProblem &problem, const TargetInfo &target) {
  return checkSupport(family, problem, target).empty();
}

/// Returns the families that compute `problem` on `target`, fastest first. There is at least one.
std::vector<KernelFamily> getFamilies(const KernelProblem &problem, const TargetInfo &target);

/// Returns an empty string if a kernel can honour every parameter of `schedule` when it computes
/// `problem` on `target`, else the first fault as "expects X, but got Y". Requires that the family
/// supports the problem. Sizes of the problem that are not known pass.
std::string checkSchedule(const Schedule &schedule, const KernelProblem &problem,
                          const TargetInfo &target);

//===----------------------------------------------------------------------===//
// Sizes that planner and kernels share
//===----------------------------------------------------------------------===//

/// Returns the tile size of mma.sync kernels, a power of two from 16 to `most`, for a matrix of
/// `extent` rows (or columns): the smallest that covers it, or `most` if it is unknown or larger.
int64_t fitMmaTile(int64_t extent, int64_t most);
/// Returns the largest power of two from 16 to `most` that divides `extent`, a multiple of 16.
int64_t divideMmaTile(int64_t extent, int64_t most);

/// Returns an upper bound of the shared memory, in bytes, of a wgmma kernel with `stages` stages of
/// 64 values of k, of `elementBytes` bytes each, and tiles of `tile`.
int64_t boundWgmmaSharedBytes(TileSize tile, int64_t stages, int64_t elementBytes = 2);

/// Returns the most columns of a CTA of a wgmma reduction of `element`: f8 has two sets of
/// accumulators.
int64_t getMostWgmmaCols(ElementType element);

/// Returns true if the stored blocks of a reduction are blocks that stream kernels multiply: square
/// blocks of 16 or 32 that divide the depth. Others are re-blocked (blocksparse/Plan/Reblock.h).
bool isStreamBlock(const KernelProblem &problem);

/// Returns the number of elements of a row that a lane of cuda.rows moves at a time: 16 bytes of
/// the narrowest of `a`, `b` and `out`, at least 4.
int64_t getRowChunk(const KernelProblem &problem);

/// Returns the columns of a dense wgmma kernel's tile for a result of `cols` columns.
int64_t fitDenseWgmmaCols(int64_t cols);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_KERNELFAMILIES_H
