// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers elementwise linalg.generic to vector loops along the last axis, on threads.

#include "ElementwiseToCPU.h"
#include "../ElementwiseBody.h"
#include "../LoopView.h"
#include "ElementConversion.h"
#include "VectorAccess.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::blocksparse;

/// Number of elements of a row that a task computes at most.
static constexpr int64_t taskElements = 8192;

static unsigned bitsOf(Type element) {
  return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
}

namespace {

/// Holds the operands of a loop nest, and what its kernels share.
struct ElementwiseLoops {
  linalg::GenericOp op;
  SmallVector<LoopView> operands;
  /// Extents of the loops without the last one, and of the last one.
  SmallVector<Value> outer;
  Value length;
  /// Number of lanes of a vector; 0 if elements are computed one by one.
  int64_t width = 0;

  /// Returns true if the body or a caller reads operand `i`.
  bool isRead(size_t i) {
    OpOperand &operand = op->getOpOperand(i);
    return !op.isDpsInit(&operand) || op.payloadUsesValueFromOperand(&operand);
  }
};

} // namespace

/// Returns the number of lanes that fit the widest element. Vectors of i1 are packed bits, which
/// memory does not have.
static int64_t getWidth(linalg::GenericOp op, int64_t vectorBits) {
  unsigned bits = 8;
  for (Type type : op->getOperandTypes()) {
    Type element = cast<MemRefType>(type).getElementType();
    if (element.isInteger(1))
      return 0;
    bits = std::max(bits, bitsOf(element));
  }
  for (Operation &inner : *op.getBlock()) {
    // LLVM has no powers of vectors by vectors of integers.
    if (isa<math::FPowIOp>(inner))
      return 0;
    for (Type type : inner.getResultTypes())
      bits = std::max(bits, bitsOf(type));
  }
  auto out = cast<MemRefType>(op.getDpsInits().front().getType());
  int64_t length = out.getRank() == 0 ? 1 : out.getShape().back();
  if (ShapedType::isDynamic(length))
    length = taskElements;
  int64_t width = chooseWidth(length, bits, vectorBits, ScheduleAttr());
  return width > length || width < 2 ? 0 : width;
}

/// Computes the elements [begin, end) of the rows at `outer`, `width` at a time (0: one by one).
static void emitRow(ImplicitLocOpBuilder &b, ElementwiseLoops &loops, ValueRange outer, Value begin,
                    Value end, int64_t width) {
  Value zero = indexConstant(b, 0);
  VectorAccess access{width, /*unitStride=*/true};
  SmallVector<MatrixView> rows;
  for (const LoopView &operand : loops.operands)
    rows.push_back(operand.row(b, outer, loops.length));
  auto column = [&](const MatrixView &row, Value at) { return row.broadcastsColumns ? zero : at; };
  const ElementwiseTarget target{
      convertElements, [](ImplicitLocOpBuilder &, Operation *, ValueRange) { return Value(); }};
  emitLoop(b, begin, end, std::max<int64_t>(width, 1), [&](ImplicitLocOpBuilder &b, Value at) {
    SmallVector<Value> elements;
    for (auto [i, row] : llvm::enumerate(rows)) {
      if (!loops.isRead(i))
        elements.emplace_back();
      else if (width == 0)
        elements.push_back(row.load(b, zero, column(row, at)));
      else if (row.broadcastsColumns)
        elements.push_back(splat(b, row.load(b, zero, zero), width));
      else
        elements.push_back(access.load(b, row, zero, at, Value()));
    }
    SmallVector<Value> results =
        emitElementwiseBody(b, loops.op, elements, width, IRMapping(), target);
    size_t inputs = loops.op.getNumDpsInputs();
    for (auto [i, result] : llvm::enumerate(results)) {
      const MatrixView &row = rows[inputs + i];
      if (width == 0)
        row.store(b, result, zero, at);
      else
        access.store(b, result, row, zero, at, Value());
    }
  });
}

static void emitKernel(ImplicitLocOpBuilder &b, ElementwiseLoops &loops, int64_t width) {
  SmallVector<Value> extents = loops.outer;
  Value task = indexConstant(b, taskElements);
  extents.push_back(b.createOrFold<arith::CeilDivUIOp>(loops.length, task));
  emitParallel(b, extents, [&](ImplicitLocOpBuilder &b, ValueRange at) {
    Value begin = Int(b, at.back()) * taskElements;
    Value end = indexMin(b, Int(b, begin) + task, loops.length);
    ValueRange outer = at.drop_back();
    if (width == 0)
      return emitRow(b, loops, outer, begin, end, 0);
    Value lanes = indexConstant(b, width);
    Value rest = b.createOrFold<arith::RemUIOp>(Int(b, end) - begin, lanes);
    Value last = Int(b, end) - rest;
    emitRow(b, loops, outer, begin, last, width);
    if (knownIndex(rest) != 0)
      emitRow(b, loops, outer, last, end, 0);
  });
}

bool mlir::blocksparse::lowerElementwise(ImplicitLocOpBuilder &b, linalg::GenericOp op,
                                         const CPULoweringOptions &options) {
  if (!findElementwiseFault(op, [](Operation *) { return true; }).empty())
    return false;
  ElementwiseLoops loops{op, {}, {}, {}, getWidth(op, options.vectorBits)};
  SmallVector<Value> unitStrides;
  for (OpOperand &operand : op->getOpOperands()) {
    loops.operands.push_back(LoopView::get(b, operand.get(), op.getMatchingIndexingMap(&operand)));
    unitStrides.push_back(loops.operands.back().hasUnitStride(b));
  }
  Value out = op.getDpsInits().front();
  int64_t rank = op.getNumLoops();
  for (int64_t axis = 0; axis + 1 < rank; ++axis)
    loops.outer.push_back(memrefDim(b, out, axis));
  loops.length = rank == 0 ? indexConstant(b, 1) : memrefDim(b, out, rank - 1);
  if (loops.width == 0)
    emitKernel(b, loops, 0);
  else
    emitVersions(b, unitStrides, [&](ImplicitLocOpBuilder &b, bool isContiguous) {
      emitKernel(b, loops, isContiguous ? loops.width : 0);
    });
  return true;
}
