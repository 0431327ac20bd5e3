// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../AttentionGradRow.h"
#include "../../Device/Arith.h"
#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "SimtKernels.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

/// Index of the operand `lists` among those of ODS.
static constexpr unsigned lists = 10;

/// Returns the operands that scalar kernels read or write: all but the lists.
static SmallVector<Value> getOperands(PlannedAttentionGradOp op) {
  auto [first, count] = op.getODSOperandIndexAndLength(lists);
  SmallVector<Value> operands(op->getOperands().take_front(first));
  llvm::append_range(operands, op->getOperands().drop_front(first + count));
  return operands;
}

void mlir::blocksparse::device::emitSimtAttentionGradRows(ImplicitLocOpBuilder &host,
                                                          KernelBuilder &kernels,
                                                          PlannedAttentionGradOp op) {
  SmallVector<Value> sizes = AttentionGradItems(host, op, IRMapping()).rowSizes(host);
  kernels.launchForEachWarp(
      host, "attention_grad_rows", getOperands(op), productOf(host, sizes),
      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item, Value lane) {
        AttentionGradItems items(b, op, mapping);
        SmallVector<Value> index = splitIndex(b, item, items.rowSizes(b));
        MatrixView out = items.outOf(b, index), dout = items.doutOf(b, index);
        Type type = items.accumulator();
        Value own = emitFold(b, lane, out.cols, indexConstant(b, warpSize), zeroElement(b, type),
                             [&](ImplicitLocOpBuilder &b, Value col, Value sum) {
                               Value left = convertElement(b, out.load(b, index[2], col), type);
                               Value right = convertElement(b, dout.load(b, index[2], col), type);
                               return multiplyAdd(b, left, right, sum);
                             });
        Value product = reduceWarp(b, own, addNumbers);
        emitIf(b, indexEqual(b, lane, indexConstant(b, 0)),
               [&](ImplicitLocOpBuilder &b) { items.storeRow(b, index, product); });
      });
}

/// Emits a kernel with a thread for each item of a side.
static void emitItems(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedAttentionGradOp op,
                      AttentionGradSide side, bool repairs) {
  std::string name = repairs ? "attention_grad_repair" : "attention_grad";
  name += side == AttentionGradSide::Keys ? "_keys" : "_queries";
  Value work = productOf(host, AttentionGradItems(host, op, IRMapping()).sizes(host, side));
  kernels.launchForEach(host, name, getOperands(op), work,
                        [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
                          AttentionGradItems items(b, op, mapping);
                          SmallVector<Value> index = splitIndex(b, item, items.sizes(b, side));
                          items.emitItem(b, side, index, repairs);
                        });
}

void mlir::blocksparse::device::emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                         PlannedAttentionGradOp op) {
  for (AttentionGradSide side : {AttentionGradSide::Keys, AttentionGradSide::Queries})
    emitItems(host, kernels, op, side, /*repairs=*/false);
}

void mlir::blocksparse::device::emitSimtAttentionGradRepair(ImplicitLocOpBuilder &host,
                                                            KernelBuilder &kernels,
                                                            PlannedAttentionGradOp op) {
  for (AttentionGradSide side : {AttentionGradSide::Keys, AttentionGradSide::Queries})
    emitItems(host, kernels, op, side, /*repairs=*/true);
}
