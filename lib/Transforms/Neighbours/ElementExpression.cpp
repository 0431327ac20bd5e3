// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Transforms/Neighbours/ElementExpression.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blocksparse;

using Kind = ElementExpression::Kind;

/// The largest number of operations that a tensor's expression is made of. One that is shared
/// counts each time.
static constexpr unsigned maxSteps = 1024;

static bool isScalarOperation(Operation &op) {
  return isa<arith::ConstantOp, linalg::YieldOp>(op) ||
         (OpTrait::hasElementwiseMappableTraits(&op) && op.getNumRegions() == 0 &&
          op.getNumResults() == 1);
}

bool mlir::blocksparse::isElementwiseComputation(Operation *op) {
  if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return OpTrait::hasElementwiseMappableTraits(op) && op->getNumRegions() == 0;
  return structured.hasPureTensorSemantics() &&
         structured.getNumParallelLoops() == structured.getNumLoops() &&
         structured.getMatchingIndexingMap(structured.getDpsInitOperand(0)).isIdentity() &&
         llvm::all_of(*structured.getBlock(), isScalarOperation);
}

Expression ElementExpressions::add(ElementExpression expression) {
  for (const ElementExpression &other : all)
    if (other.kind == expression.kind && other.number == expression.number &&
        other.spacing == expression.spacing && other.operand == expression.operand &&
        other.map == expression.map && other.operands == expression.operands &&
        (other.op == expression.op ||
         (other.op && expression.op && other.op->getName() == expression.op->getName() &&
          other.op->getRawDictionaryAttrs() == expression.op->getRawDictionaryAttrs() &&
          other.op->getPropertiesAsAttribute() == expression.op->getPropertiesAsAttribute())))
      return &other;
  all.push_back(std::move(expression));
  return &all.back();
}

Expression ElementExpressions::getConstant(Attribute number) {
  ElementExpression constant;
  constant.kind = Kind::Constant;
  if (auto real = dyn_cast<FloatAttr>(number)) {
    constant.number = real.getValueAsDouble();
    constant.spacing = std::ldexp(
        1.0, 1 - static_cast<int>(APFloat::semanticsPrecision(real.getValue().getSemantics())));
  } else if (auto integer = dyn_cast<IntegerAttr>(number)) {
    constant.number = static_cast<double>(integer.getValue().getSExtValue());
  } else {
    return nullptr;
  }
  return add(std::move(constant));
}

Expression ElementExpressions::getOperand(Value operand, AffineMap map) {
  while (auto broadcast = operand.getDefiningOp<linalg::LinalgOp>()) {
    if (!isElementwiseComputation(broadcast))
      break;
    auto source = dyn_cast<BlockArgument>(broadcast.getBlock()->getTerminator()->getOperand(0));
    if (!source || source.getOwner() != broadcast.getBlock())
      break;
    OpOperand &input = broadcast->getOpOperand(source.getArgNumber());
    if (!isa<RankedTensorType>(input.get().getType()))
      return getScalar(input.get(), nullptr, map);
    map = broadcast.getMatchingIndexingMap(&input).compose(map);
    operand = input.get();
  }
  if (auto splat = operand.getDefiningOp<tensor::SplatOp>())
    return getScalar(splat.getInput(), nullptr, map);
  ElementsAttr elements;
  if (matchPattern(operand, m_Constant(&elements)) && !elements.empty() && elements.isSplat())
    return getConstant(elements.getSplatValue<Attribute>());
  ElementExpression expression;
  expression.kind = Kind::Operand;
  expression.operand = operand;
  expression.map = map;
  return add(std::move(expression));
}

Expression ElementExpressions::getOperation(Operation *op, ArrayRef<Expression> operands) {
  if (llvm::is_contained(operands, nullptr))
    return nullptr;
  const bool usesProduct = llvm::any_of(operands, [](Expression e) { return e->usesProduct; });
  if (isa<arith::ExtFOp>(op) || (isa<arith::TruncFOp>(op) && usesProduct))
    return operands.front();
  ElementExpression expression;
  expression.kind = Kind::Operation;
  expression.op = op;
  expression.operands.assign(operands.begin(), operands.end());
  expression.usesProduct = usesProduct;
  return add(std::move(expression));
}

/// Returns a scalar's expression: one in the body of the operation `structured`, whose loops are at
/// `map` of the product's indices, or one from outside.
Expression ElementExpressions::getScalar(Value scalar, Operation *structured, AffineMap map) {
  if (++steps > maxSteps)
    return nullptr;
  Attribute number;
  if (matchPattern(scalar, m_Constant(&number)))
    return getConstant(number);
  auto owner = structured ? cast<linalg::LinalgOp>(structured) : linalg::LinalgOp();
  if (auto argument = dyn_cast<BlockArgument>(scalar);
      argument && owner && argument.getOwner() == owner.getBlock()) {
    OpOperand &source = structured->getOpOperand(argument.getArgNumber());
    if (!isa<RankedTensorType>(source.get().getType()))
      return getScalar(source.get(), nullptr, map);
    return get(source.get(), owner.getMatchingIndexingMap(&source).compose(map));
  }
  Operation *op = scalar.getDefiningOp();
  if (owner && op && op->getBlock() == owner.getBlock()) {
    SmallVector<Expression> operands;
    for (Value operand : op->getOperands())
      operands.push_back(getScalar(operand, structured, map));
    return getOperation(op, operands);
  }
  ElementExpression expression;
  expression.kind = Kind::Operand;
  expression.operand = scalar;
  return add(std::move(expression));
}

Expression ElementExpressions::get(Value tensor, AffineMap map) {
  if (++steps > maxSteps)
    return nullptr;
  if (tensor == product) {
    ElementExpression expression;
    expression.usesProduct = true;
    return map.isIdentity() ? add(std::move(expression)) : nullptr;
  }
  Operation *op = tensor.getDefiningOp();
  if (!op || !inside.contains(op))
    return getOperand(tensor, map);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return getScalar(structured.getBlock()->getTerminator()->getOperand(0), op, map);
  SmallVector<Expression> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isa<RankedTensorType>(operand.getType()) ? get(operand, map)
                                                                : getScalar(operand, nullptr, map));
  return getOperation(op, operands);
}

Expression ElementExpressions::get(Value tensor) {
  steps = 0;
  const int64_t rank = cast<RankedTensorType>(product.getType()).getRank();
  if (cast<RankedTensorType>(tensor.getType()).getRank() != rank)
    return nullptr;
  return get(tensor, AffineMap::getMultiDimIdentityMap(rank, tensor.getContext()));
}
