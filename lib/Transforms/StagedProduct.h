// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_TRANSFORMS_STAGEDPRODUCT_H
#define BLOCKSPARSE_LIB_TRANSFORMS_STAGEDPRODUCT_H

#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Plan/SampledTiles.h"
#include "blocksparse/Plan/Stages.h"
#include "blocksparse/Target/TargetInfo.h"

namespace mlir::blocksparse {

/// Holds the facts that decide if a product over a static row LUT can run in stages. Sizes are in
/// elements, and kDynamic if they are unknown.
struct StagedSizes {
  Type values, dense, out;
  /// Rows and K extent of a block of op(V), rows of op(dense), and columns of the result.
  int64_t rows = 0, depth = 0, k = 0, n = 0;
  /// True if the dense operand is K-major: k is its last axis.
  bool alongK = false;
};

/// Returns true if the wgmma kernels support a product of these sizes: 16-bit floats of one type,
/// rows and K extent of a block multiples of 64, k a multiple of the block's, n a multiple of 64.
bool hasWgmmaSizes(const StagedSizes &sizes);
/// Returns true if the stream kernels support a product of these sizes: square blocks of 16 or 32,
/// and types, k and n as above.
bool hasStreamSizes(const StagedSizes &sizes);
/// Holds the facts that decide if a product at the blocks of a pattern can run in tiles.
struct SampledSizes {
  Type a, b, out;
  ::blocksparse::BlockShape block;
  /// Rows and columns of the pattern, and the reduction.
  int64_t m = 0, n = 0, k = 0;
};

/// Returns true if the wgmma kernels support such a product: 16-bit floats of one type, blocks that
/// tiles can be made of (see hasSampledTiles) and that lie completely in the result, k a multiple
/// of 8.
bool hasWgmmaSizes(const SampledSizes &sizes);
/// Returns the columns of a column tile: the largest of 64, 128, 256, … that is at most `wanted`
/// and divides n.
int64_t fitPanel(int64_t n, int64_t wanted);

/// Describes a planned_dsd whose schedule names a kernel of stages and whose static shapes fit it.
struct StagedProduct {
  /// Returns the product without its tables, or nothing if the op is no such product.
  static std::optional<StagedProduct> get(PlannedDSDOp op, const ::blocksparse::GPUFacts &gpu);

  ::blocksparse::RowProduct rows;
  ::blocksparse::TileSpace space;
  /// Columns of a column tile: the schedule's tile_n, or fewer if that does not divide the result.
  int64_t tileN = 0;
  /// Number of rows of op(dense).
  int64_t k = 0;
  /// The shape of the stages of a stream kernel; nothing for wgmma.
  std::optional<::blocksparse::StreamShape> stream;
};

/// Describes a planned_sdd whose schedule names "cuda.wgmma" or "cuda.wgmma_turned" and whose
/// static shapes fit it.
struct StagedSampled {
  /// Returns the product without its table, or nothing if the op is no such product.
  static std::optional<StagedSampled> get(PlannedSDDOp op);

  ::blocksparse::SampledProduct blocks;
  ::blocksparse::TileSpace space;
  int64_t k = 0;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TRANSFORMS_STAGEDPRODUCT_H
