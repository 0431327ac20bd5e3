// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The stage ring: a circular buffer of stages in shared memory between the producer and the
// consumer warps of a CTA (CUTLASS: a TMA pipeline). The kernels of `cuda.wgmma`, `cuda.stream` and
// `cuda.stream_wgmma` use it for their main loops.
//
// Stage s has two mbarriers.
// `full`: its phase ends when all producer threads have arrived and all announced bytes have been
// loaded. One producer thread arrives with expect-tx, which announces the bytes; each TMA load then
// counts down the bytes that it has written. Consumers wait for this barrier before they read the
// stage.
// `empty`: its phase ends when every consumer has arrived, i.e. has released the stage. The
// producer waits for this barrier before it fills the stage again.
//
// The phases of a barrier alternate in parity, and a wait for a parity succeeds when the phase of
// that parity has ended. Consumers start with parity 0: the first fill. The producer starts with
// parity 1, which a new barrier counts as ended: all stages are free. The parity is inverted when
// the stage index wraps around.
//
// If the CTAs of a cluster fill each other's stages by multicast loads, a stage is empty only when
// the consumers of all CTAs have released it: each consumer arrives at the empty barrier of every
// CTA of the cluster.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_STAGERING_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_STAGERING_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// Emits the operations on the mbarriers of a stage ring.
class StageRing {
public:
  /// Holds the pipeline state of a producer or consumer: the index of its stage and the parity that
  /// it waits for, both i32.
  struct Position {
    Value stage, parity;

    /// Number of values that a loop carries for a position.
    static constexpr size_t numCarried = 2;
    SmallVector<Value> toCarried() const { return {stage, parity}; }
    /// Reads the position from the first of `values`.
    static Position fromCarried(ValueRange values) { return {values[0], values[1]}; }
  };

  /// `barriers` (i32) is the address of bytes(stages) bytes of shared memory, aligned to 8. It must
  /// be the same in all `cluster` CTAs of a cluster.
  StageRing(Value barriers, int64_t stages, int64_t cluster = 1)
      : barriers(barriers), stages(stages), cluster(cluster) {}

  /// Returns the size in bytes of the barriers of `stages` stages: 8 bytes for each of two.
  static int64_t bytes(int64_t stages) { return 16 * stages; }

  /// Initialises the barriers, for `producers` producer arrivals at each full barrier and
  /// `releases` arrivals of each CTA at each empty barrier, and fences them for use by other CTAs
  /// and by TMA. One thread calls it; all threads of the CTA (of the cluster, if CTAs release each
  /// other's stages) must then meet at a barrier before the ring is used.
  void emitInit(ImplicitLocOpBuilder &b, int64_t releases, int64_t producers = 1) const;

  /// Returns the pipeline state at the start of a kernel: stage 0, with parity 1 for the producer
  /// and 0 for a consumer.
  Position start(ImplicitLocOpBuilder &b, bool producer) const;
  /// Returns the pipeline state of the stage after `position`. The parity is inverted at the
  /// wrap-around.
  Position next(ImplicitLocOpBuilder &b, const Position &position) const;

  /// Returns the full barrier of a stage (!llvm.ptr<3>), which TMA loads count down.
  Value full(ImplicitLocOpBuilder &b, Value stage) const;
  /// Makes the thread wait until the stage is full: the producers have arrived and all announced
  /// bytes are in shared memory. Reads after the wait see the data; no fence is needed.
  void waitFull(ImplicitLocOpBuilder &b, const Position &position) const;
  /// Makes the thread wait until the stage is empty: all consumers have released its previous
  /// contents.
  void waitEmpty(ImplicitLocOpBuilder &b, const Position &position) const;
  /// Arrives at the stage's full barrier and announces `bytes` (i32) that the TMA loads of all
  /// producers will bring (mbarrier.arrive.expect_tx). One producer thread calls it for each fill.
  void expectTx(ImplicitLocOpBuilder &b, Value stage, Value bytes) const;
  /// Arrives at the stage's full barrier for `arrivals` producer threads other than the one that
  /// calls expectTx. Every producer must arrive, even one that has no loads: otherwise it could
  /// fall behind by one round of the ring and mistake a later phase of the same parity for the
  /// phase that it awaits.
  void arriveFull(ImplicitLocOpBuilder &b, Value stage, int64_t arrivals = 1) const;
  /// Releases a stage: the calling thread arrives at its empty barrier with a count of `arrivals`,
  /// out of the `releases` given to emitInit. The thread must have finished reading the stage.
  void release(ImplicitLocOpBuilder &b, Value stage, int64_t arrivals = 1) const;
  /// Releases a stage by one lane of each warp, that whose `isFirstLane` (i1) is true, when all
  /// lanes are done with it. All lanes call it.
  void releaseByWarp(ImplicitLocOpBuilder &b, Value stage, Value isFirstLane) const;
  /// Releases the stage if `stage` is not -1; only threads whose `releases` (i1) is true arrive.
  void releaseIf(ImplicitLocOpBuilder &b, Value stage, Value releases, int64_t arrivals = 1) const;

private:
  Value empty(ImplicitLocOpBuilder &b, Value stage) const;

  Value barriers;
  int64_t stages, cluster;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_STAGERING_H
