// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rules of products. With C = alpha * op(A) @ op(B), dop(A) = alpha * dC @ op(B)^T and dop(B) =
// alpha * op(A)^T @ dC; the gradient of a sparse factor is computed at its blocks alone.

#include "../BroadcastSum.h"
#include "GradientRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blocksparse;
using llvm::APFloat;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {

/// Refers to a matrix, or a stack of them, that a product reads as it is stored or transposed.
struct Factor {
  Value value;
  bool transposed = false;

  Factor operator~() const { return {value, !transposed}; }
};

} // namespace

namespace {

/// Holds the factor of a product: an attribute or, if it is not null, an operand.
struct Alpha {
  APFloat attribute;
  Value operand;
};

} // namespace

/// Returns the factor of the product `op`, as the gradient uses it.
template <typename OpTy>
static Alpha alphaOf(OpTy op, GradientBuilder &b) {
  return {op.getAlpha(), factorOf(b, op.getDynamicAlpha())};
}

/// Returns the type of alpha * op(a) @ op(b) with the leading dimensions of `leading`, as it is
/// stored.
static RankedTensorType productType(ArrayRef<int64_t> leading, Factor a, Factor b, bool transposed,
                                    Type element) {
  int64_t rankA = tensorType(a.value).getRank(), rankB = tensorType(b.value).getRank();
  int64_t rows = tensorType(a.value).getDimSize(rankA - (a.transposed ? 1 : 2));
  int64_t cols = tensorType(b.value).getDimSize(rankB - (b.transposed ? 2 : 1));
  SmallVector<int64_t> shape(leading);
  shape.append({transposed ? cols : rows, transposed ? rows : cols});
  return RankedTensorType::get(shape, element);
}

/// Returns alpha * op(sparse) @ op(dense), stored transposed if `transposed`, with the leading
/// dimensions `leading`.
static Value multiplySparse(GradientBuilder &b, Factor sparse, Factor dense, bool transposed,
                            ArrayRef<int64_t> leading, const Alpha &alpha, Precision precision,
                            bool skipZeros = false) {
  Type element = tensorType(dense.value).getElementType();
  return DSDOp::create(b, productType(leading, sparse, dense, transposed, element), sparse.value,
                       dense.value, /*bias=*/Value(), /*residual=*/Value(), alpha.operand,
                       sparse.transposed, dense.transposed, transposed, skipZeros, alpha.attribute,
                       ActivationAttr(), precision, ScheduleAttr());
}

/// Adds `gradient`, which has leading dimensions that `operand` may lack, to the cotangent of
/// `operand`.
static void addSummed(GradientBuilder &b, Value operand, Value gradient) {
  RankedTensorType type = tensorType(operand);
  gradient = asElement(b, gradient, type.getElementType());
  b.addCotangent(operand, sumToOperand(b, b.getLoc(), gradient, type, b.getPrimal(operand)));
}

static ArrayRef<int64_t> leadingOf(Value tensor) {
  return tensorType(tensor).getShape().drop_back(2);
}

/// Returns `factor` [.., R, C] with the first `count` leading dimensions made a part of the columns
/// of op(factor): [.., R, X * C], not transposed. These dimensions are summed over by a product
/// along them.
static Factor foldIntoColumns(GradientBuilder &b, Factor factor, int64_t count) {
  RankedTensorType type = tensorType(factor.value);
  int64_t rank = type.getRank();
  int64_t rows = rank - (factor.transposed ? 1 : 2), cols = rank - (factor.transposed ? 2 : 1);
  // The order of the dimensions: those that are kept, the rows, those that are folded, the columns.
  SmallVector<int64_t> order;
  for (int64_t dim = count; dim < rank - 2; ++dim)
    order.push_back(dim);
  order.push_back(rows);
  for (int64_t dim = 0; dim < count; ++dim)
    order.push_back(dim);
  order.push_back(cols);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), factor.value), own;
  for (int64_t dim : order)
    own.push_back(sizes[dim]);
  Value empty = tensor::EmptyOp::create(b, own, type.getElementType());
  Value moved = linalg::TransposeOp::create(b, factor.value, empty, order).getResult()[0];
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < rank - 1 - count; ++dim)
    groups.push_back({dim});
  groups.push_back(llvm::to_vector<2>(llvm::seq<int64_t>(rank - 1 - count, rank)));
  return {tensor::CollapseShapeOp::create(b, moved, groups), false};
}

