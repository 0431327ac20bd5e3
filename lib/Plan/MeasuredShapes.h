// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_PLAN_MEASUREDSHAPES_H
#define BLOCKSPARSE_LIB_PLAN_MEASUREDSHAPES_H

#include <cstdint>
#include <span>
#include <string_view>

namespace blocksparse {

/// Describes the stages that measured best for groups of at most this occupancy.
struct MeasuredShape {
  int64_t block;
  double occupancy;
  /// Largest number of block rows of a group, panels of a stage, and stages in the ring.
  int64_t rows, panels, stages;
  /// Says how warps share the rows: each has one row, or two if there are more than 20 rows
  /// (Rows); each has two if there are 16 rows as well (Pairs); or all multiply together by wgmma.
  /// A chip without wgmma uses the next shape of the list.
  enum Team { Rows, Pairs, Wgmma };
  Team team = Rows;
  /// Panels that one TMA load brings.
  int64_t panelsPerCopy = 1;
};

/// Holds the shapes of a device, in ascending occupancy for each block.
struct MeasuredShapes {
  /// Large groups; and small ones, whose tiles leave fewer workers idle in the last round of a
  /// small problem.
  std::span<const MeasuredShape> large, small;
  /// Groups of few rows that share few panels.
  std::span<const MeasuredShape> sparse;
  /// Blocks of 16 of a K-major operand: copies of four panels, and single panels.
  std::span<const MeasuredShape> quads, singles;
};

/// Returns the shapes of a device (GPUFacts::device). A device that was not measured has those of
/// an H100.
const MeasuredShapes &getMeasuredShapes(std::string_view device);

} // namespace blocksparse

#endif // BLOCKSPARSE_LIB_PLAN_MEASUREDSHAPES_H
