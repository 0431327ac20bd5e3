// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The results of experiments with the shapes of stages (docs/Developer/LabNotes/schedules.md).

#include "MeasuredShapes.h"

using namespace blocksparse;

namespace {

// Stages of fewer than 64 values of k wait more than they compute.
constexpr MeasuredShape largeH100[] = {
    {16, 0.19, 24, 8, 4},
    {16, 0.40, 24, 8, 3, MeasuredShape::Pairs},
    {16, 1.0, 24, 4, 4, MeasuredShape::Pairs},
    {32, 0.19, 12, 4, 3, MeasuredShape::Wgmma},
    {32, 0.19, 12, 4, 3},
    {32, 0.40, 12, 3, 3, MeasuredShape::Wgmma},
    {32, 1.0, 12, 2, 3, MeasuredShape::Wgmma},
    {32, 1.0, 12, 3, 3},
};
constexpr MeasuredShape smallH100[] = {
    {16, 0.19, 20, 8, 4},
    {16, 0.40, 20, 6, 4, MeasuredShape::Pairs},
    {16, 1.0, 16, 4, 5, MeasuredShape::Pairs},
    {32, 0.40, 8, 3, 4},
    {32, 1.0, 8, 4, 3, MeasuredShape::Wgmma},
    {32, 1.0, 8, 3, 4},
};
// Row groups of four block rows, where rows are so sparse that taller ones share few panels
// (bsr_addmm 3072 x 3072 x 8192, density .016).
constexpr MeasuredShape sparseH100[] = {{32, 0.40, 4, 4, 4, MeasuredShape::Wgmma}};
// Copies of four panels keep the same bytes in flight, with room for the blocks that meet them: a
// copy that has more blocks comes again, but then the products take longer.
constexpr MeasuredShape quadsH100[] = {
    {16, 0.15, 24, 8, 4, MeasuredShape::Rows, 4},
    {16, 0.40, 24, 8, 3, MeasuredShape::Pairs, 4},
    {16, 1.0, 24, 4, 4, MeasuredShape::Pairs, 4},
};
// The number of single panels is no multiple of four. These shapes are estimated, not measured.
constexpr MeasuredShape singlesH100[] = {
    {16, 0.19, 24, 7, 4},
    {16, 0.40, 20, 6, 4},
    {16, 1.0, 16, 5, 4},
};

constexpr MeasuredShapes h100{largeH100, smallH100, sparseH100, quadsH100, singlesH100};

struct DeviceShapes {
  std::string_view device;
  MeasuredShapes shapes;
};

// An H200 has the SMs and the L2 of an H100; its points of measured-schedules.json agree.
constexpr DeviceShapes devices[] = {{"h100", h100}, {"h200", h100}};

} // namespace

const MeasuredShapes &blocksparse::getMeasuredShapes(std::string_view device) {
  for (const DeviceShapes &row : devices)
    if (row.device == device)
      return row.shapes;
  return devices[0].shapes;
}
