// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_TRANSFORMS_STAGEDPRODUCT_H
#define BLOCKSPARSE_LIB_TRANSFORMS_STAGEDPRODUCT_H

#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Plan/AttentionGradPlan.h"
#include "blocksparse/Plan/AttentionOrderPlan.h"
#include "blocksparse/Plan/Reblock.h"
#include "blocksparse/Plan/SampledTiles.h"
#include "blocksparse/Plan/Stages.h"
#include "blocksparse/Target/TargetInfo.h"

namespace mlir::blocksparse {

/// Returns the columns of a column tile: the largest of `wanted` and its halves, down to 64, that
/// divides `n`; 64 if none does.
int64_t fitColumnTile(int64_t n, int64_t wanted);

/// Describes a planned_dsd whose schedule names a family with stages and whose static shapes fit
/// it.
struct StagedProduct {
  /// Returns the product without its tables. Returns nothing if the operation is no such product on
  /// `target`, and the reason as "expects X, but got Y" in `reason`, which stays empty if the
  /// schedule names no family with stages.
  static std::optional<StagedProduct> get(PlannedDSDOp op, const ::blocksparse::TargetInfo &target,
                                          std::string &reason);

  ::blocksparse::RowProduct rows;
  ::blocksparse::TileSpace space;
  /// Columns of a column tile, which the CTAs of a cluster share.
  int64_t tileN = 0;
  /// Rows of op(dense).
  int64_t k = 0;
  /// Shape of the stages of a stream kernel, or nothing for wgmma.
  std::optional<::blocksparse::StreamShape> stream;
  /// How the stored blocks are planned as others, or nothing if stages hold the stored blocks.
  std::optional<::blocksparse::Reblocking> reblocking;
};

/// Describes a planned_sdd whose schedule names a wgmma family and whose static shapes fit it.
struct StagedSampled {
  /// Returns the product without its table. Returns nothing if the operation is no such product on
  /// `target`, with `reason` as for StagedProduct.
  static std::optional<StagedSampled> get(PlannedSDDOp op, const ::blocksparse::TargetInfo &target,
                                          std::string &reason);

  ::blocksparse::SampledProduct blocks;
  ::blocksparse::TileSpace space;
  int64_t k = 0;
};

/// Returns true if kernels of `op`, attention or its gradient or their planned forms, look at all
/// elements of the scores for other reasons than the band. Biases are added where masks are looked
/// at.
template <typename OpTy>
bool readsAllElements(OpTy op) {
  return op.getRpe() || op.getKeyPaddingMask() || op.getAttentionMask() || op.getKeyLengths() ||
         op.getQueryLengths() || op.getQuerySegments();
}

/// Describes a planned_attention, or its gradient, whose schedule names a family with lists and
/// whose static shapes fit it.
struct StagedAttention {
  /// Returns the attention of the constant row LUT. Returns nothing if the operation is no such
  /// attention on `target`, with `reason` as for StagedProduct.
  static std::optional<StagedAttention>
  get(PlannedAttentionOp op, const ::blocksparse::TargetInfo &target, std::string &reason);
  /// Does the same for the gradient of attention. The workers of `options` are warpgroups, or CTAs
  /// if it is `ordered`.
  static std::optional<StagedAttention>
  get(PlannedAttentionGradOp op, const ::blocksparse::TargetInfo &target, std::string &reason);

  ::blocksparse::AttentionProblem problem() const {
    return {layout, batches, heads, band, masked, sharing};
  }

  ::blocksparse::BlockLayout layout;
  int64_t batches = 1, heads = 1;
  ::blocksparse::AttentionBand band;
  bool masked = false;
  /// Heads of queries that share a head of keys in a gradient.
  int64_t sharing = 1;
  /// True if one kernel computes the gradients.
  bool ordered = false;
  ::blocksparse::AttentionOptions options;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TRANSFORMS_STAGEDPRODUCT_H
