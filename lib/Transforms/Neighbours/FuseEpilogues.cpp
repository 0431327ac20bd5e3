// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Transforms/Neighbours/EpilogueMatch.h"
#include "blocksparse/Transforms/Neighbours/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

namespace mlir::blocksparse {
#define GEN_PASS_DEF_FUSEEPILOGUESPASS
#include "blocksparse/Transforms/Neighbours/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;
using llvm::APFloat;

/// The largest number of operations after a product that are looked at.
static constexpr size_t maxOperations = 64;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {

/// Holds what this pass reads of a product with a dense result.
struct ProductView {
  Value bias, residual, input, left, right, dynamicAlpha;
  double alpha = 1, beta = 0;
  ActivationAttr activation;
  ScheduleAttr schedule;
  Type factorElement;
  /// Is true if the product is a bsr_addmm or could be written as one.
  bool isAddmm = false;
  /// Is true if the product with a residual would have the scalar kernels alone.
  bool skipsZeros = false;
  /// Is true if the factor of the input is an operand.
  bool hasDynamicBeta = false;
};

} // namespace

template <typename OpTy>
static ProductView viewPlain(OpTy op) {
  ProductView view;
  view.bias = op.getBias();
  view.residual = op.getResidual();
  view.alpha = op.getAlpha().convertToDouble();
  view.dynamicAlpha = op.getDynamicAlpha();
  view.activation = op.getActivation().value_or(ActivationAttr());
  view.schedule = op.getSchedule().value_or(ScheduleAttr());
  view.factorElement = getElementTypeOrSelf(op->getOperand(0).getType());
  return view;
}

static std::optional<ProductView> viewProduct(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<ProductView>>(op)
      .Case([](DSDOp dsd) {
        ProductView view = viewPlain(dsd);
        view.skipsZeros = dsd.getSkipZeros();
        view.isAddmm = !dsd.getSkipZeros() && !dsd.getTransposeA() && !dsd.getTransposeB() &&
                       !dsd.getTransposeOut();
        return view;
      })
      .Case([](BsrAddmmOp addmm) {
        ProductView view = viewPlain(addmm);
        view.beta = addmm.getBeta().convertToDouble();
        view.hasDynamicBeta = static_cast<bool>(addmm.getDynamicBeta());
        view.input = addmm.getInput();
        view.left = addmm.getLeftAlpha();
        view.right = addmm.getRightAlpha();
        view.isAddmm = true;
        return view;
      })
      .Case<DDSOp, MatmulOp>([](auto product) { return viewPlain(product); })
      .Default([](Operation *) { return std::nullopt; });
}

/// Returns the map by which a tensor whose last dimensions are those of the result is broadcast.
static AffineMap getBroadcastMap(RankedTensorType type, RankedTensorType result) {
  SmallVector<AffineExpr> indices;
  const int64_t missing = result.getRank() - type.getRank();
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    const int64_t dim = missing + static_cast<int64_t>(i);
    const bool isRepeated = size == 1 && result.getDimSize(dim) != 1;
    indices.push_back(isRepeated ? getAffineConstantExpr(0, type.getContext())
                                 : getAffineDimExpr(dim, type.getContext()));
  }
  return AffineMap::get(result.getRank(), 0, indices, type.getContext());
}

/// Returns the epilogue that a product has. Its tensors are seen through broadcasts.
static EpilogueTerms getTerms(const ProductView &view, RankedTensorType result,
                              ElementExpressions &expressions) {
  const int64_t rank = result.getRank();
  auto add = [&](Value tensor, SmallVector<EpilogueTensor> &terms, double factor = 1) {
    if (!tensor)
      return;
    AffineMap map = getBroadcastMap(cast<RankedTensorType>(tensor.getType()), result);
    Expression source = expressions.getOperand(tensor, map);
    if (source && source->kind == ElementExpression::Kind::Operand && source->map)
      terms.push_back({source->operand, source->map, factor});
    else
      terms.push_back({tensor, map, factor});
  };
  auto vector = [&](Value tensor, int64_t dim) -> std::optional<EpilogueTensor> {
    if (!tensor)
      return std::nullopt;
    AffineExpr index = getAffineDimExpr(dim, result.getContext());
    return EpilogueTensor{tensor, AffineMap::get(rank, 0, index)};
  };
  EpilogueTerms terms;
  terms.alpha = view.alpha;
  terms.dynamicAlpha = view.dynamicAlpha;
  terms.left = vector(view.left, rank - 2);
  terms.right = vector(view.right, rank - 1);
  if (view.beta != 0)
    add(view.input, terms.before, view.beta);
  add(view.bias, terms.before);
  if (view.activation) {
    terms.activation = view.activation.getKind();
    terms.slope = view.activation.getSlope().convertToDouble();
  }
  add(view.residual, terms.hasActivation() ? terms.after : terms.before);
  return terms;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Returns the vector of a term that is read along one dimension.
static Value createVector(OpBuilder &builder, Location loc, const EpilogueTensor &term) {
  auto type = cast<RankedTensorType>(term.tensor.getType());
  if (type.getRank() == 1)
    return term.tensor;
  SmallVector<ReassociationIndices> whole{llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()))};
  return tensor::CollapseShapeOp::create(builder, loc, term.tensor, whole);
}

