// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_TRANSFORMS_SCHEDULE_SCHEDULEFACTS_H
#define BLOCKSPARSE_LIB_TRANSFORMS_SCHEDULE_SCHEDULEFACTS_H

#include "blocksparse/IR/BlockSparseAttrs.h"
#include "blocksparse/Target/TargetInfo.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace mlir::blocksparse {

/// What decides which sizes a schedule may have; sizes are kDynamic where unknown.
struct ScheduleFacts {
  /// Of a product: rows of op(block) and columns of the result for a reduction over block rows, of
  /// a block for a product at the blocks of a pattern. 0 for any other op.
  int64_t rows = 0, cols = 0;
  int64_t accumulatorBits = 0;
  /// A reduction that "cuda.wgmma", or the stream kernels, compute by stages.
  bool wgmma = false, stream = false;
  /// Of such a reduction: k is the last axis of the dense operand.
  bool alongK = false;
  /// "cuda.wgmma" and "cuda.wgmma_turned" of a product at the blocks of a pattern, one for each
  /// form of its tiles.
  llvm::SmallVector<ScheduleAttr, 4> sampled;
};

ScheduleFacts getScheduleFacts(Operation *op, const ::blocksparse::TargetInfo &target);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TRANSFORMS_SCHEDULE_SCHEDULEFACTS_H