/// Adds alpha * op(left) @ op(right)^T, at the blocks of `sparse` as it is stored, to the cotangent
/// of `sparse`; transposed, if the product read it so. Leading dimensions that `sparse` lacks are
/// summed over.
static LogicalResult addSampled(GradientBuilder &b, Operation *op, Value sparse, bool transposed,
                                Factor left, Factor right, const Alpha &alpha,
                                Precision precision) {
  RankedTensorType type = tensorType(sparse);
  int64_t most = std::max(leadingOf(left.value).size(), leadingOf(right.value).size());
  int64_t missing = most - static_cast<int64_t>(leadingOf(sparse).size());
  auto leads = [&](Factor factor) {
    return static_cast<int64_t>(leadingOf(factor.value).size()) == most;
  };
  if (missing > 0) {
    if (!leads(left) || !leads(right))
      return op->emitError("expects a dense factor with the leading dimensions of the result, to "
                           "differentiate a product with a sparse factor that lacks them, but got "
                           "one without");
    left = foldIntoColumns(b, left, missing);
    right = foldIntoColumns(b, right, missing);
  }
  for (auto [own, full] :
       llvm::zip(llvm::reverse(leadingOf(sparse)), llvm::reverse(leadingOf(left.value))))
    if (own == 1 && full != 1)
      return op->emitError("expects a sparse factor with the leading dimensions of the result or "
                           "without them, to differentiate a product, but got extent 1");
  left.value = asElement(b, left.value, type.getElementType());
  right.value = asElement(b, right.value, type.getElementType());
  if (transposed)
    std::swap(left, right);
  bool dynamic = !isa<LayoutAttrInterface>(type.getEncoding());
  b.addCotangent(sparse, SDDOp::create(b, type, left.value, right.value,
                                       dynamic ? b.getPrimal(sparse) : Value(), alpha.operand,
                                       left.transposed, !right.transposed, /*transpose_out=*/false,
                                       alpha.attribute, precision, ScheduleAttr()));
  return success();
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

/// Adds the gradients of the epilogue of `op`, and returns the cotangent of what the activation is
/// applied to. The argument of an activation is no value of the program: `recompute` returns the
/// product again, without the activation and what follows it.
template <typename OpTy>
static Value addEpilogueGradients(OpTy op, GradientBuilder &b,
                                  llvm::function_ref<Value()> recompute) {
  Value cotangent = b.getCotangent(op.getResult());
  if (Value residual = op.getResidual(); residual && b.isWanted(residual)) {
    RankedTensorType type = tensorType(residual);
    Value own = asElement(b, cotangent, type.getElementType());
    b.addCotangent(residual, sumToShape(b, own, type));
  }
  std::optional<ActivationAttr> activation = op.getActivation();
  if (activation && activation->getKind() != ActivationKind::None)
    cotangent = createActivationGradient(b, *activation, cotangent, recompute());
  if (Value bias = op.getBias(); bias && b.isWanted(bias)) {
    RankedTensorType type = tensorType(bias);
    Value own = asElement(b, cotangent, type.getElementType());
    b.addCotangent(bias, sumToShape(b, own, type));
  }
  return cotangent;
}

/// Returns a copy of `op` without its activation and residual, in the accumulation type.
template <typename OpTy>
static Value recomputeArgument(OpTy op, GradientBuilder &b) {
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, b.getPrimal(operand));
  auto copy = cast<OpTy>(b.clone(*op, mapping));
  copy.getResidualMutable().clear();
  copy.removeActivationAttr();
  RankedTensorType type = tensorType(copy.getResult());
  copy.getResult().setType(
      RankedTensorType::get(type.getShape(), getAccumulatorType(type.getElementType())));
  return copy.getResult();
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Adds the gradients of the dense factors of alpha * op(a) @ op(b) at the blocks of `cotangent`,
/// which is stored transposed if `transposeOut`.
template <typename OpTy>
static LogicalResult addSampledRule(OpTy op, GradientBuilder &b, Value cotangent,
                                    bool transposeOut) {
  Type element = tensorType(op.getA()).getElementType();
  Factor gradient{asElement(b, cotangent, element), transposeOut};
  ArrayRef<int64_t> leading = leadingOf(cotangent);
  if (b.isWanted(op.getA()))
    addSummed(b, op.getA(),
              multiplySparse(b, gradient, ~Factor{b.getPrimal(op.getB()), op.getTransposeB()},
                             op.getTransposeA(), leading, alphaOf(op, b), op.getPrecision()));
  if (b.isWanted(op.getB()))
    addSummed(b, op.getB(),
              multiplySparse(b, ~gradient, {b.getPrimal(op.getA()), op.getTransposeA()},
                             !op.getTransposeB(), leading, alphaOf(op, b), op.getPrecision()));
  return success();
}

static LogicalResult addRule(SDDOp op, GradientBuilder &b) {
  if (failed(checkFactor(op, b, op.getDynamicAlpha(), "alpha")))
    return failure();
  return addSampledRule(op, b, b.getCotangent(op.getResult()), op.getTransposeOut());
}

static LogicalResult addRule(SampledAddmmOp op, GradientBuilder &b) {
  Value cotangent = b.getCotangent(op.getResult());
  if (failed(checkFactor(op, b, op.getDynamicAlpha(), "alpha")) ||
      failed(checkFactor(op, b, op.getDynamicBeta(), "beta")))
    return failure();
  bool wantsSparse = b.isWanted(op.getSparse());
  if (wantsSparse && !op.getBeta().isZero())
    b.addCotangent(op.getSparse(),
                   scaleSparse(b, cotangent, op.getBeta(), factorOf(b, op.getDynamicBeta())));
  return addSampledRule(op, b, cotangent, /*transposeOut=*/false);
}

static LogicalResult addRule(DSDOp op, GradientBuilder &b) {
  if (failed(checkFactor(op, b, op.getDynamicAlpha(), "alpha")))
    return failure();
  Value cotangent =
      addEpilogueGradients(op, b, [&]() -> Value { return recomputeArgument(op, b); });
  Type element = tensorType(op.getB()).getElementType();
  Factor gradient{asElement(b, cotangent, element), op.getTransposeOut()};
  Factor sparse{Value(), op.getTransposeA()}, dense{Value(), op.getTransposeB()};
  if (b.isWanted(op.getB())) {
    sparse.value = b.getPrimal(op.getA());
    // The transpose of op(b): with transpose_b the gradient is stored transposed.
    addSummed(b, op.getB(),
              multiplySparse(b, ~sparse, gradient, op.getTransposeB(), leadingOf(cotangent),
                             alphaOf(op, b), op.getPrecision(), op.getSkipZeros()));
  }
  if (!b.isWanted(op.getA()))
    return success();
  dense.value = b.getPrimal(op.getB());
  return addSampled(b, op, op.getA(), op.getTransposeA(), gradient, dense, alphaOf(op, b),
                    op.getPrecision());
}

static LogicalResult addRule(DDSOp op, GradientBuilder &b) {
  if (failed(checkFactor(op, b, op.getDynamicAlpha(), "alpha")))
    return failure();
  Value cotangent =
      addEpilogueGradients(op, b, [&]() -> Value { return recomputeArgument(op, b); });
  Type element = tensorType(op.getA()).getElementType();
  Factor gradient{asElement(b, cotangent, element), op.getTransposeOut()};
  if (b.isWanted(op.getA())) {
    // dop(a)^T = alpha * op(b) @ dC^T.
    Factor sparse{b.getPrimal(op.getB()), op.getTransposeB()};
    addSummed(b, op.getA(),
              multiplySparse(b, sparse, ~gradient, !op.getTransposeA(), leadingOf(cotangent),
                             alphaOf(op, b), op.getPrecision()));
  }
  if (!b.isWanted(op.getB()))
    return success();
  // dop(b) = alpha * op(a)^T @ dC = alpha * op(a)^T @ (dC^T)^T.
  Factor dense{b.getPrimal(op.getA()), op.getTransposeA()};
  return addSampled(b, op, op.getB(), op.getTransposeB(), ~dense, ~gradient, alphaOf(op, b),
                    op.getPrecision());
}

/// Returns `vector`, one factor for each row of a result, as a column.
static Value asColumn(GradientBuilder &b, Value vector) {
  RankedTensorType type = tensorType(vector);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), vector);
  sizes.push_back(b.getIndexAttr(1));
  return tensor::ExpandShapeOp::create(
      b, RankedTensorType::get({type.getDimSize(0), 1}, type.getElementType()), vector,
      ArrayRef<ReassociationIndices>{{0, 1}}, sizes);
}

