// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The measured or estimated speeds of a GPU. docs/Targets.md gives the source of each figure.

#ifndef BLOCKSPARSE_TARGET_CHIPRATES_H
#define BLOCKSPARSE_TARGET_CHIPRATES_H

#include <cstdint>

namespace blocksparse {

/// Describes the speed of one worker of a persistent kernel: a CTA that has an SM to itself while
/// the workers on all other SMs run the same kernel.
struct StageRates {
  /// Bytes per second that the worker loads from L2.
  double loadedBytesPerSecond = 0;
  /// Operations per second, of which one multiply-add is two.
  double flopsPerSecond = 0;
  /// Bytes per second of results that the worker stores.
  double storedBytesPerSecond = 0;
  /// Seconds of a tile beside its bytes and operations, and of a launch.
  double tileSeconds = 0, launchSeconds = 0;
  /// Seconds that the CTAs of a cluster wait for each other in each tile, and that a launch in
  /// clusters takes in addition.
  double clusterSeconds = 0, clusterLaunchSeconds = 0;
};

/// Describes the speed of a stream kernel whose warps multiply by mma.sync, each by itself.
struct StreamRates {
  StageRates rates;
  /// Warps that reach `rates.flopsPerSecond`. Fewer warps reach their share of it, because a warp
  /// waits for each of its loads.
  int64_t fullWarps = 1;
  /// Bytes per second that a worker with at most `fullWarps` warps loads: its ring is deeper.
  double deepRingBytesPerSecond = 0;
};

/// Describes the speed of a GPU: first of all its SMs together, then of each of them.
struct ChipRates {
  /// Bytes per second that a copy in global memory reads and writes.
  double memoryBytesPerSecond = 0;
  /// Bytes per second that all SMs together load from L2.
  double l2BytesPerSecond = 0;
  /// Operations per second of a dense product of f16 with f32 accumulators.
  double tensorFlopsPerSecond = 0;
  /// Bytes per second that writing a transposed copy reads and writes, and seconds of its launch.
  double transposeBytesPerSecond = 0, transposeLaunchSeconds = 0;

  /// Rates of a worker of the wgmma kernels, and of the stream kernels that multiply by wgmma.
  StageRates wgmma, streamWgmma;
  /// Rates of a worker of the stream kernels that multiply by mma.sync: for blocks of 16, for
  /// blocks of 16 if each warp has two rows that share what is loaded, and for blocks of 32.
  StreamRates stream16, stream16Pairs, stream32;
  /// Operations per second of a worker of a sampled product by mma.sync, on the stored blocks
  /// alone: for blocks of at least 32 rows and columns, and for smaller ones.
  double sampledMma32 = 0, sampledMma16 = 0;
};

} // namespace blocksparse

#endif // BLOCKSPARSE_TARGET_CHIPRATES_H
