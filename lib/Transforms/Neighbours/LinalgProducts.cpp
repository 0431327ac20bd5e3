// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Transforms/Neighbours/LinalgProducts.h"
#include "blocksparse/IR/SparseTensor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::blocksparse;

/// Returns the loops that index the dimensions of an operand, each at most once.
static std::optional<SmallVector<unsigned>> getLoops(AffineMap map) {
  if (map.getNumResults() < 2 || map.getNumResults() > 4 || !map.isProjectedPermutation())
    return std::nullopt;
  SmallVector<unsigned> loops;
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    loops.push_back(map.getDimPosition(i));
  return loops;
}

/// Returns true if the factors' elements have a type that products take, and the result one that
/// they give.
static bool hasProductTypes(Type factor, Type result) {
  if (factor.isInteger(8))
    return result.isInteger(32);
  if (!isa<Float8E4M3FNType, Float8E5M2Type, Float16Type, BFloat16Type, Float32Type, Float64Type>(
          factor))
    return false;
  return result == factor || result == getAccumulatorType(factor);
}

/// Returns true if the body converts integers only with their sign.
static bool convertsSigned(Block &body) {
  return llvm::none_of(body, [](Operation &op) { return isa<arith::ExtUIOp>(op); });
}

/// Returns true if all elements of a tensor are 0.
static bool isZero(Value tensor) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    tensor = fill.getInputs().front();
  // The matchers of numbers read the first element.
  if (auto type = dyn_cast<RankedTensorType>(tensor.getType());
      type && type.hasStaticShape() && type.getNumElements() == 0)
    return true;
  return matchPattern(tensor, m_AnyZeroFloat()) || matchPattern(tensor, m_Zero());
}

namespace {

/// Says how a factor's dimensions are those of a stack of matrices [..., row, column].
struct Arrangement {
  bool transpose = false;
  /// The order in which they must be stored first; empty if none.
  SmallVector<int64_t> order;
};

} // namespace

/// Returns how the factor that `loops` index becomes matrices of the loops `row` and `column`, with
/// leading dimensions that are the end of `leading`: products broadcast what is missing before it.
static std::optional<Arrangement> arrange(ArrayRef<unsigned> loops, ArrayRef<unsigned> leading,
                                          unsigned row, unsigned column) {
  if (!llvm::is_contained(loops, row) || !llvm::is_contained(loops, column) ||
      loops.size() - 2 > leading.size())
    return std::nullopt;
  SmallVector<unsigned> wanted(leading.take_back(loops.size() - 2));
  wanted.append({row, column});
  Arrangement result;
  if (loops == ArrayRef(wanted))
    return result;
  result.transpose = true;
  std::swap(wanted.back(), wanted[wanted.size() - 2]);
  if (loops == ArrayRef(wanted))
    return result;
  result.transpose = false;
  std::swap(wanted.back(), wanted[wanted.size() - 2]);
  for (unsigned loop : wanted) {
    auto at = llvm::find(loops, loop);
    if (at == loops.end())
      return std::nullopt;
    result.order.push_back(at - loops.begin());
  }
  return result;
}

/// Returns true if the maps are those of `form`, score or context, for the loops of `c`.
static bool hasForm(MatmulForm form, ArrayRef<unsigned> a, ArrayRef<unsigned> b,
                    ArrayRef<unsigned> c, unsigned sum) {
  if (a.size() != 4 || b.size() != 4 || c.size() != 4)
    return false;
  // Q [B, M, H, D] x K [B, N, H, D] -> [B, H, M, N]; P [B, H, M, N] x V [B, N, H, D] -> [B, M, H,
  // D]
  if (form == MatmulForm::Score)
    return a == ArrayRef({c[0], c[2], c[1], sum}) && b == ArrayRef({c[0], c[3], c[1], sum});
  return a == ArrayRef({c[0], c[2], c[1], sum}) && b == ArrayRef({c[0], sum, c[2], c[3]});
}

