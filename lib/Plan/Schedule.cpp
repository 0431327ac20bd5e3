// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/Schedule.h"

#include <algorithm>
#include <bit>

using namespace blocksparse;

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

std::string_view blocksparse::getName(KernelFamily family) {
  switch (family) {
  case KernelFamily::CPUPanel:
    return "cpu.panel";
  case KernelFamily::CPURows:
    return "cpu.rows";
  case KernelFamily::CPUBlocks:
    return "cpu.blocks";
  case KernelFamily::CUDAWgmma:
    return "cuda.wgmma";
  case KernelFamily::CUDAWgmmaTransposed:
    return "cuda.wgmma_transposed";
  case KernelFamily::CUDAStream:
    return "cuda.stream";
  case KernelFamily::CUDAStreamWgmma:
    return "cuda.stream_wgmma";
  case KernelFamily::CUDASkinny:
    return "cuda.skinny";
  case KernelFamily::CUDAMma:
    return "cuda.mma";
  case KernelFamily::CUDAFma:
    return "cuda.fma";
  case KernelFamily::CUDASimt:
    return "cuda.simt";
  case KernelFamily::CUDARows:
    return "cuda.rows";
  case KernelFamily::CUDAAttention:
    return "cuda.attention";
  case KernelFamily::CUDABlocks:
    return "cuda.blocks";
  }
  return "";
}

std::optional<KernelFamily> blocksparse::parseKernelFamily(std::string_view name) {
  for (KernelFamily family : allKernelFamilies)
    if (getName(family) == name)
      return family;
  return std::nullopt;
}

std::string_view blocksparse::findRenamedFamily(std::string_view name) {
  if (name == "cuda.wgmma_turned")
    return getName(KernelFamily::CUDAWgmmaTransposed);
  return "";
}

bool blocksparse::usesTensorCores(KernelFamily family) {
  switch (family) {
  case KernelFamily::CUDAWgmma:
  case KernelFamily::CUDAWgmmaTransposed:
  case KernelFamily::CUDAStream:
  case KernelFamily::CUDAStreamWgmma:
  case KernelFamily::CUDASkinny:
  case KernelFamily::CUDAMma:
  case KernelFamily::CUDAAttention:
    return true;
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

static Schedule::Params makeParams(KernelFamily family) {
  switch (family) {
  case KernelFamily::CPUPanel:
    return PanelParams();
  case KernelFamily::CPURows:
  case KernelFamily::CPUBlocks:
    return VectorParams();
  case KernelFamily::CUDAWgmma:
  case KernelFamily::CUDAWgmmaTransposed:
    return WgmmaParams();
  case KernelFamily::CUDAStream:
  case KernelFamily::CUDAStreamWgmma:
    return StreamParams();
  case KernelFamily::CUDASkinny:
    return SkinnyParams();
  case KernelFamily::CUDAMma:
  case KernelFamily::CUDAFma:
    return MmaParams();
  case KernelFamily::CUDASimt:
    return SimtParams();
  case KernelFamily::CUDARows:
    return RowParams();
  case KernelFamily::CUDAAttention:
    return AttentionParams();
  case KernelFamily::CUDABlocks:
    break;
  }
  return NoParams();
}

Schedule::Schedule(KernelFamily family) : family_(family), params(makeParams(family)) {}

int64_t Schedule::split() const {
  if (const auto *panel = getIf<PanelParams>())
    return panel->split;
  if (const auto *mma = getIf<MmaParams>())
    return mma->split;
  const auto *simt = getIf<SimtParams>();
  return simt ? simt->split : 0;
}

int64_t blocksparse::getClusterSize(const Schedule &schedule) {
  const auto *wgmma = schedule.getIf<WgmmaParams>();
  return wgmma ? wgmma->cluster : 1;
}

MmaParams blocksparse::getMmaLimits(const Schedule &schedule) {
  TileSize tile;
  int64_t stages = 0;
  if (const auto *mma = schedule.getIf<MmaParams>()) {
    tile = mma->tile;
    stages = mma->stages;
  } else if (const auto *wgmma = schedule.getIf<WgmmaParams>()) {
    tile = {wgmma->tile.rows, wgmma->tile.cols * wgmma->cluster};
    stages = wgmma->stages;
  } else if (const auto *stream = schedule.getIf<StreamParams>()) {
    tile = stream->tile;
    stages = stream->stages;
  }
  MmaParams limits;
  limits.tile = {MmaParams::usualTile, MmaParams::usualTile};
  limits.stages = MmaParams::usualStages;
  if (tile.rows >= MmaParams::minTile)
    limits.tile.rows =
        std::min(static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(tile.rows))),
                 MmaParams::maxTileRows);
  // A dense product of 130 columns has a wgmma tile of 192 and one of mma.sync of 256.
  if (tile.cols >= MmaParams::minTile)
    limits.tile.cols =
        std::min(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(tile.cols))),
                 MmaParams::maxTileCols);
  if (stages >= 2)
    limits.stages = std::min(stages, MmaParams::usualStages);
  return limits;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void blocksparse::forEachField(Schedule &schedule,
                               const std::function<void(const ScheduleField &)> &visit) {
  auto tile = [&](TileSize &size) { visit({.name = "tile", .tile = &size}); };
  auto count = [&](std::string_view name, int64_t &value, int64_t usual = 0) {
    visit({.name = name, .count = &value, .usual = usual});
  };
  if (auto *panel = schedule.getIf<PanelParams>()) {
    tile(panel->tile);
    count("split", panel->split);
  } else if (auto *vector = schedule.getIf<VectorParams>()) {
    count("lanes", vector->lanes);
  } else if (auto *wgmma = schedule.getIf<WgmmaParams>()) {
    tile(wgmma->tile);
    count("stages", wgmma->stages);
    visit({.name = "gather", .flag = &wgmma->gather});
    count("cluster", wgmma->cluster, 1);
  } else if (auto *stream = schedule.getIf<StreamParams>()) {
    tile(stream->tile);
    count("panels", stream->panels);
    count("panels_per_copy", stream->panelsPerCopy, 1);
    count("stages", stream->stages);
    count("warps", stream->warps);
    count("block", stream->block);
  } else if (auto *skinny = schedule.getIf<SkinnyParams>()) {
    tile(skinny->tile);
    count("warps", skinny->warps);
    count("unroll", skinny->unroll);
  } else if (auto *mma = schedule.getIf<MmaParams>()) {
    tile(mma->tile);
    count("stages", mma->stages);
    count("split", mma->split);
  } else if (auto *simt = schedule.getIf<SimtParams>()) {
    count("split", simt->split);
  } else if (auto *rows = schedule.getIf<RowParams>()) {
    count("elements_per_lane", rows->elementsPerLane);
  } else if (auto *attention = schedule.getIf<AttentionParams>()) {
    count("kernels", attention->kernels);
  }
}

