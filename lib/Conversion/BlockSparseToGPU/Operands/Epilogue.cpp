// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Epilogue.h"

#include "../../Device/DeviceMath.h"
#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../KernelBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// Returns the factor of x in act(x) = x * factor(x); for the sigmoid, act(x) itself.
static Value emitGate(ImplicitLocOpBuilder &b, ActivationKind kind, Value x, Accuracy accuracy) {
  Type type = x.getType();
  auto constant = [&](double value) { return floatConstant(b, type, value); };
  switch (kind) {
  case ActivationKind::GeluErf: {
    Value argument = mulNumbers(b, x, constant(-0.70710678118654752440));
    return mulNumbers(b, deviceErfc(b, argument, accuracy), constant(0.5));
  }
  case ActivationKind::GeluTanh: {
    Value cube = mulNumbers(b, mulNumbers(b, x, x), x);
    Value sum = multiplyAdd(b, cube, constant(0.044715), x);
    // (1 + tanh z) / 2 is the sigmoid of 2 z, which loses nothing far below 0.
    return deviceSigmoid(b, mulNumbers(b, sum, constant(2 * 0.79788456080286535588)), accuracy);
  }
  case ActivationKind::GeluQuick:
    return deviceSigmoid(b, mulNumbers(b, x, constant(1.702)), accuracy);
  default:
    return deviceSigmoid(b, x, accuracy);
  }
}

Value mlir::blocksparse::device::emitActivation(ImplicitLocOpBuilder &b, ActivationKind kind,
                                                double slope, Value x, Accuracy accuracy) {
  Type type = x.getType();
  Value zero = zeroElement(b, type);
  if (kind == ActivationKind::None)
    return x;
  if (!isa<FloatType>(type))
    return arith::MaxSIOp::create(b, x, zero);
  Value negative = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, zero);
  if (kind == ActivationKind::Relu)
    return arith::SelectOp::create(b, negative, zero, x);
  if (kind == ActivationKind::LeakyRelu)
    return arith::SelectOp::create(b, negative, mulNumbers(b, x, floatConstant(b, type, slope)), x);
  Value gate = emitGate(b, kind, x, accuracy);
  if (kind == ActivationKind::Sigmoid)
    return gate;
  Value minusInfinity = floatConstant(b, type, -std::numeric_limits<double>::infinity());
  Value lowest = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, minusInfinity);
  return arith::SelectOp::create(b, lowest, zero, mulNumbers(b, x, gate));
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Lists the operands in the order in which kernels receive them.
static constexpr Epilogue::Operand inOperandOrder[] = {
    Epilogue::Input,    Epilogue::LeftAlpha,    Epilogue::RightAlpha, Epilogue::Bias,
    Epilogue::Residual, Epilogue::DynamicAlpha, Epilogue::DynamicBeta};

Value Epilogue::operandOf(PlannedDSDOp op, Operand which) {
  switch (which) {
  case LeftAlpha:
    return op.getLeftAlpha();
  case RightAlpha:
    return op.getRightAlpha();
  case Input:
    return op.getBeta().isZero() ? Value() : op.getInput();
  case Bias:
    return op.getBias();
  case Residual:
    return op.getResidual();
  case DynamicAlpha:
    return op.getDynamicAlpha();
  case DynamicBeta:
    return op.getDynamicBeta();
  }
  return Value();
}

SmallVector<Value> Epilogue::operands(PlannedDSDOp op) {
  return presentOperands(
      llvm::map_to_vector(inOperandOrder, [&](Operand which) { return operandOf(op, which); }));
}

SmallVector<Value> Epilogue::operands(PlannedMatmulOp op) {
  return presentOperands({op.getBias(), op.getResidual(), op.getDynamicAlpha()});
}

static bool changesNothing(const llvm::APFloat &alpha, std::optional<ActivationAttr> activation) {
  return alpha.isExactlyValue(1.0) &&
         (!activation || activation->getKind() == ActivationKind::None);
}

bool Epilogue::isTrivial(PlannedDSDOp op) {
  return operands(op).empty() && changesNothing(op.getAlpha(), op.getActivation());
}

bool Epilogue::isTrivial(PlannedMatmulOp op) {
  return operands(op).empty() && changesNothing(op.getAlpha(), op.getActivation());
}

/// Returns the axes of an operand. The axis of a vector is its last one.
static DenseAxes axesOf(Epilogue::Operand which, int64_t rank) {
  if (which == Epilogue::DynamicAlpha || which == Epilogue::DynamicBeta)
    return DenseAxes();
  if (which == Epilogue::LeftAlpha)
    return DenseAxes::ofRowVectors(rank);
  if (which == Epilogue::RightAlpha || which == Epilogue::Bias)
    return DenseAxes::ofColumnVectors(rank);
  return DenseAxes::ofMatrices(rank);
}

static Epilogue::OperandKind kindOf(MemRefType type, DenseAxes axes) {
  if (type.getRank() == 0)
    return Epilogue::OperandKind::Scalar;
  if (axes.col < 0 || type.getDimSize(axes.col) == 1)
    return Epilogue::OperandKind::Row;
  return axes.row < 0 ? Epilogue::OperandKind::Column : Epilogue::OperandKind::Matrix;
}

