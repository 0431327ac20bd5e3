// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Epilogue.h"

#include "DeviceMath.h"
#include "Elements.h"
#include "KernelBuilder.h"
#include "Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// The factor of x in x * factor(x); for the sigmoid, the result.
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
// Terms
//===----------------------------------------------------------------------===//

SmallVector<Value> Epilogue::operands(PlannedDSDOp op) {
  bool readsInput = !op.getBeta().isZero();
  return presentOperands({readsInput ? op.getInput() : Value(), op.getLeftAlpha(),
                          op.getRightAlpha(), op.getBias(), op.getResidual()});
}

SmallVector<Value> Epilogue::operands(PlannedMatmulOp op) {
  return presentOperands({op.getBias(), op.getResidual()});
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

/// `operand` may be null.
void Epilogue::bind(ImplicitLocOpBuilder &b, Term term, Value operand, bool headsBehindRows) {
  if (!operand)
    return;
  int64_t rank = cast<MemRefType>(operand.getType()).getRank();
  // The axis of a vector is its last one.
  DenseAxes axes = DenseAxes::ofMatrices(rank);
  TermKind kind = TermKind::Matrix;
  if (term == LeftAlpha) {
    axes = DenseAxes::ofRowVectors(rank);
    kind = TermKind::Row;
  } else if (term == RightAlpha || term == Bias) {
    axes = DenseAxes::ofColumnVectors(rank);
    kind = headsBehindRows && rank > 1 ? TermKind::Matrix : TermKind::Column;
  }
  if (headsBehindRows)
    std::swap(axes.head, axes.row);
  DenseView view = DenseView::get(b, operand, axes);
  terms[term] = TermView{view, view.broadcastsColumns() ? TermKind::Row : kind};
}

void Epilogue::bind(std::optional<ActivationAttr> attr) {
  if (!attr)
    return;
  activation = attr->getKind();
  slope = attr->getSlope().convertToDouble();
}

Epilogue Epilogue::get(ImplicitLocOpBuilder &b, PlannedDSDOp op, const IRMapping &mapping) {
  Epilogue epilogue;
  epilogue.alpha = op.getAlpha().convertToDouble();
  epilogue.beta = op.getBeta().convertToDouble();
  if (epilogue.beta != 0)
    epilogue.bind(b, Input, mapOperand(mapping, op.getInput()));
  epilogue.bind(b, LeftAlpha, mapOperand(mapping, op.getLeftAlpha()));
  epilogue.bind(b, RightAlpha, mapOperand(mapping, op.getRightAlpha()));
  epilogue.bind(b, Bias, mapOperand(mapping, op.getBias()));
  epilogue.bind(b, Residual, mapOperand(mapping, op.getResidual()));
  epilogue.bind(op.getActivation());
  return epilogue;
}

Epilogue Epilogue::get(ImplicitLocOpBuilder &b, PlannedMatmulOp op, const IRMapping &mapping,
                       bool byRole) {
  bool headsBehindRows = byRole && op.getForm() == MatmulForm::Context;
  Epilogue epilogue;
  epilogue.alpha = op.getAlpha().convertToDouble();
  epilogue.bind(b, Bias, mapOperand(mapping, op.getBias()), headsBehindRows);
  epilogue.bind(b, Residual, mapOperand(mapping, op.getResidual()), headsBehindRows);
  epilogue.bind(op.getActivation());
  return epilogue;
}

Value Epilogue::combine(ImplicitLocOpBuilder &b, Value sum, Value hasProducts,
                        function_ref<Value(Term)> element, Accuracy accuracy) const {
  Type type = sum.getType();
  auto load = [&](Term term) { return convertElement(b, element(term), type); };
  Value t = sum;
  if (alpha != 1)
    t = mulNumbers(b, numberConstant(b, type, alpha), t);
  if (terms[LeftAlpha])
    t = mulNumbers(b, load(LeftAlpha), t);
  if (terms[RightAlpha])
    t = mulNumbers(b, t, load(RightAlpha));
  t = b.createOrFold<arith::SelectOp>(hasProducts, t, zeroElement(b, type));
  if (terms[Input]) {
    Value input = load(Input);
    t = beta == 1 ? addNumbers(b, t, input)
                  : multiplyAdd(b, numberConstant(b, type, beta), input, t);
  }
  if (terms[Bias])
    t = addNumbers(b, t, load(Bias));
  t = emitActivation(b, activation, slope, t, accuracy);
  return terms[Residual] ? addNumbers(b, t, load(Residual)) : t;
}

Value Epilogue::apply(ImplicitLocOpBuilder &b, Value sum, Value hasProducts,
                      const StoredPosition &position) const {
  return combine(b, sum, hasProducts, [&](Term term) {
    MatrixView matrix = terms[term]->view.matrix(b, position.batch, position.head);
    return matrix.load(b, position.row, position.col);
  });
}
