// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/StreamShape.h"

#include <algorithm>

using namespace blocksparse;

static constexpr int64_t bytesPerElement = 2;

StreamSizes blocksparse::getStreamSizes(const Schedule &schedule, int64_t storedRows, bool kMajor,
                                        int64_t sharedBytes) {
  const StreamParams &params = *schedule.getIf<StreamParams>();
  const int64_t block = params.blockFor(storedRows);
  return {.block = block,
          .rows = params.tile.rows / block,
          .panels = params.panels,
          .stages = params.stages,
          .warps = params.warps,
          .wgmma = schedule.family() == KernelFamily::CUDAStreamWgmma,
          .kMajor = kMajor,
          .sharedBytes = sharedBytes,
          .panelsPerCopy = params.panelsPerCopy};
}

/// Returns an empty string if the counts of `sizes` fit each other, else the first fault.
static std::string checkStreamCounts(const StreamSizes &sizes) {
  auto expects = [](const std::string &expected, int64_t got) {
    return "expects " + expected + ", but got " + std::to_string(got);
  };
  if (sizes.block != 16 && sizes.block != 32)
    return expects("blocks of 16 or 32", sizes.block);
  if (sizes.rows < 1 || sizes.rows > 64)
    return expects("1 to 64 block rows in a tile", sizes.rows);
  if (sizes.panels < 1 || sizes.panels > 16)
    return expects("1 to 16 panels in a stage", sizes.panels);
  const bool narrow = StreamShape::isNarrow(sizes.block, sizes.kMajor);
  if (sizes.panelsPerCopy != 1 && (sizes.panelsPerCopy != 4 || !narrow || sizes.panels % 4 != 0))
    return expects("panels_per_copy = 1, or 4 for a multiple of 4 panels of a K-major operand with "
                   "blocks of 16",
                   sizes.panelsPerCopy);
  if (sizes.stages < (sizes.wgmma ? 2 : 1))
    return expects(sizes.wgmma ? "at least 2 stages" : "at least 1 stage", sizes.stages);
  if (sizes.warps < 1)
    return expects("at least 1 warp", sizes.warps);
  if (!sizes.wgmma)
    return sizes.rows % sizes.warps == 0
               ? std::string()
               : expects("warps that divide " + std::to_string(sizes.rows) + " block rows",
                         sizes.warps);
  if (sizes.warps != streamWgmmaWarps)
    return expects(std::to_string(streamWgmmaWarps) + " warps", sizes.warps);
  if (sizes.rows % 2 != 0)
    return expects("an even number of block rows in a tile", sizes.rows);
  if (sizes.rows * sizes.block > streamWgmmaRows)
    return expects("at most " + std::to_string(streamWgmmaRows) + " rows in a tile",
                   sizes.rows * sizes.block);
  return {};
}

std::optional<StreamShape> blocksparse::getStreamShape(const StreamSizes &sizes,
                                                       std::string *fault) {
  auto fail = [&](const std::string &reason) {
    if (fault)
      *fault = reason;
    return std::nullopt;
  };
  if (std::string reason = checkStreamCounts(sizes); !reason.empty())
    return fail(reason);
  const auto [block, rows, panels, stages, warps, wgmma, kMajor, sharedBytes, panelsPerCopy] =
      sizes;
  StreamShape shape{block, rows, panels, 0};
  shape.consumers = wgmma ? 0 : warps;
  shape.kMajor = kMajor;
  shape.panelsPerCopy = panelsPerCopy;
  shape.byPanel = wgmma;
  const int64_t free =
      sharedBytes - streamReservedBytes - streamEpilogueBytes(block, streamBuffers(wgmma, warps));
  const int64_t left = free / stages / 1024 * 1024 - panels * block * 256 - shape.recordInts() * 4;
  shape.blocks = std::min(rows * panels, left / (block * block * bytesPerElement));
  if (left < 0 || shape.blocks < rows)
    return fail("expects stages with room for " + std::to_string(rows) +
                " value blocks, one for each block row, but got room for " +
                std::to_string(std::max<int64_t>(0, left < 0 ? 0 : shape.blocks)));
  return shape;
}
