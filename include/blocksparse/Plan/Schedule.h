// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A schedule says how one operation is executed: by which kernel family, and with which parameters.
// Every family has its own parameters. A parameter whose value is 0 (a tile of 0x0) is left to the
// kernel, which then takes its usual size, fitted to the operation; the text form omits it.

#ifndef BLOCKSPARSE_PLAN_SCHEDULE_H
#define BLOCKSPARSE_PLAN_SCHEDULE_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace blocksparse {

/// Lists the kernel families; see blocksparse/Plan/KernelFamilies.h for what each one computes.
enum class KernelFamily : uint8_t {
  CPUPanel,
  CPURows,
  CPUBlocks,
  CUDAWgmma,
  CUDAWgmmaTransposed,
  CUDAStream,
  CUDAStreamWgmma,
  CUDASkinny,
  CUDAMma,
  CUDAFma,
  CUDASimt,
  CUDARows,
  CUDAAttention,
  CUDABlocks
};

inline constexpr KernelFamily allKernelFamilies[] = {KernelFamily::CPUPanel,
                                                     KernelFamily::CPURows,
                                                     KernelFamily::CPUBlocks,
                                                     KernelFamily::CUDAWgmma,
                                                     KernelFamily::CUDAWgmmaTransposed,
                                                     KernelFamily::CUDAStream,
                                                     KernelFamily::CUDAStreamWgmma,
                                                     KernelFamily::CUDASkinny,
                                                     KernelFamily::CUDAMma,
                                                     KernelFamily::CUDAFma,
                                                     KernelFamily::CUDASimt,
                                                     KernelFamily::CUDARows,
                                                     KernelFamily::CUDAAttention,
                                                     KernelFamily::CUDABlocks};

/// Returns the name of a family, as schedules spell it: "cuda.wgmma".
std::string_view getName(KernelFamily family);
/// Returns the family of a name, or nothing for any other text.
std::optional<KernelFamily> parseKernelFamily(std::string_view name);

/// Returns true if kernels of `family` multiply on tensor cores.
bool usesTensorCores(KernelFamily family);

/// Holds the rows and columns of a tile of the result, in elements; 0 x 0 leaves them to the
/// kernel.
struct TileSize {
  int64_t rows = 0, cols = 0;
  bool isGiven() const { return rows != 0 || cols != 0; }
  bool operator==(const TileSize &) const = default;
};

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// Holds the parameters of "cpu.panel".
struct PanelParams {
  /// Register tile: accumulators of `rows` rows by `cols` columns. The rows of a block are divided
  /// evenly among tiles of at most so many rows, and a narrower result takes narrower tiles.
  TileSize tile;
  /// Largest number of blocks in one segment; 0 never splits a row.
  int64_t split = 0;
  bool operator==(const PanelParams &) const = default;
};

/// Holds the parameters of "cpu.rows" and "cpu.blocks".
struct VectorParams {
  /// Largest number of elements in a vector, a power of two; 0 fills a vector register.
  int64_t lanes = 0;
  bool operator==(const VectorParams &) const = default;
};

/// Holds the parameters of "cuda.wgmma" and "cuda.wgmma_transposed".
struct WgmmaParams {
  /// Usual depth of the ring, if shared memory has room for it.
  static constexpr int64_t usualStages = 4;

  /// Tile of one CTA.
  TileSize tile;
  /// Stages of the ring of TMA loads, each of 64 values of k.
  int64_t stages = 0;
  /// True if a tile of a sampled product has any block rows instead of neighbouring ones.
  bool gather = false;
  /// CTAs of a cluster: 1, or 2 that share the rows of A by multicast. A reduction over block rows
  /// then has column tiles of twice the columns of a CTA.
  int64_t cluster = 1;
  bool operator==(const WgmmaParams &) const = default;
};

/// Holds the parameters of "cuda.stream" and "cuda.stream_wgmma".
struct StreamParams {
  /// Tile of one CTA: whole (planned) block rows, and 64 or 128 columns.
  TileSize tile;
  /// Panels (block rows of the dense operand) that one stage holds, 1 to 16.
  int64_t panels = 0;
  /// Neighbouring panels that one TMA load brings: 1, or 4 of a K-major operand with blocks of 16.
  int64_t panelsPerCopy = 1;
  /// Stages of the ring.
  int64_t stages = 0;
  /// Consumer warps.
  int64_t warps = 0;
  /// Side of the planned blocks, 16 or 32; 0 if these are the stored blocks, which are then square
  /// blocks of 16 or 32. See blocksparse/Plan/Reblock.h.
  int64_t block = 0;

  /// Returns the side of the planned blocks for stored blocks of `rows` rows of op(S).
  int64_t blockFor(int64_t rows) const { return block == 0 ? rows : block; }
  bool operator==(const StreamParams &) const = default;
};

/// Holds the parameters of "cuda.skinny".
struct SkinnyParams {
  static constexpr int64_t maxTileRows = 128, maxTileCols = 64, maxWarps = 16, maxUnroll = 8;

  /// Tile of one CTA: powers of two, 16 to 128 rows of one block row, and 8 to 64 columns, which
  /// cover all columns of the result.
  TileSize tile;
  /// Warps that share the reduction of a tile, a power of two.
  int64_t warps = 0;
  /// Steps of the reduction that a warp loads before it multiplies.
  int64_t unroll = 0;
  bool operator==(const SkinnyParams &) const = default;
};