/// Returns a term as a tensor that broadcasts to the result: its last dimension is that of the
/// result, and it has two or more.
static Value createMatrix(OpBuilder &builder, Location loc, const EpilogueTensor &term,
                          RankedTensorType result) {
  auto type = cast<RankedTensorType>(term.tensor.getType());
  if (type.getRank() >= 2 && getBroadcastMap(type, result) == term.map)
    return term.tensor;
  // Drops the dimensions of size 1 that are not read.
  Value tensor = term.tensor;
  SmallVector<int64_t> dims;
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices pending;
  for (auto [i, index] : llvm::enumerate(term.map.getResults())) {
    pending.push_back(i);
    if (auto dim = dyn_cast<AffineDimExpr>(index)) {
      dims.push_back(dim.getPosition());
      groups.push_back(std::exchange(pending, {}));
    }
  }
  llvm::append_range(groups.back(), pending);
  if (static_cast<int64_t>(dims.size()) < type.getRank())
    tensor = tensor::CollapseShapeOp::create(builder, loc, tensor, groups);
  // Puts the same dimensions where the result has them.
  auto dense = cast<RankedTensorType>(tensor.getType());
  const int64_t first = std::min(dims.front(), result.getRank() - 2);
  SmallVector<int64_t> shape(result.getRank() - first, 1);
  groups.assign(dims.size(), {});
  for (int64_t place = 0; place < static_cast<int64_t>(shape.size()); ++place) {
    // A dimension of size 1 goes with the one before it, or with the first.
    size_t group = 0;
    while (group + 1 < dims.size() && dims[group + 1] - first <= place)
      ++group;
    groups[group].push_back(place);
  }
  for (auto [i, dim] : llvm::enumerate(dims))
    shape[dim - first] = dense.getDimSize(i);
  return tensor::ExpandShapeOp::create(builder, loc, dense.clone(shape), tensor, groups);
}

/// Returns a number or a tensor of one element as a tensor of rank 0 of type `element`.
static Value createFactor(OpBuilder &builder, Location loc, Value number, Type element) {
  auto type = dyn_cast<RankedTensorType>(number.getType());
  if (type && type.getRank() != 0)
    number = tensor::CollapseShapeOp::create(builder, loc,
                                             RankedTensorType::get({}, type.getElementType()),
                                             number, ArrayRef<ReassociationIndices>());
  auto scalar = RankedTensorType::get({}, element);
  if (getElementTypeOrSelf(number.getType()) != element)
    number = arith::ExtFOp::create(builder, loc, type ? Type(scalar) : element, number);
  if (type)
    return number;
  // Host code cannot write to the memory of a device.
  Value empty = tensor::EmptyOp::create(builder, loc, scalar.getShape(), element);
  return linalg::FillOp::create(builder, loc, number, empty).getResult(0);
}

/// Returns the first operation of the block after which all tensors of the operands exist.
static Operation *getAnchor(Operation *product, const EpilogueTerms &terms) {
  Operation *anchor = product;
  auto followValue = [&](Value value) {
    Operation *source = value ? value.getDefiningOp() : nullptr;
    if (source && source->getBlock() == product->getBlock() && anchor->isBeforeInBlock(source))
      anchor = source;
  };
  auto follow = [&](const EpilogueTensor &term) { followValue(term.tensor); };
  followValue(terms.dynamicAlpha);
  llvm::for_each(terms.before, follow);
  llvm::for_each(terms.after, follow);
  for (const std::optional<EpilogueTensor> &factor : {terms.left, terms.right})
    if (factor)
      follow(*factor);
  return anchor;
}

