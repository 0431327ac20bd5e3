// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernel of "cuda.attention" (sm_90a) that computes all gradients of attention at once. With
// keys as rows and queries as columns, a step of 64 queries of a tile of 128 keys computes
//   S = K Q^T, dP = V dO^T, P = 2^(S * scale * log2(e) + shift), dS = P * (dP - sum),
//   dV += P dO, dK += dS Q, dQ = dS^T K
// Two kernels, one for each side (see AttentionGradKernel.h), compute S and dP twice; this one does
// so once, but the tiles of many CTAs add to dQ. These sums are made in f32 in global memory, in
// the order that the lists name (blocksparse/Plan/AttentionOrderPlan.h), so that results are
// bitwise equal from run to run. A counter of each 64 queries tells how many steps have added.
// Another kernel rounds the sums to dq.
//
// A CTA is persistent. Of the first warpgroup, warp 0 loads Q, dO, shifts and sums of the steps,
// warp 1 loads K and V of the tiles, and warps 2 and 3 add dQ of even and of odd steps. Two
// consumer warpgroups compute; each has 64 keys of a tile, whose dK and dV stay in its registers,
// and half of the columns of dQ.
//
// A consumer runs, for each step:
//   start S; start dP; wait for S; P; start dV += P dO; wait for dP; dS; write dS to shared memory;
//   start dQ of the step before; start dK += dS Q; wait for dV and dQ; write dQ for its writer;
//   wait for dK; release Q and dO
// dQ needs dS of both consumers, so it is one step late: the consumers may be almost a step apart.
// Steps come in pairs: S and dP of the second are started before the wait for dK of the first. No
// product is in flight when the next pair begins: ptxas would serialise them all.
//
// Everything that alternates has two buffers, and step n of a CTA uses buffer n % 2. Barriers, and
// why each is there:
// - ring: full when Q, dO, shifts and sums of a step are loaded; empty when both consumers have
//   completed the products that read them.
// - resident ring: the same for K and V of a tile.
// - gradient ring: full when both consumers have written dS; empty when both have completed dQ.
// - partial ring, one stage for each buffer and consumer: full when the consumer has written its
//   part of dQ; empty when the writer's copy has read it.
//
// The results dK and dV of a tile are stored from the buffers of dS, of which each consumer uses
// its own rows.
//
// All CTAs must run at the same time: one that waits for the rank of its step keeps its SM.
// Launches have at most as many CTAs as the target has SMs, and ask the driver for all of them at
// once.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONORDERKERNEL_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONORDERKERNEL_H

#include "../KernelBuilder.h"
#include "../Kit/IntTable.h"
#include "../Kit/StageRing.h"
#include "../Kit/SubtileStore.h"
#include "../Kit/TensorMap.h"
#include "../Kit/TileRange.h"
#include "../Kit/WgmmaTile.h"
#include "AttentionScores.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Plan/AttentionOrderPlan.h"

namespace mlir::blocksparse::device {

/// Describes the sizes of the kernel and its shared memory.
struct AttentionOrderShape {
  static constexpr int64_t warpgroupThreads = 128, warpsOfWarpgroup = 4;
  static constexpr int64_t groups = ::blocksparse::AttentionOrderTile::groups;
  static constexpr int64_t threads = warpgroupThreads * (1 + groups);
  static constexpr int64_t producerRegisters = 24, consumerRegisters = 240;
  /// Queries of a step, keys of a consumer, and columns of all matrices.
  static constexpr int64_t rows = 64, keys = 64, cols = 128;
  static constexpr int64_t subtiles = cols / subtileCols;
  static constexpr int64_t buffers = 2;
  /// Bytes of a subtile of 64 rows, of K or V of a tile, and of Q or dO of a step.
  static constexpr int64_t tileBytes = rows * subtileCols * 2;
  static constexpr int64_t residentBytes = groups * subtiles * tileBytes;
  static constexpr int64_t walkedBytes = subtiles * tileBytes;
  /// Bytes of the shifts, or the sums, of a step, and of a consumer's part of dQ.
  static constexpr int64_t vectorBytes = rows * 4;
  static constexpr int64_t partialBytes = rows * cols / groups * 4;

  /// Byte offsets from the aligned base of shared memory. Subtiles come first, as their swizzle
  /// wants multiples of 1024 bytes.
  static constexpr int64_t walkedOffset = 2 * residentBytes;
  static constexpr int64_t gradientOffset = walkedOffset + buffers * 2 * walkedBytes;
  static constexpr int64_t partialOffset = gradientOffset + groups * buffers * tileBytes;
  static constexpr int64_t vectorOffset = partialOffset + buffers * groups * partialBytes;
  static constexpr int64_t barrierOffset = vectorOffset + buffers * 2 * vectorBytes;
  /// Stages of the ring, the resident ring, the gradient ring and the partial ring.
  static constexpr int64_t stages[] = {buffers, 2, buffers, buffers *groups};

