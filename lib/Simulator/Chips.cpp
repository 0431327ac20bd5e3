// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Chips.h"

using namespace blocksparse::sim;

// Measured on an H100 and an H200 (docs/Targets.md, "Devices and their rates"): memory by a device
// copy, L2 and the loads of an SM by counted TMA loads, the tensor cores by cuBLAS at 4096, the
// launch by a fit of dsd. An m16n8k16 of `mma.sync` keeps the tensor core busy for 6 cycles, in
// which `wgmma` performs 1.5 times as many operations (`sm__pipe_tensor_cycles_active`). Of the
// clock of 1.83 GHz: shared memory has 32 banks of 4 bytes and the four schedulers of an SM begin
// an instruction each (CUDA programming guide, "Compute Capability 8.x" and "9.0").
constexpr Rates blocksparse::sim::h200Rates = {
    132, 4.25e12, 7.75e12, 62e9, 128 * 1.83e9, 1.83e9, 4 * 1.83e9, 756e12 / 132, 4e-6, 1.5, 262144};

namespace {

constexpr int KiB = 1024, MiB = 1024 * KiB;
constexpr uint64_t GiB = uint64_t(1) << 30;

/// Estimates the speeds of a device from its data sheet: bytes of memory and f16 operations of the
/// tensor cores per second, clock, and bytes of L1 and shared memory of an SM together. It reaches
/// the share that an H100 reaches of its own: 3030 of 3350 GB/s and 750 of 989 TFLOP/s. The loads
/// of an SM and the bytes of L2 are those of an H100 times the ratio of the clocks, and of the SMs.
constexpr Rates estimate(unsigned multiprocessors, double memory, double tensor, double hertz,
                         uint64_t localBytes) {
  double clocks = hertz / 1.83e9;
  return {multiprocessors,
          memory * 3030 / 3350,
          7.75e12 * clocks * multiprocessors / 132,
          62e9 * clocks,
          128 * hertz,
          hertz,
          4 * hertz,
          tensor * 750 / 989 / multiprocessors,
          4e-6,
          1,
          localBytes};
}

// Compute capabilities, sizes and limits are those of the CUDA programming guide, "Technical
// Specifications per Compute Capability"; SMs, clocks and memory those of data sheets. The peaks of
// Blackwell are what mma.sync, which is as wide as on an H100, reaches of them.
constexpr Chip chips[] = {
    {"sm_80", "Simulated A100", 80, 108, 164 * KiB, 2048, 32, 40 * MiB, 80 * GiB,
     estimate(108, 2.039e12, 312e12, 1.41e9, 192 * KiB)},
    {"sm_86", "Simulated A40", 86, 84, 100 * KiB, 1536, 16, 6 * MiB, 48 * GiB,
     estimate(84, 0.696e12, 150e12, 1.74e9, 128 * KiB)},
    {"sm_87", "Simulated Orin", 87, 16, 164 * KiB, 1536, 16, 4 * MiB, 32 * GiB,
     estimate(16, 0.205e12, 43e12, 1.3e9, 192 * KiB)},
    {"sm_89", "Simulated RTX 4090", 89, 128, 100 * KiB, 1536, 24, 72 * MiB, 24 * GiB,
     estimate(128, 1.008e12, 165e12, 2.52e9, 128 * KiB)},
    {"sm_90a", "Simulated H200", 90, 132, 228 * KiB, 2048, 32, 50 * MiB, 141 * GiB, h200Rates},
    {"sm_100a", "Simulated B200", 100, 148, 228 * KiB, 2048, 32, 126 * MiB, 180 * GiB,
     estimate(148, 8.0e12, 1125e12, 1.86e9, 256 * KiB)},
    {"sm_103a", "Simulated B300", 103, 148, 228 * KiB, 2048, 32, 126 * MiB, 270 * GiB,
     estimate(148, 8.0e12, 1125e12, 1.86e9, 256 * KiB)},
    {"sm_110a", "Simulated Thor", 110, 20, 228 * KiB, 1536, 24, 32 * MiB, 128 * GiB,
     estimate(20, 0.273e12, 129e12, 1.57e9, 256 * KiB)},
    {"sm_120a", "Simulated RTX 5090", 120, 170, 100 * KiB, 1536, 24, 96 * MiB, 32 * GiB,
     estimate(170, 1.792e12, 210e12, 2.41e9, 128 * KiB)},
    {"sm_121a", "Simulated GB10", 121, 48, 100 * KiB, 1536, 24, 24 * MiB, 128 * GiB,
     estimate(48, 0.273e12, 62e12, 2.42e9, 128 * KiB)},
};

} // namespace

std::span<const Chip> blocksparse::sim::knownChips() { return chips; }

const Chip *blocksparse::sim::findChip(const CodeTarget &target) {
  for (const Chip &chip : chips)
    if (target.runsOn(chip.capability))
      return &chip;
  return nullptr;
}
