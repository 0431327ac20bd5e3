// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementwiseBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::blocksparse;

/// Returns true for operations that move bits and need no arithmetic on their element type.
static bool keepsBits(Operation *op) { return isa<arith::BitcastOp, arith::SelectOp>(op); }

/// Returns the type in which numbers of `element` are computed.
static Type getComputeElement(Type element) {
  auto number = dyn_cast<FloatType>(element);
  return number && number.getWidth() < 32 ? Float32Type::get(element.getContext()) : element;
}

static bool isElementType(Type type) {
  return type.isIndex() || (type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 64);
}

static std::string findBodyFault(Operation &op, llvm::function_ref<bool(Operation *)> supports,
                                 bool readsAnywhere) {
  if (matchPattern(&op, m_Constant()))
    return "";
  if (readsAnywhere && isa<linalg::IndexOp>(op))
    return "";
  auto load = dyn_cast<memref::LoadOp>(op);
  if (readsAnywhere && load && isElementType(load.getType()))
    return "";
  for (TypeRange types : {TypeRange(op.getOperandTypes()), TypeRange(op.getResultTypes())})
    for (Type type : types)
      if (!isElementType(type))
        return llvm::formatv("expects numbers of at most 64 bits, but got '{0}'", type);
  if (!OpTrait::hasElementwiseMappableTraits(&op) || op.getNumRegions() != 0 || !supports(&op))
    return llvm::formatv("expects operations that compute elements one by one, but got {0}",
                         op.getName());
  auto rounding = op.getAttrOfType<arith::RoundingModeAttr>("roundingmode");
  if (rounding && rounding.getValue() != arith::RoundingMode::to_nearest_even)
    return llvm::formatv("expects rounding to nearest even, but got {0}",
                         arith::stringifyRoundingMode(rounding.getValue()));
  return "";
}

/// Returns true if `map` gives the parallel loops in their order, and no other.
static bool givesParallelLoops(AffineMap map, ArrayRef<utils::IteratorType> iterators) {
  SmallVector<AffineExpr> loops;
  for (auto [loop, iterator] : llvm::enumerate(iterators))
    if (iterator == utils::IteratorType::parallel)
      loops.push_back(getAffineDimExpr(loop, map.getContext()));
  return map.getResults() == ArrayRef(loops);
}

std::string mlir::blocksparse::findStructuredFault(linalg::GenericOp op,
                                                   llvm::function_ref<bool(Operation *)> supports,
                                                   bool readsAnywhere) {
  for (Type type : op->getOperandTypes())
    if (!isa<MemRefType>(type))
      return llvm::formatv("expects operands on memrefs, but got '{0}'", type);
  if (op.getNumDpsInits() == 0)
    return "expects a result, but got none";
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (op.isDpsInit(&operand) ? !givesParallelLoops(map, op.getIteratorTypesArray())
                               : !map.isProjectedPermutation() && !readsAnywhere)
      return llvm::formatv("expects operands at the indices of the loops, but got {0}", map);
  }
  for (Operation &inner : op.getBlock()->without_terminator())
    if (std::string fault = findBodyFault(inner, supports, readsAnywhere); !fault.empty())
      return fault;
  return "";
}

std::string
mlir::blocksparse::findElementwiseFault(linalg::GenericOp op,
                                        llvm::function_ref<bool(Operation *)> supports) {
  if (op.getNumParallelLoops() != op.getNumLoops())
    return "expects parallel loops with a result, but got others";
  return findStructuredFault(op, supports);
}

SmallVector<Value> mlir::blocksparse::getOutsideValues(linalg::GenericOp op) {
  llvm::SetVector<Value> values;
  op.getBlock()->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (operand.getParentRegion() != &op.getRegion() && !matchPattern(operand, m_Constant()))
        values.insert(operand);
  });
  return values.takeVector();
}

namespace {

class BodyEmitter {
public:
  BodyEmitter(ImplicitLocOpBuilder &b, int64_t width, const IRMapping &outside,
              const ElementwiseTarget &target)
      : b(b), width(width), outside(outside), target(target) {}

  SmallVector<Value> run(linalg::GenericOp op, ValueRange elements) {
    inside.map(op.getBlock()->getArguments(), elements);
    for (Operation &inner : op.getBlock()->without_terminator())
      if (!matchPattern(&inner, m_Constant()))
        emit(&inner);
    return llvm::map_to_vector(op.getBlock()->getTerminator()->getOperands(),
                               [&](Value value) { return get(value); });
  }

private:
  Type withWidth(Type element) const {
    return width == 0 ? element : VectorType::get({width}, element);
  }

  Value spread(Value scalar) {
    return width == 0 ? scalar
                      : vector::BroadcastOp::create(b, withWidth(scalar.getType()), scalar);
  }

  /// Returns the value of the new body for one of the old body or of outside.
  Value get(Value value) {
    if (Value known = inside.lookupOrNull(value))
      return known;
    Attribute constant;
    Value scalar;
    if (matchPattern(value, m_Constant(&constant))) {
      auto number = cast<TypedAttr>(constant);
      Type compute = getComputeElement(value.getType());
      if (compute != value.getType())
        number = b.getFloatAttr(compute, cast<FloatAttr>(constant).getValueAsDouble());
      scalar = arith::ConstantOp::create(b, number);
      if (compute != value.getType())
        scalar = target.convert(b, scalar, value.getType());
    } else {
      scalar = outside.lookupOrDefault(value);
    }
    Value result = spread(scalar);
    inside.map(value, result);
    return result;
  }

  Value toCompute(Value value, Type element) {
    Type compute = getComputeElement(element);
    return compute == element ? value : target.convert(b, value, compute);
  }

  void emit(Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
      inside.map(op->getResult(0),
                 target.convert(b, get(op->getOperand(0)), op->getResult(0).getType()));
      return;
    }
    IRMapping operands;
    SmallVector<Value> values;
    for (Value operand : op->getOperands()) {
      Value value = get(operand);
      values.push_back(keepsBits(op) ? value : toCompute(value, operand.getType()));
      operands.map(operand, values.back());
    }
    if (Value result = target.emit(b, op, values))
      return mapResult(op->getResult(0), result);
    Operation *copy = b.insert(op->cloneWithoutRegions(operands));
    for (auto [from, to] : llvm::zip_equal(op->getResults(), copy->getResults())) {
      Type element = keepsBits(op) ? from.getType() : getComputeElement(from.getType());
      to.setType(withWidth(element));
      mapResult(from, to);
    }
  }

  void mapResult(Value from, Value to) {
    if (isa<FloatType>(from.getType()) && getElementTypeOrSelf(to.getType()) != from.getType())
      to = target.convert(b, to, from.getType());
    inside.map(from, to);
  }

  ImplicitLocOpBuilder &b;
  const int64_t width;
  const IRMapping &outside;
  const ElementwiseTarget &target;
  IRMapping inside;
};

} // namespace

SmallVector<Value> mlir::blocksparse::emitElementwiseBody(ImplicitLocOpBuilder &b,
                                                          linalg::GenericOp op, ValueRange elements,
                                                          int64_t width, const IRMapping &outside,
                                                          const ElementwiseTarget &target) {
  return BodyEmitter(b, width, outside, target).run(op, elements);
}