std::optional<Epilogue::OperandKind> Epilogue::kindOf(PlannedDSDOp op, Operand which) {
  Value operand = operandOf(op, which);
  if (!operand)
    return std::nullopt;
  auto type = cast<MemRefType>(operand.getType());
  return ::kindOf(type, axesOf(which, type.getRank()));
}

/// Adds an operand, which may be null.
void Epilogue::bind(ImplicitLocOpBuilder &b, Operand which, Value operand, bool headsBehindRows) {
  if (!operand)
    return;
  auto type = cast<MemRefType>(operand.getType());
  DenseAxes axes = axesOf(which, type.getRank());
  if (headsBehindRows)
    std::swap(axes.head, axes.row);
  bound[which] = BoundOperand{DenseView::get(b, operand, axes), ::kindOf(type, axes)};
}

void Epilogue::bind(std::optional<ActivationAttr> attr) {
  if (!attr)
    return;
  activation = attr->getKind();
  slope = attr->getSlope().convertToDouble();
}

Epilogue Epilogue::get(ImplicitLocOpBuilder &b, PlannedDSDOp op, const IRMapping &mapping) {
  Epilogue epilogue;
  epilogue.formula.alpha = op.getAlpha().convertToDouble();
  epilogue.formula.beta = op.getBeta().convertToDouble();
  for (Operand which : inOperandOrder)
    epilogue.bind(b, which, mapOperand(mapping, operandOf(op, which)));
  epilogue.bind(op.getActivation());
  return epilogue;
}

Epilogue Epilogue::get(ImplicitLocOpBuilder &b, PlannedMatmulOp op, const IRMapping &mapping,
                       bool byRole) {
  bool headsBehindRows = byRole && op.getForm() == MatmulForm::Context;
  Epilogue epilogue;
  epilogue.formula.alpha = op.getAlpha().convertToDouble();
  epilogue.bind(b, Bias, mapOperand(mapping, op.getBias()), headsBehindRows);
  epilogue.bind(b, Residual, mapOperand(mapping, op.getResidual()), headsBehindRows);
  epilogue.bind(b, DynamicAlpha, mapOperand(mapping, op.getDynamicAlpha()));
  epilogue.bind(op.getActivation());
  return epilogue;
}

Value mlir::blocksparse::device::dropZero(ImplicitLocOpBuilder &b, Value factor, Value term) {
  return arith::SelectOp::create(b, isZero(b, factor), zeroElement(b, term.getType()), term);
}

Value mlir::blocksparse::device::loadFactor(ImplicitLocOpBuilder &b, Value memref) {
  return memref::LoadOp::create(b, memref, ValueRange());
}

Value mlir::blocksparse::device::scaleBy(ImplicitLocOpBuilder &b, Value factor, Value term) {
  return dropZero(b, factor, mulNumbers(b, factor, term));
}

namespace {

/// Emits the operations of an epilogue on one accumulator.
struct ElementEmitter {
  ImplicitLocOpBuilder &b;
  Type type;
  const std::array<std::optional<Epilogue::BoundOperand>, Epilogue::numOperands> &bound;
  function_ref<Value(Epilogue::Operand)> element;
  Value hasProducts;
  function_ref<Value(Value)> activation;

  bool has(Epilogue::Operand which) const { return bound[which].has_value(); }
  Value load(Epilogue::Operand which) const { return convertElement(b, element(which), type); }
  Value zero() const { return zeroElement(b, type); }
  Value scale(double factor, Value t) const {
    return mulNumbers(b, numberConstant(b, type, factor), t);
  }
  Value multiply(Value a, Value t) const { return mulNumbers(b, a, t); }
  Value dropZero(Value factor, Value t) const { return device::dropZero(b, factor, t); }
  Value dropEmpty(Value t) const { return b.createOrFold<arith::SelectOp>(hasProducts, t, zero()); }
  Value addScaled(Value t, double beta, Value x) const {
    return beta == 1 ? add(t, x) : multiplyAdd(b, numberConstant(b, type, beta), x, t);
  }
  Value add(Value t, Value x) const { return addNumbers(b, t, x); }
  Value activate(Value t) const { return activation(t); }
};

} // namespace

Value Epilogue::combine(ImplicitLocOpBuilder &b, Value sum, Value hasProducts,
                        function_ref<Value(Operand)> element, Accuracy accuracy) const {
  auto activate = [&](Value t) { return emitActivation(b, activation, slope, t, accuracy); };
  return formula.emit(ElementEmitter{b, sum.getType(), bound, element, hasProducts, activate}, sum);
}

Value Epilogue::apply(ImplicitLocOpBuilder &b, Value sum, Value hasProducts,
                      const StoredPosition &position) const {
  return combine(b, sum, hasProducts, [&](Operand which) {
    MatrixView matrix = bound[which]->view.matrix(b, position.batch, position.head);
    return matrix.load(b, position.row, position.col);
  });
}
