// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Transforms/Neighbours/EpilogueMatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blocksparse;

using Kind = ElementExpression::Kind;

template <typename... OpTys>
static bool is(Expression e) {
  return e->kind == Kind::Operation && isa<OpTys...>(e->op);
}

/// Returns an expression in the words of a message.
static std::string describe(Expression e) {
  switch (e->kind) {
  case Kind::Product:
    return "the product";
  case Kind::Constant:
    return "a constant";
  case Kind::Operand:
    return isa<RankedTensorType>(e->operand.getType()) ? "a tensor" : "a number of run time";
  case Kind::Operation:
    return e->op->getName().getStringRef().str();
  }
  return {};
}

/// Returns the dimensions of the result along which the map reads; an index 0 is left out.
static std::optional<SmallVector<int64_t>> getDims(const EpilogueTensor &term) {
  SmallVector<int64_t> dims;
  auto type = cast<RankedTensorType>(term.tensor.getType());
  for (auto [size, index] : llvm::zip_equal(type.getShape(), term.map.getResults())) {
    if (auto dim = dyn_cast<AffineDimExpr>(index)) {
      if (!dims.empty() && dims.back() >= dim.getPosition())
        return std::nullopt;
      dims.push_back(dim.getPosition());
    } else if (auto zero = dyn_cast<AffineConstantExpr>(index);
               !zero || zero.getValue() || size != 1) {
      return std::nullopt;
    }
  }
  return dims;
}

bool mlir::blocksparse::isVectorAlong(const EpilogueTensor &term, int64_t dim) {
  return getDims(term) == SmallVector<int64_t>{dim};
}

/// Returns true if an operand is a number or a tensor of one element.
static bool isOneNumber(Expression operand) {
  auto type = dyn_cast<RankedTensorType>(operand->operand.getType());
  return !type || (operand->map && !type.getEncoding() && type.hasStaticShape() &&
                   type.getNumElements() == 1);
}

namespace {

/// Reads an epilogue from its last operation to the product.
class EpilogueReader {
public:
  EpilogueReader(std::string &fault) : fault(fault) {}

  FailureOr<EpilogueTerms> read(Expression e);

private:
  LogicalResult refuse(const std::string &reason) {
    if (fault.empty())
      fault = reason;
    return failure();
  }
  /// Each takes `e` to the expression that remains. The product's factors are the innermost.
  LogicalResult readAddition(Expression &e);
  LogicalResult readFactor(Expression &e);
  LogicalResult addFactor(double factor);
  LogicalResult addTensor(Expression e, double factor);

  std::string &fault;
  EpilogueTerms terms;
  /// Is true if a factor of the product has been read, so that no addition may follow.
  bool isScaled = false;
};

} // namespace

LogicalResult EpilogueReader::addTensor(Expression e, double factor) {
  if (e->kind != Kind::Operand || !isa<RankedTensorType>(e->operand.getType()))
    return refuse("expects a tensor that is added, but got " + describe(e));
  if (isScaled)
    return refuse("expects a factor of the product itself, but got one of a sum");
  // The first addition is the last that was read.
  terms.before.insert(terms.before.begin(), {e->operand, e->map, factor});
  return success();
}

LogicalResult EpilogueReader::readAddition(Expression &e) {
  Expression left = e->operands[0], right = e->operands[1];
  if (left->usesProduct && right->usesProduct)
    return refuse("expects a use of the product, but got two in " + describe(e));
  const bool isDifference = is<arith::SubFOp, arith::SubIOp>(e);
  Expression other = left->usesProduct ? right : left;
  e = left->usesProduct ? left : right;
  if (failed(addTensor(other, isDifference && e == left ? -1 : 1)))
    return failure();
  return isDifference && e == right ? addFactor(-1) : success();
}

LogicalResult EpilogueReader::addFactor(double factor) {
  if (factor == 0 || !std::isfinite(factor))
    return refuse("expects a finite factor other than 0");
  isScaled |= factor != 1;
  terms.alpha *= factor;
  return success();
}

LogicalResult EpilogueReader::readFactor(Expression &e) {
  if (is<arith::NegFOp>(e)) {
    e = e->operands[0];
    return addFactor(-1);
  }
  Expression left = e->operands[0], right = e->operands[1];
  const bool isDivision = is<arith::DivFOp>(e);
  if (left->usesProduct && right->usesProduct)
    return refuse("expects a use of the product, but got two in " + describe(e));
  if (isDivision && right->usesProduct)
    return refuse("expects a factor of the product, but got its inverse");
  Expression factor = left->usesProduct ? right : left;
  e = left->usesProduct ? left : right;
  if (factor->kind == Kind::Constant) {
    int exponent;
    if (isDivision && std::fabs(std::frexp(factor->number, &exponent)) != 0.5)
      return refuse("expects a divisor that is a power of 2, but got another number");
    return addFactor(isDivision ? 1 / factor->number : factor->number);
  }
  if (factor->kind == Kind::Operand && !isDivision && isOneNumber(factor)) {
    if (terms.dynamicAlpha)
      return refuse("expects one factor that is known when the program runs, but got two");
    terms.dynamicAlpha = factor->operand;
    isScaled = true;
    return success();
  }
  if (factor->kind != Kind::Operand || !factor->map || isDivision)
    return refuse("expects a constant factor, one number or a vector, but got " + describe(factor));
  EpilogueTensor tensor{factor->operand, factor->map};
  const int64_t rank = factor->map.getNumDims();
  if (std::optional<EpilogueTensor> &rows = terms.left; isVectorAlong(tensor, rank - 2) && !rows)
    rows = tensor;
  else if (std::optional<EpilogueTensor> &columns = terms.right;
           isVectorAlong(tensor, rank - 1) && !columns)
    columns = tensor;
  else
    return refuse("expects one factor of each row and one of each column, but got another tensor");
  isScaled = true;
  return success();
}

