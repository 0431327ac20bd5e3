// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rules of conversions, of reshapes and of elementwise operations, and what the other rules compute
// element by element.

#include "GradientRules.h"
#include "blocksparse/IR/SparseTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numbers>

using namespace mlir;
using namespace mlir::blocksparse;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

void GradientBuilder::addCotangent(Value value, Value term) {
  Value &sum = cotangents[value];
  if (!sum)
    sum = term;
  else if (tensorType(value).getEncoding())
    sum = AddOp::create(*this, value.getType(), sum, term, /*dynamic_alpha=*/Value(),
                        /*dynamic_beta=*/Value(), llvm::APFloat(1.0), llvm::APFloat(1.0),
                        ScheduleAttr());
  else
    sum = arith::AddFOp::create(*this, sum, term);
}

Value mlir::blocksparse::asElement(ImplicitLocOpBuilder &b, Value tensor, Type element) {
  RankedTensorType type = tensorType(tensor);
  if (type.getElementType() == element)
    return tensor;
  auto converted = RankedTensorType::get(type.getShape(), element, type.getEncoding());
  if (type.getElementType().getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, converted, tensor);
  return arith::TruncFOp::create(b, converted, tensor);
}

Value mlir::blocksparse::scaleSparse(ImplicitLocOpBuilder &b, Value sparse,
                                     const llvm::APFloat &factor, Value operand) {
  if (factor.isExactlyValue(1) && !operand)
    return sparse;
  return AddOp::create(b, sparse.getType(), sparse, sparse, operand, /*dynamic_beta=*/Value(),
                       factor, llvm::APFloat(0.0), ScheduleAttr());
}

Value mlir::blocksparse::factorOf(GradientBuilder &b, Value operand) {
  return operand ? b.getPrimal(operand) : Value();
}

LogicalResult mlir::blocksparse::checkFactor(Operation *op, GradientBuilder &b, Value factor,
                                             StringRef name) {
  if (!factor || !b.isWanted(factor))
    return success();
  return op->emitError("expects an operand ")
         << name << " without a gradient, such as one that tensor.from_elements makes of a number, "
         << "but got one that depends on a tensor that the function is differentiated by";
}

Value mlir::blocksparse::createZeros(ImplicitLocOpBuilder &b, Value like) {
  RankedTensorType type = tensorType(like);
  if (type.getEncoding())
    return scaleSparse(b, like, llvm::APFloat(0.0));
  Value zero = arith::ConstantOp::create(b, b.getFloatAttr(type.getElementType(), 0));
  Value empty =
      tensor::EmptyOp::create(b, tensor::getMixedSizes(b, b.getLoc(), like), type.getElementType());
  return linalg::FillOp::create(b, zero, empty).getResult(0);
}

/// Converts a float to the float type `type`.
static Value convertFloat(ImplicitLocOpBuilder &b, Value value, Type type) {
  unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  return from < to ? arith::ExtFOp::create(b, type, value).getResult()
                   : arith::TruncFOp::create(b, type, value).getResult();
}

/// Returns the map from the dimensions of a tensor of rank `rank` to those of one of `type`, which
/// broadcasts to it; dimensions of extent 1 are dropped.
static AffineMap broadcastMap(ImplicitLocOpBuilder &b, RankedTensorType type, int64_t rank) {
  SmallVector<AffineExpr> dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.getDimSize(dim) != 1)
      dims.push_back(b.getAffineDimExpr(static_cast<unsigned>(rank - type.getRank() + dim)));
  return AffineMap::get(static_cast<unsigned>(rank), 0, dims, b.getContext());
}

/// Returns groups of dimensions of `type` that have one dimension of an extent other than 1 each;
/// none if every extent is 1.
static SmallVector<ReassociationIndices> groupUnits(RankedTensorType type) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices leading;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (type.getDimSize(dim) == 1) {
      (groups.empty() ? leading : groups.back()).push_back(dim);
      continue;
    }
    groups.push_back(leading);
    groups.back().push_back(dim);
    leading.clear();
  }
  return groups;
}