/// Returns the product of dense tensors that broadcast to `like`, element by element.
static Value multiplyElements(GradientBuilder &b, Value like, ValueRange factors) {
  return mapElements(b, like, factors, [](ImplicitLocOpBuilder &b, ValueRange elements) {
    Value product = elements.front();
    for (Value element : elements.drop_front())
      product = arith::MulFOp::create(b, product, element);
    return product;
  });
}

/// Returns a dense tensor times a constant.
static Value multiplyByConstant(GradientBuilder &b, Value tensor, double constant) {
  return mapElements(b, tensor, tensor, [&](ImplicitLocOpBuilder &b, ValueRange elements) -> Value {
    Value factor = arith::ConstantOp::create(b, b.getFloatAttr(elements[0].getType(), constant));
    return arith::MulFOp::create(b, elements[0], factor);
  });
}

/// Adds the gradients of left_alpha and right_alpha. `cotangent` is that of the argument of the
/// activation.
static void addFactorGradients(BsrAddmmOp op, GradientBuilder &b, Value cotangent, Value left,
                               Value right) {
  bool wantsLeft = left && b.isWanted(op.getLeftAlpha());
  bool wantsRight = right && b.isWanted(op.getRightAlpha());
  if (!wantsLeft && !wantsRight)
    return;
  Factor sparse{b.getPrimal(op.getSparse()), false}, dense{b.getPrimal(op.getDense()), false};
  Value product = multiplySparse(b, sparse, dense, /*transposed=*/false, leadingOf(cotangent),
                                 alphaOf(op, b), op.getPrecision());
  // Returns the terms whose sum is the gradient of one factor; `other` is the other one, or null.
  auto createTerms = [&](RankedTensorType type, Value other) {
    SmallVector<Value> factors{cotangent, product};
    if (other)
      factors.push_back(other);
    return asElement(b, multiplyElements(b, cotangent, factors), type.getElementType());
  };
  if (wantsLeft) {
    RankedTensorType type = tensorType(op.getLeftAlpha());
    Value sum = sumToShape(b, createTerms(type, right),
                           RankedTensorType::get({type.getDimSize(0), 1}, type.getElementType()));
    b.addCotangent(op.getLeftAlpha(), tensor::CollapseShapeOp::create(
                                          b, type, sum, ArrayRef<ReassociationIndices>{{0, 1}}));
  }
  if (wantsRight) {
    RankedTensorType type = tensorType(op.getRightAlpha());
    b.addCotangent(op.getRightAlpha(), sumToShape(b, createTerms(type, left), type));
  }
}

