// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_TARGETINFO_H
#define BLOCKSPARSE_TARGET_TARGETINFO_H

#include "blocksparse/Target/ChipRates.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace blocksparse {

enum class TargetKind { CPU, CUDA };

/// Describes the vector unit of one core of a processor.
struct CPUFacts {
  int64_t simdBits = 256;
  int64_t vectorRegisters = 16;
};

/// Describes a tensor-core instruction: the M x N x K of one mma by a warp or a warpgroup.
struct MMAShape {
  int64_t m, n, k;
  bool operator==(const MMAShape &) const = default;
};

/// Describes what a GPU can do. Sizes are in bytes; registers are 32 bits wide.
struct GPUFacts {
  /// Name of the device whose SMs, L2 and rates these are: "h100", "h200", "a100", ...
  std::string_view device;
  /// Compute capability of the chip, as 10 * major + minor.
  int64_t computeCapability = 0;
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
  /// True if PTX of the lowest version has cvt of pairs of f8E4M3FN or f8E5M2 to f16. For sm_89
  /// that instruction needs PTX 8.1.
  bool f8ToF16 = false;
  bool f64MMA = false;
  bool tma = false;   // cp.async.bulk.tensor and mbarrier transactions
  bool wgmma = false; // asynchronous warpgroup mma; exists on sm_90a alone
  /// True if warps may exchange registers by setmaxnreg: chips from sm_90 on with a suffix.
  bool setmaxnreg = false;
  /// True if the chip has griddepcontrol: a kernel may start before the previous one has ended.
  bool dependentLaunch = false;
  /// Shapes of the mma for 16-bit floats: of a warp, and of a warpgroup with the largest n. The
  /// latter is 0 if the chip has no wgmma.
  MMAShape warpMMA{16, 8, 16};
  MMAShape warpgroupMMA{0, 0, 0};
  ChipRates rates;

  /// Returns the PTX version that is made unless another one is asked for: the lowest one that has
  /// the instructions of the kernels. Those of TMA and mbarrier need PTX 8.0.
  int64_t defaultPtx() const { return tma && minimumPtx < 80 ? 80 : minimumPtx; }
  /// Returns the bytes of operands that a plan expects to stay in L2 while they are in use. They
  /// are less than half of it, because lines may be in both partitions of L2; the factor is such
  /// that 24 of the 50 MiB of an H100 count, with which schedules were fitted.
  int64_t plannedCacheBytes() const { return l2Bytes * 12 / 25; }
};

/// Describes a device as the driver describes it.
struct DeviceDescription {
  /// Name, such as "NVIDIA H100 PCIe".
  std::string_view name;
  /// Compute capability, as 10 * major + minor.
  int64_t computeCapability = 0;
  int64_t multiprocessors = 0;
};

struct GPUChip;

/// Holds the facts about one target. Planning passes and lowerings ask nothing else what a chip can
/// do and how fast it is. The text form, which docs/Targets.md describes, is
///   cpu | cpu:<chip> | cuda:<chip>
/// followed by any of `,key=value`, each key once, which replace facts: simd and registers (cpu),
/// device (cuda), workers (both). With simd and registers a cpu chip may have any name.
class TargetInfo {
public:
  /// Returns the target that `text` describes. On failure returns nothing, and `error` says
  /// "expects ..., but got ...".
  static std::optional<TargetInfo> parse(std::string_view text, std::string &error);
  /// Returns the target `base` with the facts that `replacements` ("" or ",key=value...") replace.
  static std::optional<TargetInfo> replace(TargetInfo base, std::string_view replacements,
                                           std::string &error);
  /// Returns a processor with facts that the caller found out. `workers` is 0 if it is not known.
  static TargetInfo cpu(std::string chip, CPUFacts facts, int64_t workers = 0);
  /// Returns the best target that a device runs: its own chip with the suffix "a" if that is known,
  /// else the newest older one that it runs, with the device's number of SMs and the rates of the
  /// device that its name tells. Fails, with `error`, for a compute capability below 8.0.
  static std::optional<TargetInfo> ofDevice(const DeviceDescription &device, std::string &error);
  /// Returns the target of a program for a GPU that is not named: the oldest chip, sm_80.
  static TargetInfo oldestGPU();
  /// Returns the target cuda:sm_90a, for which passes build stages if no target is named.
  static TargetInfo h100();

  TargetKind kind() const { return kind_; }
  bool isCPU() const { return kind_ == TargetKind::CPU; }
  bool isCUDA() const { return kind_ == TargetKind::CUDA; }
  /// Returns "generic", "znver4", "sm_90a", ...
  const std::string &chip() const { return chip_; }
  /// Returns how many segments run at once: threads of a CPU, SMs of a GPU. 0 if it is not known.
  int64_t workers() const { return workers_; }
  const CPUFacts &cpuFacts() const { return cpu_; }
  const GPUFacts &gpuFacts() const { return gpu_; }
  /// Returns a text that parse() turns into an equal target. It states all facts but the device,
  /// which it leaves out if it is the chip's first; keys of tuning databases contain it.
  std::string toString() const;
  /// Returns the shortest such text, for people: it leaves out every fact that the chip implies.
  std::string describe() const;

private:
  static TargetInfo ofChip(const GPUChip &chip);

  TargetKind kind_ = TargetKind::CPU;
  std::string chip_ = "generic";
  int64_t workers_ = 0;
  CPUFacts cpu_;
  GPUFacts gpu_;
};

/// Describes a row of the table of known processors.
struct CPUChip {
  std::string_view name;
  CPUFacts facts;
};
/// Describes a row of the table of known GPU chips; its facts are those with its first device.
struct GPUChip {
  std::string_view name;
  GPUFacts facts;
};
/// Describes a device, whose chips are those of a compute capability.
struct GPUDevice {
  std::string_view name;
  /// Part of the name that the driver gives such a device.
  std::string_view driverName;
  int64_t computeCapability;
  int64_t multiprocessors, l2Bytes;
  ChipRates rates;
};
std::span<const CPUChip> knownCPUChips();
/// Returns the known GPU chips: the one list that the compiler has, by ascending compute
/// capability.
std::span<const GPUChip> knownGPUChips();
/// Returns the known devices; the first one of a compute capability is the default.
std::span<const GPUDevice> knownGPUDevices();

} // namespace blocksparse

#endif // BLOCKSPARSE_TARGET_TARGETINFO_H
