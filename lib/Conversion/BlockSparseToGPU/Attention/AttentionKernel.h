// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernel of "cuda.attention" (sm_90a): persistent CTAs of three or four warpgroups. One thread
// of the first warpgroup is the producer, which issues TMA loads; the other two or three warpgroups
// are consumers with 64 queries each. The keys and values of a tile arrive in steps of 128.
//
// Shared memory: the queries of the consumers, buffers for their results, and a stage ring. A stage
// holds the keys or the values of one step: 128 rows in subtiles of 64 columns. Stages are filled
// in the order in which consumers need them: K0, K1, V0, K2, V1, .., V(n - 1). A separate step
// fills two stages of keys and two of values: the first is that of consumer 0, the second that of
// consumer 1.
//
// A consumer runs, for a tile of n steps:
//   S = Q K0; P = powers of S
//   for j = 1 .. n - 1: start S = Q Kj; start O += P V(j - 1); wait for S; powers of S; wait for O;
//                       scale O; P = rounded powers
//   O += P V(n - 1); divide O by the sums; store
// The products with V(j - 1) run while the powers of step j are computed, and so do the products of
// the other consumer. O is scaled only if the largest score of some row of the warp has grown by
// more than a factor of 2^8 of its power: the powers are otherwise taken relative to an older
// largest score, which changes nothing but rounding, since the sums are relative to it, too.
//
// Barriers, and why each is there:
// - full of a stage: the consumers wait for the keys or values. All consumers wait for and release
//   every stage, even one of which a consumer takes nothing; otherwise it could mistake a later
//   phase of the barrier for the one that it awaits. Of a separate step, a consumer passes the
//   other's stages while its own products run.
// - empty of a stage: the producer waits until all consumers have released it. K(j) is released
//   after the wait for S, V(j - 1) after the wait for O: wgmma reads shared memory until then.
// - full and empty of the queries of a consumer: one stage each. Queries are released when the last
//   S of the tile has been computed. The producer waits for that only after it has started K0 of
//   the next tile, so that the ring does not run dry.
// - two named barriers of a warpgroup around the writes of its result to shared memory; see
//   Kit/SubtileStore.h.
//
// Forbidden elements do not reach the result. A consumer does not multiply the half of a step that
// it does not take, because a probability of 0 times NaN is NaN. It does multiply a half that has
// some forbidden elements (AttentionScores.h); if an element of the result is then NaN, the warp
// computes its rows again by scalar loops.
//
// A sink changes the sums and the results of a tile once, at its end.
//
// The stages of joined steps (blocks whose sizes are no multiples of 64) are filled by all lanes of
// the first warp of the producer: lane l loads slice l % 8 of subtile l / 8. A warp of a consumer
// masks the scores of slices that its 16 queries do not take; a NaN of their values is repaired
// like that of forbidden elements.
//
// At the end of a split tile, whose keys the two consumers share, consumer 1 leaves its products in
// the buffers of both results, and its largest scores and sums behind them. Consumer 0 combines
// them with its own and stores the result. Both consumers meet at a barrier when no TMA store reads
// the buffers any more, when they are written, and when they are read.
//
// Registers: the sums of 128 * (40 + 2 * 232) and of 128 * (32 + 3 * 160) fit what the launch
// allots; see Wgmma/WgmmaProduct.h. Three consumers need head dimensions of at most 64; the planner
// makes tiles for them on request alone, since two were faster (LabNotes/attention.md).

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONKERNEL_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONKERNEL_H

#include "../../AttentionViews.h"
#include "../KernelBuilder.h"
#include "../Kit/IntTable.h"
#include "../Kit/StageRing.h"
#include "../Kit/SubtileStore.h"
#include "../Kit/TensorMap.h"
#include "../Kit/TileRange.h"
#include "../Kit/WgmmaTile.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Plan/AttentionPlan.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::blocksparse::device {

using ::blocksparse::AttentionForm;
using ::blocksparse::AttentionOperands;
using ::blocksparse::AttentionSlices;
using ::blocksparse::AttentionSliceTable;
using ::blocksparse::AttentionStep;
using ::blocksparse::AttentionStepTable;
using ::blocksparse::AttentionTileTable;

/// Describes the sizes of the kernel and its shared memory.
struct AttentionShape {
  static constexpr int64_t warpgroupThreads = 128;
  /// Queries of a consumer, and keys of a step and of a half.
  static constexpr int64_t rows = 64, keys = 128, halfKeys = 64;

