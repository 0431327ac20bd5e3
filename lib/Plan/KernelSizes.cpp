// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The sizes that planner and kernels share.

#include "blocksparse/Plan/KernelFamilies.h"
#include "blocksparse/Plan/Stages.h"

#include <algorithm>

using namespace blocksparse;

int64_t blocksparse::fitMmaTile(int64_t extent, int64_t most) {
  int64_t size = MmaParams::minTile;
  while (size < most && (extent == unknownSize || size < extent))
    size *= 2;
  return size;
}

int64_t blocksparse::divideMmaTile(int64_t extent, int64_t most) {
  int64_t size = most;
  while (size > MmaParams::minTile && extent % size != 0)
    size /= 2;
  return size;
}

int64_t blocksparse::boundWgmmaSharedBytes(TileSize tile, int64_t stages, int64_t elementBytes) {
  constexpr int64_t depth = 64;
  // Two warpgroups have two subtiles of 64 x 64 results of 16 bits each. Records take 32 bytes a
  // stage and barriers 16; rounding the base of the ring takes up to 1024 bytes.
  constexpr int64_t resultBytes = 4 * 64 * 64 * 2, perStage = 32 + 16, alignment = 1024;
  return stages * ((tile.rows + tile.cols) * depth * elementBytes + perStage) + resultBytes +
         alignment;
}

int64_t blocksparse::getMostWgmmaCols(ElementType element) {
  return element == ElementType::f8E4M3FN || element == ElementType::f8E5M2 ? wgmmaCtaCols / 2
                                                                            : wgmmaCtaCols;
}

int64_t blocksparse::getRowChunk(const KernelProblem &problem) {
  int64_t bytes = 4;
  for (std::optional<ElementType> type : {problem.a, problem.b, problem.out})
    if (type)
      bytes = std::min(bytes, elementSize(*type));
  return 16 / bytes;
}

int64_t blocksparse::fitDenseWgmmaCols(int64_t cols) {
  if (cols == unknownSize)
    return wgmmaCtaCols;
  return std::clamp<int64_t>((cols + 63) / 64 * 64, 64, wgmmaCtaCols);
}
