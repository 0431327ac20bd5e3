// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifiers of the products. BlockSparseConstraints.td has the words of the numbered constraints.

#include "Constraints.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::detail;

/// Verifies dsd or dds, whose sparse factor is `sparse`, called `sparseName` in messages.
template <typename OpTy>
static LogicalResult verifySparseProduct(OpTy op, RankedTensorType sparse, StringRef sparseName) {
  auto emitError = [&] { return op.emitOpError(); };
  ProductOperands operands{op.getA().getType(), op.getB().getType(), op.getTransposeA(),
                           op.getTransposeB(), op.getTransposeOut()};
  RankedTensorType result = op.getResult().getType();
  if (failed(checkResolvable(sparse, sparseName, emitError)) ||
      failed(checkDenseProduct(operands, result, getProductShape(operands, emitError),
                               op.getPrecision(), emitError)))
    return failure();
  return checkEpilogue(getEpilogue(op, operands.a.getElementType(), result), emitError);
}

LogicalResult DSDOp::verify() { return verifySparseProduct(*this, getA().getType(), "a"); }
LogicalResult DDSOp::verify() { return verifySparseProduct(*this, getB().getType(), "b"); }

LogicalResult BsrAddmmOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  ProductOperands operands{getSparse().getType(), getDense().getType()};
  operands.nameA = "sparse";
  operands.nameB = "dense";
  RankedTensorType result = getResult().getType();
  if (failed(checkResolvable(getSparse().getType(), "sparse", emitError)) ||
      failed(checkDenseProduct(operands, result, getProductShape(operands, emitError),
                               getPrecision(), emitError)))
    return failure();
  return checkScaledEpilogue(getScaledEpilogue(*this, operands.a.getElementType(), result),
                             emitError);
}

LogicalResult MatmulOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  ProductOperands operands{getA().getType(), getB().getType(), getTransposeA(), getTransposeB()};
  RankedTensorType result = getResult().getType();
  if (failed(checkDenseProduct(operands, result, getMatmulShape(getForm(), operands, emitError),
                               getPrecision(), emitError)))
    return failure();
  return checkEpilogue(getEpilogue(*this, operands.a.getElementType(), result), emitError);
}

//===----------------------------------------------------------------------===//
// Sparse results
//===----------------------------------------------------------------------===//

/// Checks C6 and C8: the rows and columns of the product are those of the result, and each of its
/// leading dimensions is missing, 1 or equal to that of the result.
static LogicalResult checkSampledShape(RankedTensorType result, ArrayRef<int64_t> product,
                                       EmitError emitError) {
  ArrayRef<int64_t> full = result.getShape();
  bool fits = product.size() <= full.size() && maybeEqual(product.take_back(2), full.take_back(2));
  if (fits)
    for (auto [size, whole] :
         llvm::zip_equal(product.drop_back(2), full.take_back(product.size()).drop_back(2)))
      fits &= size == 1 || maybeEqual(size, whole);
  if (!fits)
    return emitError() << "expects a result of shape " << formatShape(product) << ", but got "
                       << formatShape(full);
  return success();
}

/// Checks what sdd and sampled_addmm share: the product fits the sparse result.
static LogicalResult checkSampledProduct(const ProductOperands &operands, RankedTensorType result,
                                         Precision precision, EmitError emitError) {
  Type element = operands.a.getElementType();
  FailureOr<SmallVector<int64_t>> shape = getProductShape(operands, emitError);
  if (failed(shape) || failed(checkResolvable(result, "the result", emitError)) ||
      failed(checkFactorElements(element, operands.b.getElementType(), operands.nameA,
                                 operands.nameB, emitError)) ||
      failed(checkPrecision(precision, element, emitError)) ||
      failed(checkSampledShape(result, *shape, emitError)))
    return failure();
  return checkProductElement(element, result.getElementType(), emitError);
}

LogicalResult SDDOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  ProductOperands operands{getA().getType(), getB().getType(), getTransposeA(), getTransposeB(),
                           getTransposeOut()};
  RankedTensorType result = getResult().getType();
  if (failed(checkSampledProduct(operands, result, getPrecision(), emitError)) ||
      failed(checkPattern(getPattern(), result, emitError)))
    return failure();
  double alpha = getAlpha().convertToDouble();
  Type element = operands.a.getElementType();
  if (failed(checkFactors(Factor{"alpha", alpha, getDynamicAlpha()}, element, emitError))) // C62
    return failure();
  return checkIntegralFactors(element, alpha, 0.0, emitError);
}

LogicalResult SampledAddmmOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  ProductOperands operands{getA().getType(), getB().getType(), getTransposeA(), getTransposeB()};
  RankedTensorType result = getResult().getType();
  double alpha = getAlpha().convertToDouble(), beta = getBeta().convertToDouble();
  Type element = operands.a.getElementType();
  if (failed(checkSampledProduct(operands, result, getPrecision(), emitError)) ||
      failed(checkFactors({{"alpha", alpha, getDynamicAlpha()}, {"beta", beta, getDynamicBeta()}},
                          element, emitError))) // C62
    return failure();
  return checkIntegralFactors(element, alpha, beta, emitError);
}

LogicalResult ScatterMMOp::verify() {
  ScatterOperands operands{
      getBlocks().getType(), getOthers().getType(), getAccumulators().getType(),
      getIndices(),          getFormat(),           static_cast<int64_t>(getSplitN()),
      getPrecision()};
  return checkScatterMM(operands, [&] { return emitOpError(); });
}
