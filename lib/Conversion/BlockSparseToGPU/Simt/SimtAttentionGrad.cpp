// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../AttentionGradRow.h"
#include "../../Device/Arith.h"
#include "../../Device/DeviceMath.h"
#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "../Kit/AsyncCopy.h"
#include "../Kit/Chunk.h"
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

/// Elements of a row that a lane loads by one instruction.
static constexpr int64_t chunkElements = 4, bytesPerElement = 2;

/// Returns i1: rows of `out` and `dout` can be loaded by chunks.
static Value areAligned(ImplicitLocOpBuilder &b, PlannedAttentionGradOp op,
                        const IRMapping &mapping) {
  Value result = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
  for (Value memref : {op.getOut(), op.getDout()}) {
    auto type = cast<MemRefType>(memref.getType());
    if (type.getElementTypeBitWidth() != 8 * bytesPerElement ||
        type.getShape().back() % chunkElements != 0)
      return arith::ConstantIntOp::create(b, b.getI1Type(), 0);
    result = both(
        b, result,
        isAligned(b, mapping.lookup(memref), type.getRank() - 1, chunkElements * bytesPerElement));
  }
  return result;
}

/// Returns the sum of the products of a lane's part of row `row` of `left` and `right`, element by
/// element.
static Value multiplyElements(ImplicitLocOpBuilder &b, const MatrixView &left,
                              const MatrixView &right, Value row, Value lane, Type type) {
  return emitFold(b, lane, left.cols, indexConstant(b, warpSize), zeroElement(b, type),
                  [&](ImplicitLocOpBuilder &b, Value col, Value sum) {
                    Value x = convertElement(b, left.load(b, row, col), type);
                    Value y = convertElement(b, right.load(b, row, col), type);
                    return multiplyAdd(b, x, y, sum);
                  });
}

/// Returns the same sum by chunks, in f32. Requires rows that are aligned to the bytes of a chunk.
static Value multiplyChunks(ImplicitLocOpBuilder &b, const MatrixView &left,
                            const MatrixView &right, Value row, Value lane) {
  Value first = Int(b, lane) * chunkElements;
  Value sums = emitFold(b, first, left.cols, indexConstant(b, warpSize * chunkElements),
                        zeroChunk(b, b.getF32Type(), chunkElements),
                        [&](ImplicitLocOpBuilder &b, Value col, Value sum) {
                          Value x = widenChunk(b, loadChunk(b, left, row, col, chunkElements));
                          Value y = widenChunk(b, loadChunk(b, right, row, col, chunkElements));
                          return fusedMultiplyAdd(b, x, y, sum);
                        });
  return foldChunk(b, sums, sumOf);
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
        Value inChunks = areAligned(b, op, mapping);
        Value own = emitChoice(
            b, inChunks,
            [&](ImplicitLocOpBuilder &b) { return multiplyChunks(b, out, dout, index[2], lane); },
            [&](ImplicitLocOpBuilder &b) {
              return multiplyElements(b, out, dout, index[2], lane, type);
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
