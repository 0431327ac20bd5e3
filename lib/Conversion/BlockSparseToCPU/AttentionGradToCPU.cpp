// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../AttentionGradRow.h"
#include "LowerToLoops.h"
#include "VectorAccess.h"

using namespace mlir;
using namespace mlir::blocksparse;

void mlir::blocksparse::lowerToLoops(ImplicitLocOpBuilder &b, PlannedAttentionGradOp op,
                                     const CPULoweringOptions &) {
  AttentionGradItems items(b, op, IRMapping());
  emitParallel(b, items.rowSizes(b),
               [&](ImplicitLocOpBuilder &b, ValueRange index) { items.emitRow(b, index); });
  for (AttentionGradSide side : {AttentionGradSide::Keys, AttentionGradSide::Queries})
    emitParallel(b, items.sizes(b, side), [&](ImplicitLocOpBuilder &b, ValueRange index) {
      items.emitItem(b, side, index);
    });
}
