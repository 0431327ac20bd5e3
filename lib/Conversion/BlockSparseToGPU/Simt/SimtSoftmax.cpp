// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Device/DeviceMath.h"
#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "../Operands/Epilogue.h"
#include "../Operands/SoftmaxOperands.h"
#include "SimtKernels.h"
#include "SimtRows.h"
#include "blocksparse/IR/SparseTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr double minusInfinity = -std::numeric_limits<double>::infinity();

namespace {

/// Describes a planned_softmax, on the host or in a kernel.
class SoftmaxProblem : SoftmaxOperands {
public:
  SoftmaxProblem(ImplicitLocOpBuilder &b, PlannedSoftmaxOp op, const IRMapping &mapping)
      : SoftmaxOperands(b, op, mapping), op(op), type(getAccumulatorType(x.elementType())) {}

  const RowWalk &getWalk() const { return walk; }
  const ValuesView &getResult() const { return y; }
  void emitRow(ImplicitLocOpBuilder &b, Value item, Value lane) const;

private:
  Value emitScore(ImplicitLocOpBuilder &b, const RowWalk::Row &row,
                  const RowElement &element) const;
  /// Returns i1: no mask forbids the element. Null if nothing is forbidden.
  /// Requires that the element lies in the matrix.
  Value emitAllowed(ImplicitLocOpBuilder &b, const RowWalk::Row &row,
                    const RowElement &element) const;
  Value loadMask(ImplicitLocOpBuilder &b, const SoftmaxMask &mask, const RowWalk::Row &row,
                 const RowElement &element) const {
    return mask.view.matrix(b, row.batch, row.head).load(b, row.row, element.col);
  }
  void store(ImplicitLocOpBuilder &b, const RowWalk::Row &row, const RowElement &element,
             Value result) const;
  void zeroForbidden(ImplicitLocOpBuilder &b, const RowWalk::Row &row, Value lane, Value sum) const;
  /// Returns i1: `lane` is the one that writes what the row has once.
  Value isWriter(ImplicitLocOpBuilder &b, const RowWalk::Row &row, Value lane) const {
    return both(b, indexEqual(b, lane, indexConstant(b, 0)), walk.isInside(b, row));
  }
  void emitNormalised(ImplicitLocOpBuilder &b, const RowWalk::Row &row, Value lane) const;

  PlannedSoftmaxOp op;
  Type type;
};

} // namespace

Value SoftmaxProblem::emitAllowed(ImplicitLocOpBuilder &b, const RowWalk::Row &row,
                                  const RowElement &element) const {
  Value allowed;
  auto require = [&](Value kept) { allowed = allowed ? both(b, allowed, kept) : kept; };
  for (const SoftmaxMask &mask : masks) {
    Value raw = loadMask(b, mask, row, element);
    // The comparison is in the type of the mask, because a conversion could round an element to 0.
    // f8 can't be compared.
    bool isF8 = isa<FloatType>(raw.getType()) && raw.getType().getIntOrFloatBitWidth() == 8;
    if (mask.mode == MaskMode::Add || isF8)
      raw = convertElement(b, raw, type);
    if (mask.mode == MaskMode::Add) {
      require(arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, raw,
                                    floatConstant(b, type, minusInfinity)));
    } else {
      Value one = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
      require(arith::XOrIOp::create(b, isZero(b, raw), one));
    }
  }
  auto [first, end] = positions.getColumns(b, row.batch, row.row);
  if (first)
    require(arith::CmpIOp::create(b, arith::CmpIPredicate::sge, element.col, first));
  if (end)
    require(arith::CmpIOp::create(b, arith::CmpIPredicate::slt, element.col, end));
  if (Value segment = positions.getSegment(b, row.batch, row.row)) {
    Value own = positions.getKeySegments()
                    ->matrix(b, row.batch, Value())
                    .load(b, indexConstant(b, 0), element.col);
    require(arith::CmpIOp::create(b, arith::CmpIPredicate::eq, own, segment));
  }
  return allowed;
}

/// Returns scale * x + rpe + additive masks. Returns -infinity if a mask forbids the element,
/// whatever the terms are, and in padding, which is not read.
Value SoftmaxProblem::emitScore(ImplicitLocOpBuilder &b, const RowWalk::Row &row,
                                const RowElement &element) const {
  PlannedSoftmaxOp op = this->op;
  Value lowest = floatConstant(b, type, minusInfinity);
  return emitChoice(
      b, element.inside,
      [&](ImplicitLocOpBuilder &b) -> Value {
        Value block = Int(b, x.headBase(b, row.head)) + element.valueBlock;
        Value loaded = x.block(b, row.batch, block).load(b, element.blockRow, element.blockCol);
        Value score = mulNumbers(b, convertElement(b, loaded, type),
                                 floatConstant(b, type, op.getScale().convertToDouble()));
        if (dynamicScale)
          score = mulNumbers(b, score, loadFactor(b, dynamicScale));
        if (rpe) {
          Value bias = rpe->matrix(b, row.batch, row.head).load(b, row.row, element.col);
          score = addNumbers(b, score, convertElement(b, bias, type));
        }
        for (const SoftmaxMask &mask : masks)
          if (mask.mode == MaskMode::Add)
            score = addNumbers(b, score, convertElement(b, loadMask(b, mask, row, element), type));
        Value allowed = emitAllowed(b, row, element);
        return allowed ? arith::SelectOp::create(b, allowed, score, lowest).getResult() : score;
      },
      [&](ImplicitLocOpBuilder &) { return lowest; });
}