/// Returns a view of `tensor` without its dimensions of extent 1.
static Value dropUnits(ImplicitLocOpBuilder &b, Value tensor) {
  RankedTensorType type = tensorType(tensor);
  if (!llvm::is_contained(type.getShape(), 1))
    return tensor;
  return tensor::CollapseShapeOp::create(b, tensor, groupUnits(type));
}

Value mlir::blocksparse::mapElements(
    ImplicitLocOpBuilder &b, Value like, ValueRange inputs,
    llvm::function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> body) {
  RankedTensorType type = tensorType(like);
  Type accumulator = getAccumulatorType(type.getElementType());
  int64_t rank = type.getRank();
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (Value input : inputs) {
    bool whole = tensorType(input).getShape() == type.getShape();
    operands.push_back(whole ? input : dropUnits(b, input));
    maps.push_back(whole ? b.getMultiDimIdentityMap(static_cast<unsigned>(rank))
                         : broadcastMap(b, tensorType(input), rank));
  }
  maps.push_back(b.getMultiDimIdentityMap(static_cast<unsigned>(rank)));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  Value empty =
      tensor::EmptyOp::create(b, tensor::getMixedSizes(b, b.getLoc(), like), type.getElementType());
  return linalg::GenericOp::create(
             b, TypeRange(empty.getType()), operands, ValueRange(empty), maps, loops,
             [&](OpBuilder &builder, Location loc, ValueRange elements) {
               ImplicitLocOpBuilder inner(loc, builder);
               SmallVector<Value> wide;
               for (Value element : elements.drop_back())
                 wide.push_back(convertFloat(inner, element, accumulator));
               Value result = convertFloat(inner, body(inner, wide), type.getElementType());
               linalg::YieldOp::create(inner, result);
             })
      .getResult(0);
}

Value mlir::blocksparse::sumToShape(ImplicitLocOpBuilder &b, Value full, RankedTensorType type) {
  RankedTensorType from = tensorType(full);
  if (from == type)
    return full;
  Type accumulator = getAccumulatorType(from.getElementType());
  int64_t rank = from.getRank();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), full), kept, own;
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::reduction);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t at = rank - type.getRank() + dim;
    bool sums = type.getDimSize(dim) == 1;
    own.push_back(sums ? OpFoldResult(b.getIndexAttr(1)) : sizes[at]);
    if (sums)
      continue;
    kept.push_back(sizes[at]);
    loops[at] = utils::IteratorType::parallel;
  }
  Value zero = arith::ConstantOp::create(b, b.getFloatAttr(accumulator, 0));
  Value init =
      linalg::FillOp::create(b, zero, tensor::EmptyOp::create(b, kept, accumulator).getResult())
          .getResult(0);
  AffineMap maps[] = {b.getMultiDimIdentityMap(static_cast<unsigned>(rank)),
                      broadcastMap(b, type, rank)};
  Value sum = linalg::GenericOp::create(
                  b, TypeRange(init.getType()), ValueRange(full), ValueRange(init), maps, loops,
                  [&](OpBuilder &builder, Location loc, ValueRange elements) {
                    ImplicitLocOpBuilder inner(loc, builder);
                    Value term = convertFloat(inner, elements[0], accumulator);
                    linalg::YieldOp::create(
                        inner, arith::AddFOp::create(inner, elements[1], term).getResult());
                  })
                  .getResult(0);
  sum = asElement(b, sum, type.getElementType());
  if (tensorType(sum) == type)
    return sum;
  return tensor::ExpandShapeOp::create(b, type, sum, groupUnits(type), own);
}

