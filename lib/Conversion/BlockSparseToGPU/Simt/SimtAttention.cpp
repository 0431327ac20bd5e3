// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../AttentionRow.h"
#include "../../Device/Loops.h"
#include "SimtKernels.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

void mlir::blocksparse::device::emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                         PlannedAttentionOp op) {
  SmallVector<Value> operands = presentOperands(
      {op.getQ(), op.getK(), op.getV(), op.getSegments(), op.getEntries(), op.getRpe(),
       op.getKeyPaddingMask(), op.getAttentionMask(), op.getKeyLengths(), op.getQueryLengths(),
       op.getQuerySegments(), op.getKeySegments(), op.getSink(), op.getOut(), op.getLse()});
  Value items = productOf(host, AttentionItems(host, op, IRMapping()).sizes(host));
  kernels.launchForEach(host, "attention", operands, items,
                        [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
                          AttentionItems items(b, op, mapping);
                          items.emitItem(b, splitIndex(b, item, items.sizes(b)));
                        });
}