static LogicalResult addRule(BsrAddmmOp op, GradientBuilder &b) {
  if (failed(checkFactor(op, b, op.getDynamicAlpha(), "alpha")) ||
      failed(checkFactor(op, b, op.getDynamicBeta(), "beta")))
    return failure();
  Value cotangent =
      addEpilogueGradients(op, b, [&]() -> Value { return recomputeArgument(op, b); });
  if (Value input = op.getInput(); input && b.isWanted(input) && !op.getBeta().isZero()) {
    Value scaled =
        op.getDynamicBeta()
            ? multiplyElements(b, cotangent, {cotangent, b.getPrimal(op.getDynamicBeta())})
            : multiplyByConstant(b, cotangent, op.getBeta().convertToDouble());
    RankedTensorType type = tensorType(input);
    b.addCotangent(input, sumToShape(b, asElement(b, scaled, type.getElementType()), type));
  }
  Value left = op.getLeftAlpha() ? asColumn(b, b.getPrimal(op.getLeftAlpha())) : Value();
  Value right = op.getRightAlpha() ? b.getPrimal(op.getRightAlpha()) : Value();
  addFactorGradients(op, b, cotangent, left, right);
  SmallVector<Value> factors{cotangent};
  if (left)
    factors.push_back(left);
  if (right)
    factors.push_back(right);
  if (factors.size() > 1)
    cotangent = multiplyElements(b, cotangent, factors);
  Factor gradient{asElement(b, cotangent, tensorType(op.getDense()).getElementType()), false};
  if (b.isWanted(op.getDense()))
    addSummed(b, op.getDense(),
              multiplySparse(b, {b.getPrimal(op.getSparse()), true}, gradient,
                             /*transposed=*/false, leadingOf(cotangent), alphaOf(op, b),
                             op.getPrecision()));
  if (!b.isWanted(op.getSparse()))
    return success();
  return addSampled(b, op, op.getSparse(), /*transposed=*/false, gradient,
                    {b.getPrimal(op.getDense()), false}, alphaOf(op, b), op.getPrecision());
}