  static int64_t sharedBytes() {
    int64_t bytes = barrierOffset + 1024;
    for (const int64_t count : stages)
      bytes += StageRing::bytes(count);
    return bytes;
  }

  /// k slices of S, and of dP.
  int64_t depthSteps[2] = {8, 8};
  Type element;
  /// Queries of a head.
  int64_t queries = 0;
  /// True if some step holds forbidden elements.
  bool masked = false;
};

/// Holds a row of the table of tiles, and its number (i32).
struct AttentionOrderWork {
  Value number;
  Value keys[AttentionOrderShape::groups];
  Value first, count, batch, head;
};

/// Holds what all warps of a CTA know.
struct AttentionOrderFrame {
  /// Describes the matrices of an operand [.., R, C]: the memref of the host, and its tensor map.
  struct Matrices {
    Value memref, map;
  };

  PlannedAttentionGradOp op;
  AttentionOrderShape shape;
  /// K and V, Q and dO, dK and dV.
  Matrices resident[2], walked[2], results[2];
  IntTable tiles, workers, steps;
  /// Memrefs of the shifts and sums of the rows, of the sums of dQ, and of their counters.
  Value rows, partials, counters;
  /// The masks and biases, transposed, if a step is masked.
  std::optional<AttentionMasks> masks;
  /// Base of shared memory and index of the thread in its warpgroup (i32).
  Value base = {}, thread = {};

  StageRing ring(ImplicitLocOpBuilder &b) const { return ringAt(b, 0); }
  StageRing residentRing(ImplicitLocOpBuilder &b) const { return ringAt(b, 1); }
  StageRing gradientRing(ImplicitLocOpBuilder &b) const { return ringAt(b, 2); }
  StageRing partialRing(ImplicitLocOpBuilder &b) const { return ringAt(b, 3); }

  /// Return addresses (i32) in shared memory: of K or V; of Q or dO, and of the shifts or sums, in
  /// a buffer; of dS of a consumer in a buffer; and of a stage of the partial ring.
  Value residentAddress(ImplicitLocOpBuilder &b, int which) const;
  Value walkedAddress(ImplicitLocOpBuilder &b, int which, Value buffer) const;
  Value vectorAddress(ImplicitLocOpBuilder &b, int which, Value buffer) const;
  Value gradientAddress(ImplicitLocOpBuilder &b, Value group, Value buffer) const;
  Value partialAddress(ImplicitLocOpBuilder &b, Value stage) const;

  /// Returns the tiles of this CTA, and tile `number`.
  TileRange range(ImplicitLocOpBuilder &b) const;
  AttentionOrderWork getTile(ImplicitLocOpBuilder &b, Value number) const;
  /// Returns the words of step `step` of `tile`, or of the last step of the table if that is beyond
  /// it: steps are read ahead.
  SmallVector<Value> readStep(ImplicitLocOpBuilder &b, const AttentionOrderWork &tile,
                              Value step) const;

private:
  StageRing ringAt(ImplicitLocOpBuilder &b, int number) const;
};

/// Returns the position of step `number` (i32) of a CTA in a ring of two stages, for those who wait
/// until it is full.
StageRing::Position positionOf(ImplicitLocOpBuilder &b, Value number);
/// Returns the position for those who wait until it is empty.
StageRing::Position emptyPosition(ImplicitLocOpBuilder &b, const StageRing::Position &position);
/// Returns the position of a consumer in the partial ring from that of the step.
StageRing::Position partialPosition(ImplicitLocOpBuilder &b, const StageRing::Position &position,
                                    Value group);

/// Emit the loads of the steps, those of the tiles, and the sums of dQ for the steps whose number
/// is even (`parity` 0, i32) or odd: each by one thread.
void emitStepLoads(ImplicitLocOpBuilder &b, const AttentionOrderFrame &frame);
void emitTileLoads(ImplicitLocOpBuilder &b, const AttentionOrderFrame &frame);
void emitOrderedSums(ImplicitLocOpBuilder &b, const AttentionOrderFrame &frame, Value parity);

/// Emits one consumer warpgroup, that of index `group` (i32).
void emitAttentionOrderConsumer(ImplicitLocOpBuilder &b, const AttentionOrderFrame &frame,
                                Value group);

/// Returns true if the kernel computes an operation whose lists are those of one kernel, on a chip
/// with `facts`.
bool supportsAttentionOrder(const ::blocksparse::GPUFacts &facts, PlannedAttentionGradOp op);

/// Emits the kernels of such an operation. Requires that supportsAttentionOrder is true.
void emitAttentionOrder(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                        PlannedAttentionGradOp op);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_ATTENTION_ATTENTIONORDERKERNEL_H
