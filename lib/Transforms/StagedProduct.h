// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_TRANSFORMS_STAGEDPRODUCT_H
#define BLOCKSPARSE_LIB_TRANSFORMS_STAGEDPRODUCT_H

#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Plan/SampledTiles.h"
#include "blocksparse/Plan/Stages.h"

namespace mlir::blocksparse {

/// What decides whether a product over a static row LUT can run in stages; sizes in elements,
/// kDynamic where unknown.
struct StagedSizes {
  Type values, dense, out;
  /// Rows and depth of a block of op(V), rows of op(dense) and columns of the result.
  int64_t rows = 0, depth = 0, k = 0, n = 0;
  /// k is the last axis of the dense operand.
  bool alongK = false;
};

/// Whether the wgmma kernels compute a product of these sizes: 16-bit floats of one type, rows
/// and depth multiples of 64, whole blocks of k, n a multiple of 64.
bool hasWgmmaSizes(const StagedSizes &sizes);
/// The same for the stream kernels: square blocks of 16 or 32.
bool hasStreamSizes(const StagedSizes &sizes);
/// The same for a product at the blocks of a pattern.
struct SampledSizes {
  Type a, b, out;
  ::blocksparse::BlockShape block;
  /// Rows and columns of the pattern, and the reduction.
  int64_t m = 0, n = 0, k = 0;
};

/// Whether the wgmma kernels compute such a product: 16-bit floats of one type, blocks that tiles
/// are made of (see hasSampledTiles) and that do not stick out, k a multiple of 8.
bool hasWgmmaSizes(const SampledSizes &sizes);
/// Columns of a panel: the widest of `wanted` and its halves, down to 64, that divides n.
int64_t fitPanel(int64_t n, int64_t wanted);

/// A planned_dsd whose schedule names a kernel of stages and whose static shapes fit it.
struct StagedProduct {
  /// Nothing for an op that is no such product. Without the tables.
  static std::optional<StagedProduct> get(PlannedDSDOp op);

  ::blocksparse::RowProduct rows;
  ::blocksparse::TileSpace space;
  /// Columns of a panel; the schedule's tile_n, or less where that does not divide the result.
  int64_t tileN = 0;
  /// Rows of op(dense).
  int64_t k = 0;
  /// Of a stream kernel, or nothing: wgmma.
  std::optional<::blocksparse::StreamShape> stream;
};

/// A planned_sdd whose schedule names "cuda.wgmma" or "cuda.wgmma_turned" and whose static shapes
/// fit it.
struct StagedSampled {
  /// Nothing for an op that is no such product. Without the table.
  static std::optional<StagedSampled> get(PlannedSDDOp op);

  ::blocksparse::SampledProduct blocks;
  ::blocksparse::TileSpace space;
  int64_t k = 0;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TRANSFORMS_STAGEDPRODUCT_H
