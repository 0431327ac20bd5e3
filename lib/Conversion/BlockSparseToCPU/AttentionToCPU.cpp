// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../AttentionRow.h"
#include "LowerToLoops.h"
#include "VectorAccess.h"

using namespace mlir;
using namespace mlir::blocksparse;

void mlir::blocksparse::lowerToLoops(ImplicitLocOpBuilder &b, PlannedAttentionOp op,
                                     const CPULoweringOptions &) {
  AttentionItems items(b, op, IRMapping());
  emitParallel(b, items.sizes(b),
               [&](ImplicitLocOpBuilder &b, ValueRange index) { items.emitItem(b, index); });
}
