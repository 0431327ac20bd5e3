// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Transforms/Passes.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_DECOMPOSESLICESPASS
#include "blocksparse/Transforms/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

/// Takes the block rows first, so that the transpositions move the blocks of the slice alone.
static void decompose(SliceOp op) {
  SparseTensor source = *SparseTensor::get(op.getSource().getType());
  SparseTensor result = *SparseTensor::get(op.getType());
  if (source.getCols() == result.getCols())
    return;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  int64_t firstRow = op.getOffsets()[0], firstCol = op.getOffsets()[1];
  int64_t rows = result.getRows(), cols = result.getCols();
  Value value = op.getSource();
  if (source.getRows() != rows)
    value = SliceOp::create(builder, loc, value, ArrayRef<int64_t>{firstRow, 0},
                            ArrayRef<int64_t>{rows, source.getCols()});
  value = TransposeOp::create(builder, loc, value);
  value = SliceOp::create(builder, loc, value, ArrayRef<int64_t>{firstCol, 0},
                          ArrayRef<int64_t>{cols, rows});
  value = TransposeOp::create(builder, loc, op.getType(), value, ScheduleAttr());
  op.getResult().replaceAllUsesWith(value);
  op.erase();
}

namespace {
struct DecomposeSlices : mlir::blocksparse::impl::DecomposeSlicesPassBase<DecomposeSlices> {
  void runOnOperation() override { getOperation()->walk(decompose); }
};
} // namespace