static std::string printTile(const TileSize &tile) {
  return std::to_string(tile.rows) + "x" + std::to_string(tile.cols);
}

std::string blocksparse::printSchedule(const Schedule &schedule) {
  std::string text(schedule.familyName());
  Schedule copy = schedule;
  forEachField(copy, [&](const ScheduleField &field) {
    std::string value;
    if (field.tile && field.tile->isGiven())
      value = printTile(*field.tile);
    else if (field.count && *field.count != field.usual)
      value = std::to_string(*field.count);
    else if (field.flag && *field.flag)
      value = "true";
    if (!value.empty())
      text.append(", ").append(field.name).append(" = ").append(value);
  });
  return text;
}

std::string blocksparse::describeSchedule(const Schedule &schedule) {
  std::string text(schedule.familyName());
  Schedule copy = schedule;
  forEachField(copy, [&](const ScheduleField &field) {
    if (field.tile && field.tile->isGiven())
      text.append(" ").append(printTile(*field.tile));
    else if (field.count && *field.count != field.usual)
      text.append(" ").append(field.name).append("=").append(std::to_string(*field.count));
    else if (field.flag && *field.flag)
      text.append(" ").append(field.name);
  });
  return text;
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

namespace {

/// Notes the first parameter that is out of range.
class RangeChecks {
public:
  explicit RangeChecks(KernelFamily family) : family(family) {}

  void check(bool holds, std::string_view name, std::string_view expected, const std::string &got) {
    if (fault.empty() && !holds)
      fault.append("expects ")
          .append(name)
          .append(" of ")
          .append(getName(family))
          .append(" to be ")
          .append(expected)
          .append(", but got ")
          .append(got);
  }
  void checkCount(bool holds, std::string_view name, std::string_view expected, int64_t value) {
    check(holds, name, expected, std::to_string(value));
  }
  void checkTile(bool holds, std::string_view expected, const TileSize &tile) {
    check(holds, "tile", expected, printTile(tile));
  }
  void checkSplit(int64_t split) { checkCount(split >= 0, "split", "at least 0", split); }

  std::string fault;

private:
  KernelFamily family;
};

bool isWithin(int64_t value, int64_t low, int64_t high) { return value >= low && value <= high; }
bool isPowerWithin(int64_t value, int64_t low, int64_t high) {
  return isWithin(value, low, high) && std::has_single_bit(static_cast<uint64_t>(value));
}

void checkWgmma(const WgmmaParams &params, RangeChecks &checks) {
  const TileSize tile = params.tile;
  checks.checkTile(!tile.isGiven() ||
                       ((tile.rows == 64 || tile.rows == 128) && tile.cols % 64 == 0 &&
                        isWithin(tile.cols, 64, tile.rows == 64 ? 384 : 256)),
                   "128 x a multiple of 64 up to 256, or 64 x one up to 384", tile);
  checks.checkCount(params.stages == 0 || isWithin(params.stages, 2, 8), "stages", "from 2 to 8",
                    params.stages);
  checks.checkCount(params.cluster == 1 || params.cluster == 2, "cluster", "1 or 2",
                    params.cluster);
}

void checkStream(const StreamParams &params, RangeChecks &checks) {
  const TileSize tile = params.tile;
  checks.checkTile(tile.rows >= 16 && isWithin(tile.rows, 16, 2048) && tile.rows % 16 == 0 &&
                       (tile.cols == 64 || tile.cols == 128),
                   "whole block rows x 64 or 128", tile);
  checks.checkCount(isWithin(params.panels, 1, 16), "panels", "from 1 to 16", params.panels);
  checks.checkCount(params.panelsPerCopy == 1 ||
                        (params.panelsPerCopy == 4 && params.panels % 4 == 0),
                    "panels_per_copy", "1, or 4 with a multiple of 4 panels", params.panelsPerCopy);
  checks.checkCount(isWithin(params.stages, 1, 64), "stages", "from 1 to 64", params.stages);
  checks.checkCount(isWithin(params.warps, 1, 28), "warps", "from 1 to 28", params.warps);
  checks.checkCount(params.block == 0 || params.block == 16 || params.block == 32, "block",
                    "16 or 32", params.block);
}

void checkSkinny(const SkinnyParams &params, RangeChecks &checks) {
  const TileSize tile = params.tile;
  checks.checkTile(!tile.isGiven() || (isPowerWithin(tile.rows, 16, SkinnyParams::maxTileRows) &&
                                       isPowerWithin(tile.cols, 8, SkinnyParams::maxTileCols)),
                   "powers of two from 16x8 to 128x64", tile);
  checks.checkCount(params.warps == 0 || isPowerWithin(params.warps, 1, SkinnyParams::maxWarps),
                    "warps", "a power of two up to 16", params.warps);
  checks.checkCount(params.unroll == 0 || isWithin(params.unroll, 1, SkinnyParams::maxUnroll),
                    "unroll", "from 1 to 8", params.unroll);
}

void checkMma(const MmaParams &params, RangeChecks &checks) {
  const TileSize tile = params.tile;
  checks.checkTile(!tile.isGiven() ||
                       (isPowerWithin(tile.rows, MmaParams::minTile, MmaParams::maxTileRows) &&
                        isPowerWithin(tile.cols, MmaParams::minTile, MmaParams::maxTileCols)),
                   "powers of two from 16x16 to 128x256", tile);
  checks.checkCount(params.stages == 0 || isWithin(params.stages, 2, MmaParams::usualStages),
                    "stages", "from 2 to 4", params.stages);
  checks.checkSplit(params.split);
}

} // namespace

std::string blocksparse::checkParams(const Schedule &schedule) {
  RangeChecks checks(schedule.family());
  if (const auto *panel = schedule.getIf<PanelParams>()) {
    checks.checkTile(!panel->tile.isGiven() ||
                         (isWithin(panel->tile.rows, 1, 16) && isWithin(panel->tile.cols, 1, 512)),
                     "1 to 16 rows x 1 to 512 columns", panel->tile);
    checks.checkSplit(panel->split);
  } else if (const auto *vector = schedule.getIf<VectorParams>()) {
    checks.checkCount(vector->lanes == 0 || isPowerWithin(vector->lanes, 1, 64), "lanes",
                      "a power of two up to 64", vector->lanes);
  } else if (const auto *wgmma = schedule.getIf<WgmmaParams>()) {
    checkWgmma(*wgmma, checks);
  } else if (const auto *stream = schedule.getIf<StreamParams>()) {
    checkStream(*stream, checks);
  } else if (const auto *skinny = schedule.getIf<SkinnyParams>()) {
    checkSkinny(*skinny, checks);
  } else if (const auto *mma = schedule.getIf<MmaParams>()) {
    checkMma(*mma, checks);
  } else if (const auto *simt = schedule.getIf<SimtParams>()) {
    checks.checkSplit(simt->split);
  } else if (const auto *rows = schedule.getIf<RowParams>()) {
    checks.checkCount(rows->elementsPerLane == 0 || isWithin(rows->elementsPerLane, 1, 64),
                      "elements_per_lane", "from 1 to 64", rows->elementsPerLane);
  } else if (const auto *attention = schedule.getIf<AttentionParams>()) {
    checks.checkCount(isWithin(attention->kernels, 0, 2), "kernels", "1 or 2", attention->kernels);
  }
  return checks.fault;
}
