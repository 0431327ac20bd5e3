// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Transforms/Neighbours/LinalgProducts.h"
#include "blocksparse/IR/SparseTensor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::blocksparse;

/// Holds the loops that index a stack of matrices: those of the stack, and those of a matrix.
namespace {
struct MatrixLoops {
  SmallVector<unsigned> leading;
  unsigned row, column;
};
} // namespace

/// Returns the loops of an operand that each index one dimension.
static std::optional<MatrixLoops> getLoops(AffineMap map) {
  if (map.getNumResults() < 2 || map.getNumResults() > 4 || !map.isProjectedPermutation())
    return std::nullopt;
  SmallVector<unsigned> loops;
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    loops.push_back(map.getDimPosition(i));
  unsigned column = loops.pop_back_val(), row = loops.pop_back_val();
  return MatrixLoops{loops, row, column};
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
  return matchPattern(tensor, m_AnyZeroFloat()) || matchPattern(tensor, m_Zero());
}

/// Returns true if `leading` is the end of `all`: products broadcast what is missing before it.
static bool isEnd(ArrayRef<unsigned> leading, ArrayRef<unsigned> all) {
  return leading.size() <= all.size() && leading == all.take_back(leading.size());
}

FailureOr<LinalgProduct> mlir::blocksparse::matchProduct(linalg::LinalgOp op, std::string &fault) {
  auto refuse = [&](StringRef reason) {
    fault = reason.str();
    return failure();
  };
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() != 1 || !linalg::isaContractionOpInterface(op))
    return refuse("expects the product of two tensors, summed along one loop");
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  std::optional<MatrixLoops> a = getLoops(maps[0]), b = getLoops(maps[1]), c = getLoops(maps[2]);
  if (!a || !b || !c)
    return refuse("expects tensors of rank 2 to 4, each dimension indexed by one loop");
  LinalgProduct product{op.getDpsInputs()[0], op.getDpsInputs()[1], false, false, Value()};
  // A result that is stored transposed is the product of the factors in the other order.
  if (llvm::is_contained({b->row, b->column}, c->row)) {
    std::swap(a, b);
    std::swap(product.a, product.b);
  }
  product.transposeA = a->column == c->row;
  product.transposeB = b->row == c->column;
  unsigned sumA = product.transposeA ? a->row : a->column;
  unsigned sumB = product.transposeB ? b->column : b->row;
  if ((product.transposeA ? a->column : a->row) != c->row ||
      (product.transposeB ? b->row : b->column) != c->column || sumA != sumB ||
      op.getIteratorTypesArray()[sumA] != utils::IteratorType::reduction)
    return refuse("expects matrices in the last two dimensions");
  if (!isEnd(a->leading, c->leading) || !isEnd(b->leading, c->leading) ||
      std::max(a->leading.size(), b->leading.size()) != c->leading.size())
    return refuse("expects leading dimensions in the order of the result");
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
  Value init = op.getDpsInits().front();
  if (!isZero(init))
    product.added = init;
  return product;
}
