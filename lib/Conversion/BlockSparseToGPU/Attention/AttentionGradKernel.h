// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels of the gradient of attention in "cuda.attention" (sm_90a). There are two of one form,
// and each row of a gradient is summed by one warpgroup in the order of its steps: nothing is added
// by several CTAs, so that results are bitwise equal from run to run.
//
//                    tile          resident   walked in steps of 64   results
//   side of keys     64 keys       k, v       q, dout                 dk += dS^T q, dv += P^T dout
//   side of queries  64 queries    q, dout    k, v                    dq += dS k
//
// With R0 and R1 the resident matrices and X0 and X1 those of a step, both compute
//   S = R0 X0^T, dP = R1 X1^T, P = 2^(S * scale * log2(e) + shift), dS = P * (dP - sum)
// where S, dP, P and dS of the side of keys are the transposes of those of the side of queries. The
// shift and the sum of a query belong to a column there, and to a row here. P and dS become the
// left factors of the products with X1 and X0 in the registers in which they are computed.
//
// A CTA has persistent warpgroups: the first has a producer thread for each of two consumers. The
// consumers are independent of each other; each has a stage ring of its own, whose stages hold X0
// and X1 of a step in turn, and another ring with one stage for each resident matrix.
//
// A consumer runs, for each step:
//   start S; start dP; wait for S; P; [start dv += P X1]; wait for dP; dS; start dk (dq) += dS X0;
//   [wait for dv]; release X1; wait for dk (dq); release X0
// Products of the other consumer run while this one computes P and dS. Steps come in pairs: S and
// dP of the second are started before the wait for dk (dq) of the first.
//
// Barriers, and why each is there:
// - full of a stage: the consumer waits for X0 or X1, and for the shifts or sums of its queries.
// - empty of a stage: the producer waits until the products that read the stage are complete.
// - full and empty of the resident matrices: the same for a tile. They are released when the last
// dP
//   of the tile has been computed, so that those of the next tile arrive while results are stored.
// - two named barriers of a warpgroup around the writes of results to shared memory; see
//   Kit/SubtileStore.h.
//
// Forbidden elements have P = 0, but a product of 0 with NaN is NaN. Where a mask may forbid,
// elements of a result that are NaN are computed again by scalar kernels; see Simt/SimtKernels.h.
// Scores get their soft cap, bias and masks as those of attention do; see AttentionScores.h.
//
// Heads of queries may share a head of keys. The steps of a tile of keys are then those of all
// these heads, one after the other.
//
// Registers: the sum of 128 * (24 + 2 * 240) fits what the launch allots; see Wgmma/WgmmaProduct.h.
// With head dimensions of 128, dk and dv take 128 of them, and S, dP and P another 80.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONGRADKERNEL_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONGRADKERNEL_H

#include "../KernelBuilder.h"
#include "../Kit/IntTable.h"
#include "../Kit/StageRing.h"
#include "../Kit/SubtileStore.h"
#include "../Kit/TensorMap.h"
#include "../Kit/TileRange.h"
#include "../Kit/WgmmaTile.h"
#include "AttentionScores.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Plan/AttentionGradPlan.h"

namespace mlir::blocksparse::device {

using ::blocksparse::AttentionGradSide;

/// Describes the sizes of a kernel and its shared memory.
struct AttentionGradShape {
  static constexpr int64_t warpgroupThreads = 128;
  static constexpr int64_t groups = ::blocksparse::attentionGradGroups;
  static constexpr int64_t threads = warpgroupThreads * (1 + groups);
  static constexpr int64_t producerRegisters = 24, consumerRegisters = 240;
  /// Rows of a tile and of a step.
  static constexpr int64_t rows = 64;
  /// Bytes of the shifts or sums of a step, and of a subtile of 64 rows.
  static constexpr int64_t vectorBytes = rows * 4;
  static constexpr int64_t tileBytes = rows * subtileCols * 2;

  AttentionGradSide side = AttentionGradSide::Keys;
  /// Columns of q and k, and of v, in subtiles of 64; columns beyond the operands are zeros.
  int64_t subtiles[2] = {1, 1};
  /// k slices of S, and of dP.
  int64_t depthSteps[2] = {4, 4};
  int64_t stages = 2;
  Type element;
  /// True if some step holds forbidden elements.
  bool masked = false;
  /// Rows of the matrices that steps walk, and heads of queries that share a head of keys.
  int64_t cols = 0, sharing = 1;