void SoftmaxProblem::store(ImplicitLocOpBuilder &b, const RowWalk::Row &row,
                           const RowElement &element, Value result) const {
  Value block = Int(b, y.headBase(b, row.head)) + element.valueBlock;
  y.block(b, row.batch, block)
      .store(b, convertElement(b, result, y.elementType()), element.blockRow, element.blockCol);
}

/// Writes 0 over the forbidden elements of a row whose sum, or whose known log-sum-exp, is NaN:
/// they have become NaN as well.
void SoftmaxProblem::zeroForbidden(ImplicitLocOpBuilder &b, const RowWalk::Row &row, Value lane,
                                   Value sum) const {
  PlannedSoftmaxOp op = this->op;
  if (!op.mayForbid())
    return;
  Value poisoned = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, sum, sum);
  emitIf(b, poisoned, [&](ImplicitLocOpBuilder &b) {
    walk.forEach(b, row, lane, [&](ImplicitLocOpBuilder &b, const RowElement &element) {
      emitIf(b, element.inside, [&](ImplicitLocOpBuilder &b) {
        Value one = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
        Value forbidden = arith::XOrIOp::create(b, emitAllowed(b, row, element), one);
        emitIf(b, forbidden, [&](ImplicitLocOpBuilder &b) {
          store(b, row, element, zeroElement(b, y.elementType()));
        });
      });
    });
  });
}

/// Emits a row whose log-sum-exp is known: nothing is reduced.
void SoftmaxProblem::emitNormalised(ImplicitLocOpBuilder &b, const RowWalk::Row &row,
                                    Value lane) const {
  auto [known, shift] = emitKnownRow(b, row, walk.isInside(b, row), type);
  walk.forEach(b, row, lane, [&](ImplicitLocOpBuilder &b, const RowElement &element) {
    Value power = deviceExp(b, subNumbers(b, emitScore(b, row, element), shift));
    store(b, row, element, arith::SelectOp::create(b, element.inside, power, zeroElement(b, type)));
  });
  zeroForbidden(b, row, lane, known);
  if (lse)
    storeLogSumExp(b, row, isWriter(b, row, lane), known);
}

void SoftmaxProblem::emitRow(ImplicitLocOpBuilder &b, Value item, Value lane) const {
  RowWalk::Row row = walk.getRow(b, item);
  if (knownLse)
    return emitNormalised(b, row, lane);
  Value lowest = floatConstant(b, type, minusInfinity), zero = zeroElement(b, type);
  Value maximum = walk.fold(b, row, lane, lowest,
                            [&](ImplicitLocOpBuilder &b, const RowElement &element, Value carried) {
                              return maxNumbers(b, carried, emitScore(b, row, element));
                            });
  maximum = reduceWarp(b, maximum, maxNumbers);
  // If no element is allowed, every power is e^-infinity, the sum 0 and its logarithm -infinity.
  Value empty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, maximum, lowest);
  Value shift = arith::SelectOp::create(b, empty, zero, maximum);
  auto emitPower = [&](ImplicitLocOpBuilder &b, const RowElement &element) {
    return deviceExp(b, subNumbers(b, emitScore(b, row, element), shift));
  };
  Value sum = walk.fold(b, row, lane, zero,
                        [&](ImplicitLocOpBuilder &b, const RowElement &element, Value carried) {
                          return addNumbers(b, carried, emitPower(b, element));
                        });
  sum = reduceWarp(b, sum, addNumbers);
  Value divisor = arith::SelectOp::create(b, empty, floatConstant(b, type, 1), sum);
  walk.forEach(b, row, lane, [&](ImplicitLocOpBuilder &b, const RowElement &element) {
    Value power = emitPower(b, element);
    Value quotient = arith::DivFOp::create(b, power, divisor);
    // Padding stays 0 in a row that is NaN.
    store(b, row, element, arith::SelectOp::create(b, element.inside, quotient, zero));
  });
  zeroForbidden(b, row, lane, sum);
  if (lse)
    storeLogSumExp(b, row, isWriter(b, row, lane), addNumbers(b, shift, deviceLog(b, sum)));
}

void mlir::blocksparse::device::emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                         PlannedSoftmaxOp op) {
  launchForRows<SoftmaxProblem>(host, kernels, "softmax", op, SoftmaxOperands::list(op));
}

void mlir::blocksparse::device::emitSimtSpareBlocks(ImplicitLocOpBuilder &host,
                                                    KernelBuilder &kernels, PlannedSoftmaxOp op) {
  launchForSpareBlocks<SoftmaxProblem>(host, kernels, "softmax_spare", op,
                                       SoftmaxOperands::list(op));
}
