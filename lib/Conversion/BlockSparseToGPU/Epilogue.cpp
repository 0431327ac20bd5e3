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
static Value emitGate(ImplicitLocOpBuilder &b, ActivationKind kind, Value x) {
  Type type = x.getType();
  auto constant = [&](double value) { return floatConstant(b, type, value); };
  switch (kind) {
  case ActivationKind::GeluErf: {
    Value argument = mulNumbers(b, x, constant(-0.70710678118654752440));
    return mulNumbers(b, deviceErfc(b, argument), constant(0.5));
  }
  case ActivationKind::GeluTanh: {
    Value cube = mulNumbers(b, mulNumbers(b, x, x), x);
    Value sum = multiplyAdd(b, cube, constant(0.044715), x);
    // (1 + tanh z) / 2 is the sigmoid of 2 z, which loses nothing far below 0.
    return deviceSigmoid(b, mulNumbers(b, sum, constant(2 * 0.79788456080286535588)));
  }
  case ActivationKind::GeluQuick:
    return deviceSigmoid(b, mulNumbers(b, x, constant(1.702)));
  default:
    return deviceSigmoid(b, x);
  }
}

Value mlir::blocksparse::device::emitActivation(ImplicitLocOpBuilder &b, ActivationKind kind,
                                                double slope, Value x) {
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
  Value gate = emitGate(b, kind, x);
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

/// The vectors among the terms; their last axis is the one meant.
static std::optional<DenseView> getColumnTerm(ImplicitLocOpBuilder &b, const IRMapping &mapping,
                                              Value value) {
  if (!value)
    return std::nullopt;
  int64_t rank = cast<MemRefType>(value.getType()).getRank();
  return DenseView::get(b, mapOperand(mapping, value), DenseAxes::ofColumnVectors(rank));
}

static std::optional<DenseView> getRowTerm(ImplicitLocOpBuilder &b, const IRMapping &mapping,
                                           Value value) {
  if (!value)
    return std::nullopt;
  int64_t rank = cast<MemRefType>(value.getType()).getRank();
  return DenseView::get(b, mapOperand(mapping, value), DenseAxes::ofRowVectors(rank));
}

static std::optional<DenseView> getMatrixTerm(ImplicitLocOpBuilder &b, const IRMapping &mapping,
                                              Value value) {
  if (!value)
    return std::nullopt;
  return DenseView::get(b, mapOperand(mapping, value));
}

void Epilogue::bind(ImplicitLocOpBuilder &b, const IRMapping &mapping, Value biasOperand,
                    Value residualOperand, std::optional<ActivationAttr> attr) {
  bias = getColumnTerm(b, mapping, biasOperand);
  residual = getMatrixTerm(b, mapping, residualOperand);
  if (attr) {
    activation = attr->getKind();
    slope = attr->getSlope().convertToDouble();
  }
}

Epilogue Epilogue::get(ImplicitLocOpBuilder &b, PlannedDSDOp op, const IRMapping &mapping) {
  Epilogue epilogue;
  epilogue.alpha = op.getAlpha().convertToDouble();
  epilogue.beta = op.getBeta().convertToDouble();
  if (epilogue.beta != 0)
    epilogue.input = getMatrixTerm(b, mapping, op.getInput());
  epilogue.leftAlpha = getRowTerm(b, mapping, op.getLeftAlpha());
  epilogue.rightAlpha = getColumnTerm(b, mapping, op.getRightAlpha());
  epilogue.bind(b, mapping, op.getBias(), op.getResidual(), op.getActivation());
  return epilogue;
}

Epilogue Epilogue::get(ImplicitLocOpBuilder &b, PlannedMatmulOp op, const IRMapping &mapping) {
  Epilogue epilogue;
  epilogue.alpha = op.getAlpha().convertToDouble();
  epilogue.bind(b, mapping, op.getBias(), op.getResidual(), op.getActivation());
  return epilogue;
}

Value Epilogue::apply(ImplicitLocOpBuilder &b, Value sum, Value hasProducts,
                      const StoredPosition &position) const {
  Type type = sum.getType();
  auto load = [&](const DenseView &view) {
    MatrixView matrix = view.matrix(b, position.batch, position.head);
    return convertElement(b, matrix.load(b, position.row, position.col), type);
  };
  Value t = sum;
  if (alpha != 1)
    t = mulNumbers(b, numberConstant(b, type, alpha), t);
  if (leftAlpha)
    t = mulNumbers(b, load(*leftAlpha), t);
  if (rightAlpha)
    t = mulNumbers(b, t, load(*rightAlpha));
  t = b.createOrFold<arith::SelectOp>(hasProducts, t, zeroElement(b, type));
  if (input) {
    Value element = load(*input);
    t = beta == 1 ? addNumbers(b, t, element)
                  : multiplyAdd(b, numberConstant(b, type, beta), element, t);
  }
  if (bias)
    t = addNumbers(b, t, load(*bias));
  t = emitActivation(b, activation, slope, t);
  return residual ? addNumbers(b, t, load(*residual)) : t;
}