/// Writes the new operands and attributes of an epilogue to a product.
template <typename OpTy>
static void setEpilogue(OpTy op, const ProductView &to) {
  auto assign = [](MutableOperandRange range, Value value) {
    if (value)
      range.assign(value);
    else
      range.clear();
  };
  assign(op.getBiasMutable(), to.bias);
  assign(op.getResidualMutable(), to.residual);
  assign(op.getDynamicAlphaMutable(), to.dynamicAlpha);
  op.setAlpha(APFloat(to.alpha));
  if (to.activation)
    op.setActivationAttr(to.activation);
  else
    op.removeActivationAttr();
  if constexpr (std::is_same_v<OpTy, BsrAddmmOp>) {
    assign(op.getInputMutable(), to.input);
    assign(op.getLeftAlphaMutable(), to.left);
    assign(op.getRightAlphaMutable(), to.right);
    op.setBeta(APFloat(to.beta));
  }
}

/// Returns a product like `op` with another epilogue and another element type of the result.
static Operation *createProduct(OpBuilder &builder, Operation *op, const ProductView &to,
                                RankedTensorType type) {
  auto dsd = dyn_cast<DSDOp>(op);
  if (dsd && (to.input || to.left || to.right))
    return BsrAddmmOp::create(builder, op->getLoc(), type, dsd.getA(), dsd.getB(), to.input,
                              to.left, to.right, to.bias, to.residual, to.dynamicAlpha,
                              /*dynamic_beta=*/Value(), APFloat(to.alpha), APFloat(to.beta),
                              to.activation, dsd.getPrecision(),
                              /*schedule=*/ScheduleAttr());
  Operation *product = builder.clone(*op);
  product->getResult(0).setType(type);
  llvm::TypeSwitch<Operation *>(product).Case<DSDOp, DDSOp, MatmulOp, BsrAddmmOp>(
      [&](auto typed) { setEpilogue(typed, to); });
  return product;
}

//===----------------------------------------------------------------------===//
// One product
//===----------------------------------------------------------------------===//

namespace {

/// Fuses the operations after one product.
class ProductFusion {
public:
  explicit ProductFusion(Operation *op) : op(op), view(*viewProduct(op)) {}

  /// Fuses as many operations as possible and returns the new product, or null and the reason.
  Operation *fuse();
  const std::string &getFault() const { return fault; }
  /// Returns an elementwise operation that reads the result, or null.
  Operation *getReader() const { return operations.empty() ? nullptr : operations.front(); }

private:
  void collect();
  bool collectInside(Operation *root, llvm::DenseSet<Operation *> &needed);
  LogicalResult checkTypes(Type element);
  LogicalResult checkFactor(const EpilogueTerms &terms);
  LogicalResult checkTensors(const EpilogueTerms &terms, Type element);
  Operation *tryRoot(Operation *root);
  Operation *rewrite(Value result, const EpilogueTerms &terms, const AddedOperands &added,
                     const llvm::DenseSet<Operation *> &needed);
  LogicalResult refuse(const Twine &reason) {
    fault = reason.str();
    return failure();
  }
  RankedTensorType getType() const { return cast<RankedTensorType>(op->getResult(0).getType()); }

  Operation *op;
  ProductView view;
  /// The elementwise operations of the block that depend on the product, in their order.
  SmallVector<Operation *> operations;
  llvm::DenseSet<Operation *> inside;
  std::string fault;
};

} // namespace