/// Returns the derivative of an activation at x, in the type of x. The formulas follow
/// ::blocksparse::ref::Activation.
static Value emitSlope(ImplicitLocOpBuilder &b, ActivationAttr activation, Value x) {
  auto constant = [&](double number) -> Value {
    return arith::ConstantOp::create(b, b.getFloatAttr(x.getType(), number));
  };
  auto mul = [&](Value l, Value r) -> Value { return arith::MulFOp::create(b, l, r); };
  auto add = [&](Value l, Value r) -> Value { return arith::AddFOp::create(b, l, r); };
  auto sub = [&](Value l, Value r) -> Value { return arith::SubFOp::create(b, l, r); };
  auto sigmoid = [&](Value t) -> Value {
    Value power = math::ExpOp::create(b, arith::NegFOp::create(b, t));
    return arith::DivFOp::create(b, constant(1), add(constant(1), power));
  };
  // The derivative of t * sigmoid(factor * t).
  auto gated = [&](double factor) -> Value {
    Value s = sigmoid(mul(constant(factor), x));
    return add(s, mul(mul(constant(factor), x), mul(s, sub(constant(1), s))));
  };
  auto positive = [&](double otherwise) -> Value {
    Value hit = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, constant(0));
    return arith::SelectOp::create(b, hit, constant(1), constant(otherwise));
  };
  switch (activation.getKind()) {
  case ActivationKind::None:
    return constant(1);
  case ActivationKind::Relu:
    return positive(0);
  case ActivationKind::LeakyRelu:
    return positive(activation.getSlope().convertToDouble());
  case ActivationKind::Sigmoid: {
    Value s = sigmoid(x);
    return mul(s, sub(constant(1), s));
  }
  case ActivationKind::Silu:
    return gated(1);
  case ActivationKind::GeluQuick:
    return gated(1.702);
  case ActivationKind::GeluErf: {
    // Phi(x) + x phi(x).
    Value erf = math::ErfOp::create(b, mul(x, constant(std::numbers::sqrt2 / 2)));
    Value phi = mul(math::ExpOp::create(b, mul(constant(-0.5), mul(x, x))),
                    constant(std::numbers::inv_sqrtpi / std::numbers::sqrt2));
    return add(mul(constant(0.5), add(constant(1), erf)), mul(x, phi));
  }
  case ActivationKind::GeluTanh: {
    // With u = c (x + a x^3): (1 + tanh u) / 2 + x / 2 (1 - tanh^2 u) c (1 + 3 a x^2).
    double a = 0.044715, c = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    Value square = mul(x, x);
    Value t = math::TanhOp::create(b, mul(constant(c), add(x, mul(constant(a), mul(x, square)))));
    Value inner = mul(constant(c), add(constant(1), mul(constant(3 * a), square)));
    Value rest = mul(mul(constant(0.5), x), mul(sub(constant(1), mul(t, t)), inner));
    return add(mul(constant(0.5), add(constant(1), t)), rest);
  }
  }
  llvm_unreachable("every kind has its case");
}

Value mlir::blocksparse::createActivationGradient(ImplicitLocOpBuilder &b,
                                                  ActivationAttr activation, Value cotangent,
                                                  Value x) {
  return mapElements(
      b, cotangent, {cotangent, x}, [&](ImplicitLocOpBuilder &b, ValueRange elements) -> Value {
        return arith::MulFOp::create(b, elements[0], emitSlope(b, activation, elements[1]));
      });
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static LogicalResult addRule(ToDenseOp op, GradientBuilder &b) {
  bool dynamic = !SparseTensor::get(op.getSource().getType())->isStatic();
  b.addCotangent(op.getSource(),
                 FromDenseOp::create(b, op.getSource().getType(), b.getCotangent(op.getResult()),
                                     dynamic ? b.getPrimal(op.getSource()) : Value(),
                                     ScheduleAttr()));
  return success();
}

static LogicalResult addRule(FromDenseOp op, GradientBuilder &b) {
  b.addCotangent(op.getSource(), ToDenseOp::create(b, op.getSource().getType(),
                                                   b.getCotangent(op.getResult()), ScheduleAttr()));
  return success();
}

static LogicalResult addRule(TransposeOp op, GradientBuilder &b) {
  b.addCotangent(op.getSource(),
                 TransposeOp::create(b, op.getSource().getType(), b.getCotangent(op.getResult()),
                                     ScheduleAttr()));
  return success();
}

static LogicalResult addRule(AddOp op, GradientBuilder &b) {
  if (failed(checkFactor(op, b, op.getDynamicAlpha(), "alpha")) ||
      failed(checkFactor(op, b, op.getDynamicBeta(), "beta")))
    return failure();
  Value cotangent = b.getCotangent(op.getResult());
  b.addCotangent(op.getA(),
                 scaleSparse(b, cotangent, op.getAlpha(), factorOf(b, op.getDynamicAlpha())));
  b.addCotangent(op.getB(),
                 scaleSparse(b, cotangent, op.getBeta(), factorOf(b, op.getDynamicBeta())));
  return success();
}

static LogicalResult addRule(tensor::ExpandShapeOp op, GradientBuilder &b) {
  b.addCotangent(op.getSrc(),
                 tensor::CollapseShapeOp::create(b, op.getSrcType(), b.getCotangent(op.getResult()),
                                                 op.getReassociationIndices()));
  return success();
}

static LogicalResult addRule(tensor::CollapseShapeOp op, GradientBuilder &b) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), b.getPrimal(op.getSrc()));
  b.addCotangent(op.getSrc(),
                 tensor::ExpandShapeOp::create(b, op.getSrcType(), b.getCotangent(op.getResult()),
                                               op.getReassociationIndices(), sizes));
  return success();
}