/// Sets how the factors are stored, or returns false if they are no factors of matrices.
static bool setArrangement(LinalgProduct &product, SmallVector<unsigned> a, SmallVector<unsigned> b,
                           ArrayRef<unsigned> c, unsigned sum) {
  for (unsigned isSwapped : {0, 1}) {
    for (MatmulForm form : {MatmulForm::Score, MatmulForm::Context})
      if (hasForm(form, a, b, c, sum)) {
        product.form = form;
        return true;
      }
    if (isSwapped == 0) {
      std::swap(a, b);
      std::swap(product.a, product.b);
    }
  }
  std::swap(a, b);
  std::swap(product.a, product.b);
  unsigned row = c[c.size() - 2], column = c.back();
  // A result that is stored transposed is the product of the factors in the other order.
  if (llvm::is_contained(b, row)) {
    std::swap(a, b);
    std::swap(product.a, product.b);
  }
  ArrayRef<unsigned> leading = c.drop_back(2);
  std::optional<Arrangement> left = arrange(a, leading, row, sum);
  std::optional<Arrangement> right = arrange(b, leading, sum, column);
  if (!left || !right || std::max(a.size(), b.size()) != c.size())
    return false;
  product.transposeA = left->transpose;
  product.transposeB = right->transpose;
  product.orderA = left->order;
  product.orderB = right->order;
  return true;
}

/// Returns the loop along which an operation sums.
static std::optional<unsigned> getSummedLoop(linalg::LinalgOp op) {
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  return loops.size() == 1 ? std::optional(loops.front()) : std::nullopt;
}

FailureOr<LinalgProduct> mlir::blocksparse::matchProduct(linalg::LinalgOp op, std::string &fault) {
  auto refuse = [&](StringRef reason) {
    fault = reason.str();
    return failure();
  };
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      !linalg::isaContractionOpInterface(op))
    return refuse("expects the product of two tensors");
  std::optional<unsigned> sum = getSummedLoop(op);
  if (!sum)
    return refuse("expects a sum along one loop");
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto a = getLoops(maps[0]), b = getLoops(maps[1]), c = getLoops(maps[2]);
  if (!a || !b || !c)
    return refuse("expects tensors of rank 2 to 4, each dimension indexed by one loop");
  LinalgProduct product;
  product.a = op.getDpsInputs()[0];
  product.b = op.getDpsInputs()[1];
  if (!setArrangement(product, *a, *b, *c, *sum))
    return refuse("expects matrices in the last two dimensions of the result, and leading "
                  "dimensions that each factor has or that are missing from the left");
  auto factor = [](Value value) { return cast<RankedTensorType>(value.getType()); };
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  if (factor(product.a).getElementType() != factor(product.b).getElementType() ||
      !hasProductTypes(factor(product.a).getElementType(), result.getElementType()) ||
      !convertsSigned(*op.getBlock()))
    return refuse("expects element types that products of blocksparse have");
  if (isSparseTensor(result) ||
      (isSparseTensor(factor(product.a)) && isSparseTensor(factor(product.b))))
    return refuse("expects at most one sparse factor and a dense result");
  for (RankedTensorType type : {factor(product.a), factor(product.b), result})
    if (type.getEncoding() && !isSparseTensor(type))
      return refuse("expects tensors without an encoding of another dialect");
  const bool isPlain =
      product.orderA.empty() && product.orderB.empty() && product.form == MatmulForm::Linear;
  if (!isPlain && (isSparseTensor(factor(product.a)) || isSparseTensor(factor(product.b))))
    return refuse("expects a sparse factor and a dense one with their leading dimensions in order");
  Value init = op.getDpsInits().front();
  if (!isZero(init))
    product.added = init;
  return product;
}

SmallVector<ReassociationIndices> mlir::blocksparse::getJointLoops(linalg::LinalgOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
    return {};
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  // Returns the loop after `loop` in every operand that it indexes, or none.
  auto getNext = [&](unsigned loop) -> std::optional<unsigned> {
    std::optional<unsigned> next;
    for (AffineMap map : maps)
      for (unsigned i = 0; i < map.getNumResults(); ++i)
        if (map.getDimPosition(i) == loop) {
          if (i + 1 == map.getNumResults() || (next && *next != map.getDimPosition(i + 1)))
            return std::nullopt;
          next = map.getDimPosition(i + 1);
        }
    if (!next || kinds[*next] != kinds[loop])
      return std::nullopt;
    const bool isJoint = llvm::all_of(maps, [&](AffineMap map) {
      return map.isFunctionOfDim(loop) == map.isFunctionOfDim(*next);
    });
    return isJoint ? next : std::nullopt;
  };
  SmallVector<std::optional<unsigned>> next;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    next.push_back(getNext(loop));
  SmallVector<ReassociationIndices> joint;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (!next[loop] || llvm::is_contained(next, std::optional(loop)))
      continue;
    ReassociationIndices group;
    for (std::optional<unsigned> at = loop; at; at = next[*at])
      group.push_back(*at);
    joint.push_back(group);
  }
  return joint;
}