void ProductFusion::collect() {
  SmallVector<Operation *> pending{op};
  while (!pending.empty() && operations.size() < maxOperations)
    for (Operation *user : pending.pop_back_val()->getUsers())
      if (user->getBlock() == op->getBlock() && isElementwiseComputation(user) &&
          inside.insert(user).second) {
        operations.push_back(user);
        pending.push_back(user);
      }
  llvm::sort(operations, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
}

/// Collects the operations between the product and `root`. Returns false if others use what they
/// compute, other than its sizes.
bool ProductFusion::collectInside(Operation *root, llvm::DenseSet<Operation *> &needed) {
  SmallVector<Operation *> pending{root};
  needed.insert(root);
  while (!pending.empty())
    for (Value operand : pending.pop_back_val()->getOperands())
      if (Operation *source = operand.getDefiningOp();
          source && inside.contains(source) && needed.insert(source).second)
        pending.push_back(source);
  auto isPrivate = [&](Operation *source) {
    return llvm::all_of(source->getUsers(), [&](Operation *user) {
      return needed.contains(user) || isa<tensor::DimOp>(user);
    });
  };
  return isPrivate(op) && llvm::all_of(needed, [&](Operation *source) {
           return source == root || isPrivate(source);
         });
}

LogicalResult ProductFusion::checkTypes(Type element) {
  const Type accumulator = getAccumulatorType(view.factorElement);
  const bool isInteger = view.factorElement.isInteger();
  std::string text;
  llvm::raw_string_ostream message(text);
  for (Type type : {getType().getElementType(), element})
    if (type.getIntOrFloatBitWidth() < 16) {
      message << "expects elements of 16 bits or more, but got " << type;
      return refuse(text);
    }
  if (element == accumulator || (element == view.factorElement && !isInteger))
    return success();
  message << "expects a result of ";
  if (!isInteger && view.factorElement != accumulator)
    message << view.factorElement << " or ";
  message << accumulator << ", but got " << element;
  return refuse(text);
}

/// Checks that operands of the epilogue may be the tensors of its terms.
LogicalResult ProductFusion::checkTensors(const EpilogueTerms &terms, Type element) {
  auto check = [&](const EpilogueTensor &term) {
    auto type = cast<RankedTensorType>(term.tensor.getType());
    const Type own = type.getElementType();
    if (!type.getEncoding() && (own == view.factorElement || own == element ||
                                own == getAccumulatorType(view.factorElement)))
      return success();
    std::string text;
    llvm::raw_string_ostream(text) << "expects a dense tensor of the product's element types, "
                                      "but got "
                                   << type;
    return refuse(text);
  };
  for (const std::optional<EpilogueTensor> &factor : {terms.left, terms.right})
    if (factor && failed(check(*factor)))
      return failure();
  return success(llvm::all_of(terms.before, [&](auto &term) { return succeeded(check(term)); }) &&
                 llvm::all_of(terms.after, [&](auto &term) { return succeeded(check(term)); }));
}

/// Returns true if the accumulation type holds a factor: it is neither infinite nor rounded to 0.
static bool holdsFactor(Type accumulator, double factor) {
  if (accumulator.isInteger())
    return std::fabs(factor) < 0x1p31;
  const double rounded = accumulator.isF64() ? factor : static_cast<float>(factor);
  return std::isfinite(rounded) && (rounded == 0) == (factor == 0);
}

/// Checks that the accumulation type holds the factor of the product, which a number or an operand
/// gives.
LogicalResult ProductFusion::checkFactor(const EpilogueTerms &terms) {
  const Type accumulator = getAccumulatorType(view.factorElement);
  if (terms.dynamicAlpha && terms.alpha != 1)
    return refuse("expects a constant factor or one that is known when the program runs, but got "
                  "both");
  if (terms.dynamicAlpha)
    if (Type own = getElementTypeOrSelf(terms.dynamicAlpha.getType());
        own != accumulator && (accumulator.isInteger() || own != view.factorElement)) {
      std::string text;
      llvm::raw_string_ostream(text)
          << "expects a factor of " << accumulator << ", but got " << own;
      return refuse(text);
    }
  if (holdsFactor(accumulator, terms.alpha) && (terms.alpha == 0) == (view.alpha == 0))
    return success();
  std::string text;
  llvm::raw_string_ostream(text) << "expects a factor that " << accumulator << " holds, but got "
                                 << terms.alpha;
  return refuse(text);
}

/// Replaces `result`, which is the product or is computed from it, by the product with an epilogue.
Operation *ProductFusion::rewrite(Value result, const EpilogueTerms &terms,
                                  const AddedOperands &added,
                                  const llvm::DenseSet<Operation *> &needed) {
  Operation *anchor = getAnchor(op, terms);
  SmallVector<Operation *> old(needed.begin(), needed.end());
  llvm::sort(old, [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
  old.push_back(op);
  SmallVector<tensor::DimOp> sizes;
  for (Operation *source : old)
    for (Operation *user : source->getUsers())
      if (auto size = dyn_cast<tensor::DimOp>(user); size && !llvm::is_contained(sizes, size))
        sizes.push_back(size);
  for (tensor::DimOp size : sizes)
    if (Operation *user = op->getBlock()->findAncestorOpInBlock(*size);
        user && (user == anchor || user->isBeforeInBlock(anchor))) {
      (void)refuse("expects added tensors that exist before the sizes of the product are used");
      return nullptr;
    }

  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(anchor);
  auto type = getType().clone(getElementTypeOrSelf(result.getType()));
  ProductView to = view;
  to.alpha = terms.alpha;
  to.activation = terms.hasActivation()
                      ? (terms.activation == ActivationKind::LeakyRelu
                             ? ActivationAttr::get(op->getContext(), terms.activation, terms.slope)
                             : ActivationAttr::get(op->getContext(), terms.activation))
                      : ActivationAttr();
  auto vector = [&](const EpilogueTensor *term) {
    return term ? createVector(builder, op->getLoc(), *term) : Value();
  };
  auto matrix = [&](const EpilogueTensor *term) {
    return term ? createMatrix(builder, op->getLoc(), *term, type) : Value();
  };
  to.dynamicAlpha = terms.dynamicAlpha ? createFactor(builder, op->getLoc(), terms.dynamicAlpha,
                                                      getAccumulatorType(view.factorElement))
                                       : Value();
  to.left = vector(terms.left ? &*terms.left : nullptr);
  to.right = vector(terms.right ? &*terms.right : nullptr);
  to.input = matrix(added.input);
  to.beta = added.input ? added.input->factor : 0;
  to.bias = vector(added.bias);
  to.residual = matrix(added.residual);
  Operation *product = createProduct(builder, op, to, type);
  for (tensor::DimOp size : sizes)
    size.getSourceMutable().assign(product->getResult(0));
  result.replaceAllUsesWith(product->getResult(0));
  for (Operation *source : old)
    source->erase();
  return product;
}

/// Makes the operations up to `root` the epilogue, or those of the product itself if `root` is the
/// product: a residual that is a broadcast vector becomes a bias.
Operation *ProductFusion::tryRoot(Operation *root) {
  llvm::DenseSet<Operation *> needed;
  if (root != op && !collectInside(root, needed)) {
    (void)refuse("expects results that this computation alone uses");
    return nullptr;
  }
  Value result = root->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  ElementExpressions expressions(op->getResult(0), needed);
  EpilogueTerms terms = getTerms(view, getType(), expressions);
  if (root != op) {
    Expression expression = expressions.get(result);
    if (!expression || !expression->usesProduct || type.getShape() != getType().getShape()) {
      (void)refuse("expects elements of the product at the indices of the result");
      return nullptr;
    }
    fault.clear();
    FailureOr<EpilogueTerms> outer = matchEpilogue(expression, fault);
    if (failed(outer))
      return nullptr;
    FailureOr<EpilogueTerms> all = composeEpilogues(terms, *outer, fault);
    if (failed(all))
      return nullptr;
    terms = *all;
  }
  if (failed(checkTypes(type.getElementType())) || failed(checkFactor(terms)) ||
      failed(checkTensors(terms, type.getElementType())))
    return nullptr;
  if ((terms.left || terms.right) && !view.isAddmm) {
    (void)refuse("expects dsd or bsr_addmm without transposes where rows or columns have factors");
    return nullptr;
  }
  if (view.factorElement.isInteger() && terms.hasActivation() &&
      terms.activation != ActivationKind::Relu) {
    (void)refuse("expects the activation relu of integers");
    return nullptr;
  }
  FailureOr<AddedOperands> added = chooseOperands(terms, type.getRank(), view.isAddmm);
  if (failed(added)) {
    (void)refuse(view.isAddmm
                     ? "expects sums that the operands input, bias and residual can add in order"
                     : "expects sums that the operands bias and residual can add in order");
    return nullptr;
  }
  if (view.skipsZeros && added->residual && !view.residual) {
    (void)refuse("expects no added matrix where zeros are skipped");
    return nullptr;
  }
  const bool isUnchanged =
      root == op &&
      (!view.residual || (added->residual && added->residual->tensor == view.residual)) &&
      (!view.input || (added->input && added->input->tensor == view.input));
  return isUnchanged ? nullptr : rewrite(result, terms, *added, needed);
}

Operation *ProductFusion::fuse() {
  collect();
  if (view.schedule) {
    (void)refuse("expects a product without a schedule");
    return nullptr;
  }
  if (view.hasDynamicBeta) {
    (void)refuse("expects a product whose beta is an attribute");
    return nullptr;
  }
  // The reason that counts is that of the longest computation that nothing else uses.
  std::string reason;
  for (Operation *root : llvm::reverse(operations)) {
    if (Operation *product = tryRoot(root))
      return product;
    llvm::DenseSet<Operation *> needed;
    if (reason.empty() && collectInside(root, needed))
      reason = fault;
  }
  Operation *product = tryRoot(op);
  if (!reason.empty())
    fault = reason;
  return product;
}

namespace {

struct FuseEpilogues : public mlir::blocksparse::impl::FuseEpiloguesPassBase<FuseEpilogues> {
  void runOnOperation() override {
    SmallVector<Operation *> products;
    getOperation()->walk([&](Operation *op) {
      if (viewProduct(op))
        products.push_back(op);
    });
    for (Operation *op : products) {
      while (true) {
        ProductFusion fusion(op);
        if (Operation *product = fusion.fuse()) {
          op = product;
          continue;
        }
        if (Operation *reader = fusion.getReader())
          op->emitRemark() << "keeps '" << reader->getName()
                           << "' apart from the epilogue: " << fusion.getFault();
        break;
      }
    }
  }
};

} // namespace
