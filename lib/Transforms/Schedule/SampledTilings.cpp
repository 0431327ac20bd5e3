// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SampledTilings.h"
#include "blocksparse/Plan/RunTimeTiles.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::BlockLayout;
using ::blocksparse::BlockShape;
using ::blocksparse::GPUFacts;
using ::blocksparse::KernelFamily;
using ::blocksparse::SampledFactors;
using ::blocksparse::SampledForm;
using ::blocksparse::Schedule;
using ::blocksparse::TargetInfo;
using ::blocksparse::WgmmaParams;

/// Returns the schedule of tiles of a form. The depth of the ring is left to the kernel.
static Schedule makeSchedule(KernelFamily family, BlockShape block, const SampledForm &form) {
  WgmmaParams params;
  params.tile = ::blocksparse::getSampledTile(block, form);
  params.gather = form.gathersRows;
  params.cluster = form.cluster;
  return Schedule(family, params);
}

SmallVector<SampledTiling, 4> mlir::blocksparse::getSampledTilings(const ProductShape &shape,
                                                                   const TargetInfo &target) {
  SmallVector<SampledTiling, 4> tilings;
  const BlockShape block = shape.problem.block;
  const SampledFactors operands{shape.problem.transposeA, shape.problem.transposeB};
  for (KernelFamily family : {KernelFamily::CUDAWgmma, KernelFamily::CUDAWgmmaTransposed}) {
    if (!::blocksparse::supports(family, shape.problem, target))
      continue;
    SampledFactors factors = *SampledFactors::get(family, block, operands);
    const ::blocksparse::ChipRates &rates = target.gpuFacts().rates;
    double seconds = 0;
    if (factors.transposeA != operands.transposeA)
      seconds += ::blocksparse::estimateTransposeTime(rates, shape.bytesA);
    if (factors.transposeB != operands.transposeB)
      seconds += ::blocksparse::estimateTransposeTime(rates, shape.bytesB);
    auto add = [&](bool gathersRows, int64_t cluster) {
      SampledForm form = SampledForm::get(block, factors, gathersRows, cluster);
      tilings.push_back({makeSchedule(family, block, form), form, seconds});
    };
    add(/*gathersRows=*/false, /*cluster=*/1);
    if (::blocksparse::canGatherRows(block))
      add(/*gathersRows=*/true, /*cluster=*/1);
    if (::blocksparse::canShareRows(block))
      add(/*gathersRows=*/false, ::blocksparse::wgmmaClusterSize);
  }
  return tilings;
}

/// Returns the schedule of the tiling of `tilings` that takes least time; see selectSampledTiling.
static std::optional<Schedule> selectTiling(const ProductShape &shape,
                                            ArrayRef<SampledTiling> tilings,
                                            const BlockLayout *layout, const TargetInfo &target) {
  const GPUFacts &gpu = target.gpuFacts();
  const BlockShape block = shape.problem.block;
  const bool small = ::blocksparse::sharesSubtiles(block);
  if (tilings.empty())
    return std::nullopt;
  if (!layout || layout->nnz() == 0)
    return small ? std::nullopt : std::optional(tilings.front().schedule);
  int64_t heads = std::max<int64_t>(1, layout->grid().heads), copies = shape.leading / heads;
  ::blocksparse::CoordinateLut lut =
      ::blocksparse::buildCoordinateLut(*layout, ::blocksparse::CoordinateOrder::Columns);
  ::blocksparse::WorkOptions options;
  options.workers = gpu.multiprocessors;
  options.cacheBytes = gpu.plannedCacheBytes();
  std::optional<Schedule> best;
  double seconds = std::numeric_limits<double>::infinity();
  if (small) {
    const double mmaRate =
        (std::min(block.rows, block.cols) >= 32 ? gpu.rates.sampledMma32 : gpu.rates.sampledMma16) *
        static_cast<double>(gpu.multiprocessors);
    seconds =
        2.0 * layout->nnz() * copies * block.rows * block.cols * shape.problem.depth / mmaRate;
  }
  for (const SampledTiling &tiling : tilings) {
    ::blocksparse::SampledProduct blocks{lut.lut, heads, block, tiling.form};
    std::string error;
    std::optional<::blocksparse::SampledWorkLists> lists = ::blocksparse::buildSampledTiles(
        blocks, {1, copies, heads, heads}, shape.problem.depth, options, error);
    // Coordinates of such tiles exceed their fields; another form or the blocks alone fit.
    if (!lists)
      continue;
    double estimate =
        ::blocksparse::estimateSampledTime(*lists, blocks, shape.problem.depth, gpu.rates.wgmma);
    if (tiling.transposeSeconds > 0 || tiling.form.cluster > 1)
      estimate = (estimate + tiling.transposeSeconds) * 1.03;
    if (estimate < seconds) {
      seconds = estimate;
      best = tiling.schedule;
    }
  }
  return best;
}

std::optional<Schedule> mlir::blocksparse::selectSampledTiling(const ProductShape &shape,
                                                               const BlockLayout *layout,
                                                               const TargetInfo &target) {
  return selectTiling(shape, getSampledTilings(shape, target), layout, target);
}

std::optional<Schedule> mlir::blocksparse::selectRunTimeTiling(const ProductShape &shape,
                                                               const BlockLayout &usual,
                                                               const TargetInfo &target) {
  SmallVector<SampledTiling, 4> tilings = getSampledTilings(shape, target);
  llvm::erase_if(tilings, [&](const SampledTiling &tiling) {
    std::string reason;
    return !::blocksparse::RunTimeTiles::get(shape.problem, tiling.schedule, target.gpuFacts(),
                                             reason);
  });
  return selectTiling(shape, tilings, &usual, target);
}