/// Returns alpha * op(a) @ op(b) with the leading dimensions of `leading`.
static Value multiplyDense(GradientBuilder &b, MatmulOp op, Factor left, Factor right,
                           ArrayRef<int64_t> leading) {
  Type element = tensorType(left.value).getElementType();
  return MatmulOp::create(b, productType(leading, left, right, /*transposed=*/false, element),
                          left.value, right.value, /*bias=*/Value(), /*residual=*/Value(),
                          alphaOf(op, b).operand, MatmulForm::Linear, left.transposed,
                          right.transposed, op.getAlpha(), ActivationAttr(), op.getPrecision(),
                          ScheduleAttr());
}

static LogicalResult addRule(MatmulOp op, GradientBuilder &b) {
  if (op.getForm() != MatmulForm::Linear)
    return op->emitError("expects a matmul of the form linear to differentiate it, but got ")
           << stringifyMatmulForm(op.getForm());
  if (failed(checkFactor(op, b, op.getDynamicAlpha(), "alpha")))
    return failure();
  Value cotangent =
      addEpilogueGradients(op, b, [&]() -> Value { return recomputeArgument(op, b); });
  Factor gradient{asElement(b, cotangent, tensorType(op.getA()).getElementType()), false};
  ArrayRef<int64_t> leading = leadingOf(cotangent);
  if (b.isWanted(op.getA())) {
    Factor other{b.getPrimal(op.getB()), op.getTransposeB()};
    addSummed(b, op.getA(),
              op.getTransposeA() ? multiplyDense(b, op, other, ~gradient, leading)
                                 : multiplyDense(b, op, gradient, ~other, leading));
  }
  if (b.isWanted(op.getB())) {
    Factor other{b.getPrimal(op.getA()), op.getTransposeA()};
    addSummed(b, op.getB(),
              op.getTransposeB() ? multiplyDense(b, op, ~gradient, other, leading)
                                 : multiplyDense(b, op, ~other, gradient, leading));
  }
  return success();
}

std::optional<LogicalResult> mlir::blocksparse::addProductGradients(Operation *op,
                                                                    GradientBuilder &b) {
  using Result = std::optional<LogicalResult>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<SDDOp, SampledAddmmOp, DSDOp, DDSOp, BsrAddmmOp, MatmulOp>(
          [&](auto own) -> Result { return addRule(own, b); })
      .Default([](Operation *) -> Result { return std::nullopt; });
}
