// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_KERNELTIMES_H
#define BLOCKSPARSE_TARGET_KERNELTIMES_H

namespace blocksparse {

/// Describes the speed of one SM that runs `cuda.mma`, whose CTAs share it.
struct MmaTimes {
  /// Seconds of a k step beside its bytes and operations, and of a launch with the first loads.
  double stepSeconds, launchSeconds;
  /// Rates of what the SM loads, multiplies and stores (results of 16 bits), as multiples of those
  /// of a worker of the wgmma kernels in ChipRates. These times add up: the warps of a CTA wait for
  /// each other in each k step.
  double loads, flops, stores;
  /// Seconds of a k step of a CTA that has the SM to itself.
  double stepLatency;
  /// Warps that an SM needs to reach these rates.
  double fullWarps;
  /// Seconds for each result whose epilogue has a matrix operand, which is not staged.
  double epilogueOperand;
};

/// Holds what kernels take beside the bytes and operations of ChipRates. Those of kernels with
/// stages hold while the dense operand fits in the L2 cache; the rates of ChipRates are those of
/// larger ones, whose kernels wait for memory and run at a lower clock.
struct KernelTimes {
  /// Rates of loads and multiply-adds, and of stores, as multiples of those of ChipRates.
  double loads, stores;
  /// Seconds of a tile beside its bytes and operations, and of a launch.
  double tileSeconds, launchSeconds;
  /// Seconds of each stage that a tile fills: its barriers and its record, by kernel.
  double wgmmaStage, streamWgmmaStage, stream32Stage, stream16Stage;
  /// Seconds of a kernel in front of the product, such as that which packs values.
  double extraLaunch;
  /// Seconds for each result whose epilogue has a staged matrix operand.
  double epilogueOperand;
  MmaTimes mma;
};

/// Returns the times of an H100, whose SMs an H200 has as well. No other device was measured.
const KernelTimes &getKernelTimes();

} // namespace blocksparse

#endif // BLOCKSPARSE_TARGET_KERNELTIMES_H