  /// Returns the shape for `op`, with as many stages as fit in `limit` bytes of shared memory.
  static AttentionGradShape get(PlannedAttentionGradOp op, AttentionGradSide side, int64_t limit);

  bool isKeys() const { return side == AttentionGradSide::Keys; }
  /// Returns true if the resident matrices are kept in registers, as fragments: where dv needs
  /// none, or few.
  bool keepsFragments() const { return !isKeys() || subtiles[0] + subtiles[1] <= 2; }
  int64_t mostSubtiles() const { return std::max(subtiles[0], subtiles[1]); }
  int64_t stageBytes() const { return mostSubtiles() * tileBytes; }
  int64_t residentBytes() const { return (subtiles[0] + subtiles[1]) * tileBytes; }
  /// Return byte offsets from the aligned base of shared memory to what consumer 0 has; that of the
  /// other follows. Subtiles come first, as their swizzle wants multiples of 1024 bytes.
  int64_t residentOffset() const { return groups * stages * stageBytes(); }
  int64_t storeOffset() const { return residentOffset() + groups * residentBytes(); }
  int64_t vectorOffset() const { return storeOffset() + groups * SubtileStore::subtileBytes; }
  int64_t barrierOffset() const {
    return vectorOffset() + (isKeys() ? groups * stages * vectorBytes : 0);
  }
  static constexpr int64_t residentStages = 2;
  int64_t barrierBytes() const {
    return StageRing::bytes(stages) + StageRing::bytes(residentStages);
  }
  int64_t sharedBytes() const { return barrierOffset() + groups * barrierBytes() + 1024; }
};

/// Describes the matrices of an operand [.., R, C] in a kernel.
struct AttentionGradMatrices {
  /// The memref of the host, and its tensor map.
  Value memref, map;
};

/// Holds a row of the table of tiles (i32).
struct AttentionGradWork {
  Value row, first, count, batch, head;
};

/// Holds what all warps of a CTA know.
struct AttentionGradFrame {
  PlannedAttentionGradOp op;
  AttentionGradShape shape;
  /// R0 and R1, X0 and X1, and the results of the products with X0 and X1.
  AttentionGradMatrices resident[2], walked[2], results[2];
  IntTable tiles, workers, steps;
  /// Memref of the shifts and sums of the rows.
  Value rows;
  /// The masks and biases, if a step is masked.
  std::optional<AttentionMasks> masks;
  /// Base of shared memory and index of the thread in its warpgroup (i32).
  Value base = {}, thread = {};

  /// Return what belongs to consumer `group` (i32): its ring, the ring of its resident matrices,
  /// and addresses (i32) of its stages, of the vectors of a stage, of its resident matrix `which`,
  /// and of the buffer of its results.
  StageRing ring(ImplicitLocOpBuilder &b, Value group) const;
  StageRing residentRing(ImplicitLocOpBuilder &b, Value group) const;
  Value stageAddress(ImplicitLocOpBuilder &b, Value group, Value stage) const;
  Value vectorAddress(ImplicitLocOpBuilder &b, Value group, Value stage) const;
  Value residentAddress(ImplicitLocOpBuilder &b, Value group, int which) const;
  Value storeAddress(ImplicitLocOpBuilder &b, Value group) const;
  /// Returns the tiles of consumer `group`, and tile `number`.
  TileRange range(ImplicitLocOpBuilder &b, Value group) const;
  AttentionGradWork getTile(ImplicitLocOpBuilder &b, Value number) const;
  /// Returns the words of step `step` of `tile`, or of the last step of the table if that is beyond
  /// it: steps are read ahead.
  SmallVector<Value> readStep(ImplicitLocOpBuilder &b, const AttentionGradWork &tile,
                              Value step) const;
  /// Holds the head and the first row (i32) of X0 and X1 of a step.
  struct Place {
    Value head, row;
  };
  /// Returns the place of the step of `tile` whose first word is `first`.
  Place placeOf(ImplicitLocOpBuilder &b, const AttentionGradWork &tile, Value first) const;
};

/// Emits one consumer warpgroup, that of index `group` (i32).
void emitAttentionGradConsumer(ImplicitLocOpBuilder &b, const AttentionGradFrame &frame,
                               Value group);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONGRADKERNEL_H
