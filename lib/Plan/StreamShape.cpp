// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/StreamShape.h"

#include <algorithm>

using namespace blocksparse;

static constexpr int64_t bytesPerElement = 2;

std::optional<StreamShape> blocksparse::getStreamShape(const StreamSizes &sizes) {
  const auto [block, rows, panels, stages, warps, wgmma, alongK, sharedBytes] = sizes;
  if ((block != 16 && block != 32) || rows < 1 || rows > 64 || panels < 1 || panels > 16 ||
      stages < 1 || warps < 1)
    return std::nullopt;
  if (wgmma ? warps != streamWgmmaWarps || stages < 2 || rows % 2 != 0 ||
                  rows * block > streamWgmmaRows
            : rows % warps != 0)
    return std::nullopt;
  StreamShape shape{block, rows, panels, 0};
  shape.owners = wgmma ? 0 : warps;
  shape.alongK = alongK;
  shape.byPanel = wgmma;
  const int64_t free =
      sharedBytes - streamReservedBytes - streamEpilogueBytes(block, streamBuffers(wgmma, warps));
  const int64_t left = free / stages / 1024 * 1024 - panels * block * 256 - shape.recordInts() * 4;
  shape.blocks = std::min(rows * panels, left / (block * block * bytesPerElement));
  if (left < 0 || shape.blocks < rows)
    return std::nullopt;
  return shape;
}
