// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TEST_UNIT_PLAN_ROWPRODUCTS_H
#define BLOCKSPARSE_TEST_UNIT_PLAN_ROWPRODUCTS_H

#include "PlanLayouts.h"
#include "blocksparse/Plan/Stages.h"

namespace blocksparse::test {

/// Holds a row LUT and the product that views it.
struct StagedLut {
  StagedLut(const BlockLayout &layout, BlockShape block, bool transpose)
      : lut(buildRowLut(layout, transpose)) {
    const BlockGrid grid = layout.grid();
    view.segments = lut.segments;
    view.entries = lut.entries;
    view.heads = grid.heads;
    view.tiles = transpose ? grid.cols : grid.rows;
    view.denseBlocks = transpose ? grid.rows : grid.cols;
    view.block = block;
    view.transposeValues = transpose;
  }
  StagedLut(const StagedLut &) = delete;

  RowLut lut;
  RowProduct view;
};

/// Returns the tables of an operation from its stages and work lists.
inline StageTables tablesOf(const StagedRows &staged, const WorkLists &lists) {
  return {lists.tiles,  lists.workers,     staged.records,  staged.rows,
          staged.order, staged.recordInts, staged.groupSize};
}

} // namespace blocksparse::test

#endif // BLOCKSPARSE_TEST_UNIT_PLAN_ROWPRODUCTS_H
