// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_TARGETINFO_H
#define BLOCKSPARSE_TARGET_TARGETINFO_H

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace blocksparse {

enum class TargetKind { CPU, CUDA };

/// Vector unit of a processor; what one core has.
struct CPUFacts {
  int64_t simdBits = 256;
  int64_t vectorRegisters = 16;
};

/// A tensor-core instruction: M x N x K of one mma, by a warp (or a warpgroup).
struct MMAShape {
  int64_t m, n, k;
  bool operator==(const MMAShape &) const = default;
};

/// What a GPU can do. Sizes are in bytes; registers are 32 bits wide.
struct GPUFacts {
  int64_t multiprocessors = 0;
  int64_t sharedMemoryPerBlock = 0; // with opt-in
  int64_t sharedMemoryPerMultiprocessor = 0;
  int64_t registersPerMultiprocessor = 0;
  int64_t maxThreadsPerMultiprocessor = 0;
  int64_t l2Bytes = 0;
  /// Lowest PTX version that knows the chip, as 10 * major + minor.
  int64_t minimumPtx = 0;
  bool cpAsync = false; // cp.async and ldmatrix, mma.sync m16n8k16 for f16 and bf16
  bool bf16 = false;
  /// cvt of pairs of f8E4M3FN or f8E5M2 to f16 in the PTX that is emitted, 8.0; sm_89 wants 8.1.
  bool f8ToF16 = false;
  bool f64MMA = false;
  bool tma = false;   // cp.async.bulk.tensor and mbarrier transactions
  bool wgmma = false; // asynchronous warpgroup mma; needs the "a" chip
  /// griddepcontrol: a kernel may start before the one before it has ended.
  bool dependentLaunch = false;
  /// The mma for 16-bit floats: of a warp, and of a warpgroup (n: the largest) or 0.
  MMAShape warpMMA{16, 8, 16};
  MMAShape warpgroupMMA{0, 0, 0};
};

/// Facts about one target: the only place that planning passes and lowerings ask what a chip
/// can do. The text form is
///   cpu | cpu:<chip> | cuda:<chip>, then optionally `,key=value` that replaces a fact:
///   simd, registers (cpu), workers (both). With `simd` and `registers` given, a cpu chip
///   may have any name; else it must be in the table.
class TargetInfo {
public:
  /// On failure nothing, and `error` says "expects ..., but got ...".
  static std::optional<TargetInfo> parse(std::string_view text, std::string &error);
  /// A processor whose facts the caller found out; 0 workers: not known.
  static TargetInfo cpu(std::string chip, CPUFacts facts, int64_t workers = 0);

  TargetKind kind() const { return kind_; }
  bool isCPU() const { return kind_ == TargetKind::CPU; }
  bool isCUDA() const { return kind_ == TargetKind::CUDA; }
  /// "generic", "znver4", "sm_90a", ...
  const std::string &chip() const { return chip_; }
  /// How many segments run at once: threads of a CPU, multiprocessors of a GPU. 0: not known.
  int64_t workers() const { return workers_; }
  const CPUFacts &cpuFacts() const { return cpu_; }
  const GPUFacts &gpuFacts() const { return gpu_; }
  /// A text that parse() turns into an equal target.
  std::string toString() const;

private:
  TargetKind kind_ = TargetKind::CPU;
  std::string chip_;
  int64_t workers_ = 0;
  CPUFacts cpu_;
  GPUFacts gpu_;
};

/// A row of the table of known chips.
struct CPUChip {
  std::string_view name;
  CPUFacts facts;
};
struct GPUChip {
  std::string_view name;
  GPUFacts facts;
};
std::span<const CPUChip> knownCPUChips();
std::span<const GPUChip> knownGPUChips();

} // namespace blocksparse

#endif // BLOCKSPARSE_TARGET_TARGETINFO_H