  /// Columns of q and k, and of v, in subtiles of 64; columns beyond the operands are zeros.
  int64_t depthTiles = 1, valueTiles = 1;
  /// k slices of S.
  int64_t depthSteps = 4;
  int64_t stages = 2;
  Type element;
  AttentionForm form;
  /// True if CTA i has tile i and no other one: it need not look its tiles up.
  bool oneTileEach = false;
  /// Queries and keys of a head.
  int64_t queries = 0, cols = 0;

  /// Returns the shape for `op`, with as many stages as fit in `limit` bytes of shared memory.
  static AttentionShape get(PlannedAttentionOp op, int64_t limit);

  /// Returns the number of consumer warpgroups.
  int64_t groups() const { return form.groups; }
  int64_t threads() const { return warpgroupThreads * (1 + groups()); }
  int64_t producerRegisters() const { return groups() == 2 ? 40 : 32; }
  int64_t consumerRegisters() const { return groups() == 2 ? 232 : 160; }

  int64_t valueCols() const { return valueTiles * subtileCols; }
  /// Bytes of a subtile of 128 keys, of the queries of a consumer and of a stage.
  static constexpr int64_t keyTileBytes = keys * subtileCols * 2;
  static constexpr int64_t queryTileBytes = rows * subtileCols * 2;
  int64_t queryBytes() const { return depthTiles * queryTileBytes; }
  int64_t stageBytes() const { return std::max(depthTiles, valueTiles) * keyTileBytes; }
  /// Return byte offsets from the aligned base of shared memory.
  int64_t queryOffset() const { return stages * stageBytes(); }
  int64_t resultOffset() const { return queryOffset() + groups() * queryBytes(); }
  int64_t splitOffset() const {
    return resultOffset() + groups() * valueTiles * SubtileStore::subtileBytes;
  }
  /// Bytes of the largest scores and the sums of 64 rows (f32), which a consumer of a split tile
  /// passes to the other one. Its products fill the buffers of the results of both.
  static constexpr int64_t splitBytes = 2 * rows * 4;
  int64_t barrierOffset() const { return splitOffset() + (form.split ? splitBytes : 0); }
  int64_t sharedBytes() const {
    return barrierOffset() + StageRing::bytes(stages) + groups() * StageRing::bytes(1) + 1024;
  }
  /// Return the boxes of the tensor maps. Keys and values come in whole steps if `form` has no
  /// halves, and in slices if steps are joined.
  TensorBox queryBox() const { return {rows}; }
  TensorBox keyBox() const {
    return {form.joined ? AttentionSlices::keysOfSlice : form.halves ? halfKeys : keys};
  }
};

/// Holds a row of the table of tiles (i32).
struct AttentionWork {
  Value rows[::blocksparse::AttentionTile::mostGroups], first, count, batch, head, split;
};

/// Holds what all warps of a CTA know.
struct AttentionFrame {
  PlannedAttentionOp op;
  AttentionShape shape;
  /// Tensor maps of the operands and of the result.
  Value q, k, v, out;
  IntTable tiles, workers, steps;
  /// The slices of joined steps; absent if steps are not joined.
  std::optional<IntTable> slices;
  /// Memref of the log-sum-exp.
  Value lse;
  /// Views of all operands, if masks, a bias, a sink or a repair read them.
  std::optional<AttentionViews> views;
  /// Base of shared memory and index of the thread in its warpgroup (i32).
  Value base = {}, thread = {};
  StageRing ring{Value(), 0};
  /// The tiles of this CTA.
  TileRange range = {};

  /// Returns the ring of the queries of consumer `group` (i32), which has one stage.
  StageRing queryRing(ImplicitLocOpBuilder &b, Value group) const;
  /// Returns the address (i32) of stage `stage`, and of the queries of consumer `group`.
  Value stageAddress(ImplicitLocOpBuilder &b, Value stage) const;
  Value queryAddress(ImplicitLocOpBuilder &b, Value group) const;
  /// Returns tile `number` of the table.
  AttentionWork getTile(ImplicitLocOpBuilder &b, Value number) const;
  /// Returns the row (i32) of step `step` of `tile` in the tables, or the last one if that is
  /// beyond them: steps are read ahead.
  Value rowOfStep(ImplicitLocOpBuilder &b, const AttentionWork &tile, Value step) const;
  /// Returns the words of that step.
  SmallVector<Value> readStep(ImplicitLocOpBuilder &b, const AttentionWork &tile, Value step) const;
  /// Returns the first key (i32) of slice `slice` of row `row` of the table of slices, in the list
  /// of the first (0) or of the second (1) consumer; all i32.
  Value readSlice(ImplicitLocOpBuilder &b, Value row, Value side, Value slice) const;
};

/// Emits one consumer warpgroup, that of index `group` (i32).
void emitAttentionConsumer(ImplicitLocOpBuilder &b, const AttentionFrame &frame, Value group);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONKERNEL_H