static LogicalResult addRule(arith::AddFOp op, GradientBuilder &b) {
  b.addCotangent(op.getLhs(), b.getCotangent(op.getResult()));
  b.addCotangent(op.getRhs(), b.getCotangent(op.getResult()));
  return success();
}

static LogicalResult addRule(arith::SubFOp op, GradientBuilder &b) {
  Value cotangent = b.getCotangent(op.getResult());
  b.addCotangent(op.getLhs(), cotangent);
  b.addCotangent(op.getRhs(), arith::NegFOp::create(b, cotangent));
  return success();
}

static LogicalResult addRule(arith::NegFOp op, GradientBuilder &b) {
  b.addCotangent(op.getOperand(), arith::NegFOp::create(b, b.getCotangent(op.getResult())));
  return success();
}

static LogicalResult addRule(arith::MulFOp op, GradientBuilder &b) {
  Value cotangent = b.getCotangent(op.getResult());
  if (b.isWanted(op.getLhs()))
    b.addCotangent(op.getLhs(), arith::MulFOp::create(b, cotangent, b.getPrimal(op.getRhs())));
  if (b.isWanted(op.getRhs()))
    b.addCotangent(op.getRhs(), arith::MulFOp::create(b, cotangent, b.getPrimal(op.getLhs())));
  return success();
}

static LogicalResult addRule(arith::DivFOp op, GradientBuilder &b) {
  Value quotient =
      arith::DivFOp::create(b, b.getCotangent(op.getResult()), b.getPrimal(op.getRhs()));
  b.addCotangent(op.getLhs(), quotient);
  if (b.isWanted(op.getRhs()))
    b.addCotangent(
        op.getRhs(),
        arith::NegFOp::create(b, arith::MulFOp::create(b, quotient, b.getPrimal(op.getResult()))));
  return success();
}

template <typename OpTy>
static LogicalResult addConversionRule(OpTy op, GradientBuilder &b) {
  Type element = getElementTypeOrSelf(op.getIn());
  b.addCotangent(op.getIn(), asElement(b, b.getCotangent(op.getOut()), element));
  return success();
}
static LogicalResult addRule(arith::ExtFOp op, GradientBuilder &b) {
  return addConversionRule(op, b);
}
static LogicalResult addRule(arith::TruncFOp op, GradientBuilder &b) {
  return addConversionRule(op, b);
}

std::optional<LogicalResult> mlir::blocksparse::addElementGradients(Operation *op,
                                                                    GradientBuilder &b) {
  using Result = std::optional<LogicalResult>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<ToDenseOp, FromDenseOp, TransposeOp, AddOp, tensor::ExpandShapeOp,
            tensor::CollapseShapeOp, arith::AddFOp, arith::SubFOp, arith::NegFOp, arith::MulFOp,
            arith::DivFOp, arith::ExtFOp, arith::TruncFOp>(
          [&](auto own) -> Result { return addRule(own, b); })
      .Default([](Operation *) -> Result { return std::nullopt; });
}
