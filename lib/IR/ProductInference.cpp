// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Inference of the result types of the products with a dense result.

#include "ProductShapes.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::detail;

static LogicalResult addResult(FailureOr<SmallVector<int64_t>> shape, Type element,
                               SmallVectorImpl<Type> &types) {
  if (failed(shape))
    return failure();
  types.push_back(RankedTensorType::get(*shape, getDefaultProductElement(element)));
  return success();
}

/// Infers the result of dsd or dds, whose operands and flags have the same names.
template <typename OpTy>
static LogicalResult inferProduct(MLIRContext *context, std::optional<Location> location,
                                  ValueRange operands, DictionaryAttr attributes,
                                  OpaqueProperties properties, RegionRange regions,
                                  SmallVectorImpl<Type> &types) {
  typename OpTy::Adaptor adaptor(operands, attributes, properties, regions);
  auto a = cast<RankedTensorType>(adaptor.getA().getType());
  auto b = cast<RankedTensorType>(adaptor.getB().getType());
  ProductOperands product{a, b, adaptor.getTransposeA(), adaptor.getTransposeB(),
                          adaptor.getTransposeOut()};
  return addResult(getProductShape(product, ShapeErrors(context, location)), a.getElementType(),
                   types);
}

/// Returns true if the actual type has the inferred shape, as far as both are known, and an element
/// type that the inferred one permits.
static bool areCompatible(TypeRange inferred, TypeRange actual) {
  if (inferred.size() != 1 || actual.size() != 1)
    return false;
  auto expected = dyn_cast<RankedTensorType>(inferred.front());
  auto got = dyn_cast<RankedTensorType>(actual.front());
  // The element type of the operands is not known here, so the verifier checks the exact rule.
  return expected && got && !got.getEncoding() && maybeEqual(expected.getShape(), got.getShape()) &&
         (expected.getElementType() == got.getElementType() ||
          (isa<FloatType>(expected.getElementType()) && isa<FloatType>(got.getElementType())));
}

LogicalResult DSDOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                      ValueRange operands, DictionaryAttr attributes,
                                      OpaqueProperties properties, RegionRange regions,
                                      SmallVectorImpl<Type> &types) {
  return inferProduct<DSDOp>(context, location, operands, attributes, properties, regions, types);
}

LogicalResult DDSOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                      ValueRange operands, DictionaryAttr attributes,
                                      OpaqueProperties properties, RegionRange regions,
                                      SmallVectorImpl<Type> &types) {
  return inferProduct<DDSOp>(context, location, operands, attributes, properties, regions, types);
}

LogicalResult BsrAddmmOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                           ValueRange operands, DictionaryAttr attributes,
                                           OpaqueProperties properties, RegionRange regions,
                                           SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto sparse = cast<RankedTensorType>(adaptor.getSparse().getType());
  auto dense = cast<RankedTensorType>(adaptor.getDense().getType());
  ProductOperands product{sparse, dense};
  product.nameA = "sparse";
  product.nameB = "dense";
  return addResult(getProductShape(product, ShapeErrors(context, location)),
                   sparse.getElementType(), types);
}

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                         ValueRange operands, DictionaryAttr attributes,
                                         OpaqueProperties properties, RegionRange regions,
                                         SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto a = cast<RankedTensorType>(adaptor.getA().getType());
  auto b = cast<RankedTensorType>(adaptor.getB().getType());
  ProductOperands product{a, b, adaptor.getTransposeA(), adaptor.getTransposeB()};
  return addResult(getMatmulShape(adaptor.getForm(), product, ShapeErrors(context, location)),
                   a.getElementType(), types);
}

bool DSDOp::isCompatibleReturnTypes(TypeRange inferred, TypeRange actual) {
  return areCompatible(inferred, actual);
}
bool DDSOp::isCompatibleReturnTypes(TypeRange inferred, TypeRange actual) {
  return areCompatible(inferred, actual);
}
bool BsrAddmmOp::isCompatibleReturnTypes(TypeRange inferred, TypeRange actual) {
  return areCompatible(inferred, actual);
}
bool MatmulOp::isCompatibleReturnTypes(TypeRange inferred, TypeRange actual) {
  return areCompatible(inferred, actual);
}