FailureOr<EpilogueTerms> EpilogueReader::read(Expression e) {
  while (e->kind != Kind::Product) {
    LogicalResult done = failure();
    std::string reason;
    std::optional<ActivationMatch> activation = matchActivation(e, reason);
    if (activation && terms.hasActivation()) {
      done = refuse("expects one activation, but got two");
    } else if (activation && isScaled) {
      done = refuse("expects a factor of the product itself, but got one of an activation");
    } else if (activation) {
      terms.activation = activation->kind;
      terms.slope = activation->slope;
      terms.after = std::exchange(terms.before, {});
      e = activation->input;
      done = addFactor(activation->factor);
    } else if (!reason.empty()) {
      done = refuse(reason);
    } else if (is<arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp>(e)) {
      done = readAddition(e);
    } else if (is<arith::MulFOp, arith::MulIOp, arith::DivFOp, arith::NegFOp>(e)) {
      done = readFactor(e);
    } else {
      done = refuse("expects a factor, an addition or an activation, but got " + describe(e));
    }
    if (failed(done))
      return failure();
  }
  return terms;
}

FailureOr<EpilogueTerms> mlir::blocksparse::matchEpilogue(Expression expression,
                                                          std::string &fault) {
  return EpilogueReader(fault).read(expression);
}

FailureOr<EpilogueTerms> mlir::blocksparse::composeEpilogues(const EpilogueTerms &inner,
                                                             const EpilogueTerms &outer,
                                                             std::string &fault) {
  EpilogueTerms result = inner;
  const bool isScaled = outer.alpha != 1 || outer.left || outer.right || outer.dynamicAlpha;
  if (isScaled && (inner.hasActivation() || !inner.before.empty())) {
    fault = "expects a factor of the product itself, but got one of a sum";
    return failure();
  }
  if (inner.hasActivation() && outer.hasActivation()) {
    fault = "expects one activation, but got two";
    return failure();
  }
  if ((inner.left && outer.left) || (inner.right && outer.right)) {
    fault = "expects one factor of each row and one of each column, but got two";
    return failure();
  }
  if (inner.dynamicAlpha && outer.dynamicAlpha) {
    fault = "expects one factor that is known when the program runs, but got two";
    return failure();
  }
  result.alpha *= outer.alpha;
  if (outer.dynamicAlpha)
    result.dynamicAlpha = outer.dynamicAlpha;
  if (outer.left)
    result.left = outer.left;
  if (outer.right)
    result.right = outer.right;
  if (inner.hasActivation()) {
    llvm::append_range(result.after, outer.before);
    return result;
  }
  llvm::append_range(result.before, outer.before);
  result.after = outer.after;
  result.activation = outer.activation;
  result.slope = outer.slope;
  return result;
}

namespace {

/// Says which operand adds a term, and whether the activation follows the term.
struct Addition {
  const EpilogueTensor *term;
  bool isBefore;
};

} // namespace

/// Returns true if an operand may add a term.
static bool fits(AddedOperand operand, const Addition &addition, bool hasActivation, int64_t rank) {
  if (hasActivation && addition.isBefore == (operand == AddedOperand::Residual))
    return false;
  if (operand != AddedOperand::Input && addition.term->factor != 1)
    return false;
  if (operand == AddedOperand::Bias)
    return isVectorAlong(*addition.term, rank - 1);
  std::optional<SmallVector<int64_t>> dims = getDims(*addition.term);
  return dims && !dims->empty();
}

FailureOr<AddedOperands> mlir::blocksparse::chooseOperands(const EpilogueTerms &terms, int64_t rank,
                                                           bool hasInput) {
  SmallVector<Addition> additions;
  for (const EpilogueTensor &term : terms.before)
    additions.push_back({&term, true});
  for (const EpilogueTensor &term : terms.after)
    additions.push_back({&term, !terms.hasActivation()});
  auto choose = [&](ArrayRef<AddedOperand> operands) -> FailureOr<AddedOperands> {
    AddedOperands chosen;
    const Addition *next = additions.begin();
    for (AddedOperand operand : operands) {
      if (next == additions.end() || !fits(operand, *next, terms.hasActivation(), rank))
        continue;
      const EpilogueTensor *&place = operand == AddedOperand::Input  ? chosen.input
                                     : operand == AddedOperand::Bias ? chosen.bias
                                                                     : chosen.residual;
      place = next++->term;
    }
    if (next != additions.end())
      return failure();
    return chosen;
  };
  using Operand = AddedOperand;
  FailureOr<AddedOperands> chosen = choose({Operand::Bias, Operand::Residual});
  if (failed(chosen) && hasInput)
    chosen = choose({Operand::Input, Operand::Residual});
  if (failed(chosen) && hasInput)
    chosen = choose({Operand::Input, Operand::Bias, Operand::Residual});
  return chosen;
}