/// Holds the parameters of "cuda.mma" and "cuda.fma".
struct MmaParams {
  static constexpr int64_t minTile = 16, maxTileRows = 128, maxTileCols = 256;
  static constexpr int64_t usualTile = 128, usualStages = 4;
  /// Accumulators of f64 take twice the shared memory.
  static constexpr int64_t maxF64Rows = 64, maxF64Cols = 128;

  /// Tile of one CTA: powers of two, 16 to 128 rows and 16 to 256 columns.
  TileSize tile;
  /// Stages of the pipeline of cp.async copies, 2 to 4.
  int64_t stages = 0;
  /// Largest number of blocks in one segment; 0 never splits a row.
  int64_t split = 0;
  bool operator==(const MmaParams &) const = default;
};

/// Holds the parameters of "cuda.simt".
struct SimtParams {
  /// Largest number of blocks in one segment; 0 never splits a row.
  int64_t split = 0;
  bool operator==(const SimtParams &) const = default;
};

/// Holds the parameters of "cuda.rows".
struct RowParams {
  /// Largest number of elements of a row that one lane keeps in registers; a multiple of the
  /// elements of 16 bytes, at most 64. Masks and biases take some of those registers.
  int64_t elementsPerLane = 0;
  bool operator==(const RowParams &) const = default;
};

/// Holds the parameters of "cuda.attention".
struct AttentionParams {
  /// Kernels that compute the gradients of q, k and v: 1, whose tiles of keys add to the gradient
  /// of q in an order that is planned, or 2, one of which computes the gradient of q; 0 leaves the
  /// choice to the compiler.
  int64_t kernels = 0;
  bool operator==(const AttentionParams &) const = default;
};

/// Holds the parameters of a family that has none: "cuda.blocks".
struct NoParams {
  bool operator==(const NoParams &) const = default;
};

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

/// Holds a kernel family and its parameters.
class Schedule {
public:
  using Params = std::variant<NoParams, PanelParams, VectorParams, WgmmaParams, StreamParams,
                              SkinnyParams, MmaParams, SimtParams, RowParams, AttentionParams>;

  /// Makes a schedule whose parameters are left to the kernel. Those of the stream families have no
  /// usual values, so checkParams() refuses them until they are set.
  explicit Schedule(KernelFamily family);
  Schedule(KernelFamily family, PanelParams params) : family_(family), params(params) {}
  Schedule(KernelFamily family, VectorParams params) : family_(family), params(params) {}
  Schedule(KernelFamily family, WgmmaParams params) : family_(family), params(params) {}
  Schedule(KernelFamily family, StreamParams params) : family_(family), params(params) {}
  Schedule(KernelFamily family, SkinnyParams params) : family_(family), params(params) {}
  Schedule(KernelFamily family, MmaParams params) : family_(family), params(params) {}
  Schedule(KernelFamily family, SimtParams params) : family_(family), params(params) {}
  Schedule(KernelFamily family, RowParams params) : family_(family), params(params) {}
  Schedule(KernelFamily family, AttentionParams params) : family_(family), params(params) {}

  KernelFamily family() const { return family_; }
  std::string_view familyName() const { return getName(family_); }

  /// Returns the parameters if they are those of the type `T`, else null.
  template <typename T>
  const T *getIf() const {
    return std::get_if<T>(&params);
  }
  template <typename T>
  T *getIf() {
    return std::get_if<T>(&params);
  }

  /// Returns the largest number of blocks in one segment; 0 if rows are not split, as by families
  /// that cannot split them.
  int64_t split() const;

  bool operator==(const Schedule &) const = default;

private:
  KernelFamily family_;
  Params params;
};

/// Returns the sizes that a "cuda.mma" kernel takes at most if it computes an operation with
/// `schedule`. A kernel of the wgmma and stream families that cannot run because operands are not
/// aligned is replaced by one of "cuda.mma" with tiles of about its size. Sizes that the schedule
/// leaves to the kernel are the usual ones.
MmaParams getMmaLimits(const Schedule &schedule);

/// Returns the CTAs of a cluster of `schedule`.
int64_t getClusterSize(const Schedule &schedule);

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Describes one parameter of a schedule: the pointer of its kind is set.
struct ScheduleField {
  /// Name in the text form: "elements_per_lane".
  std::string_view name;
  TileSize *tile = nullptr;
  int64_t *count = nullptr;
  bool *flag = nullptr;
  /// Value of `count` that the text omits.
  int64_t usual = 0;
};

/// Calls `visit` for each parameter of `schedule`, in the order of the text. Readers and writers of
/// schedules in any form use this list and no other.
void forEachField(Schedule &schedule, const std::function<void(const ScheduleField &)> &visit);

/// Returns "cuda.wgmma, tile = 128x256, stages = 4, gather = true, cluster = 2": the family and the
/// parameters that are not left to the kernel, as between the brackets of
/// #blocksparse.schedule<...>.
std::string printSchedule(const Schedule &schedule);

/// Returns a short form for tables of measurements: "cuda.wgmma 128x256 stages=4 gather cluster=2".
std::string describeSchedule(const Schedule &schedule);

/// Returns the current name of a family, or an empty text if `name` is not a former one.
std::string_view findRenamedFamily(std::string_view name);

/// Returns an empty string if every parameter of `schedule` is one that some operation may have,
/// else the first fault as "expects X, but got Y".
std::string checkParams(const Schedule &schedule);

} // namespace blocksparse

#endif // BLOCKSPARSE_PLAN_SCHEDULE_H
