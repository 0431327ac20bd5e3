// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Transforms/Bufferization/Passes.h"

#include "blocksparse/IR/DialectAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_ELEMENTWISETOLINALGPASS
#include "blocksparse/Transforms/Bufferization/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

static bool isTensor(Type type) { return isa<RankedTensorType>(type); }

static bool hasTensors(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>) ||
         llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>);
}

/// Returns true if `op` applies one scalar operation to each element of its tensors.
static bool isElementwise(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() > 0 &&
         op->getNumRegions() == 0 && llvm::all_of(op->getResultTypes(), isTensor);
}

/// Returns the number that all elements of a constant equal as a scalar constant, or null.
static Value createScalar(OpBuilder &builder, Location loc, Value tensor) {
  ElementsAttr elements;
  if (!matchPattern(tensor, m_Constant(&elements)) || elements.empty() || !elements.isSplat())
    return {};
  auto number = dyn_cast<TypedAttr>(elements.getSplatValue<Attribute>());
  return number ? arith::ConstantOp::create(builder, loc, number) : Value();
}

/// Replaces an elementwise operation by a linalg.generic that writes to a new tensor. Splat
/// constants become scalars of its body, so that no memory is read for them.
static void convert(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  SmallVector<Value> inputs, scalars;
  Value shape;
  for (Value operand : op->getOperands()) {
    bool isElement = isTensor(operand.getType());
    if (isElement && !shape)
      shape = operand;
    Value scalar = isElement ? createScalar(builder, loc, operand) : operand;
    scalars.push_back(scalar);
    if (!scalar)
      inputs.push_back(operand);
  }
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, shape);
  SmallVector<Value> outputs;
  for (Type type : op->getResultTypes())
    outputs.push_back(tensor::EmptyOp::create(builder, loc, sizes, getElementTypeOrSelf(type)));
  int64_t rank = sizes.size();
  SmallVector<AffineMap> maps(inputs.size() + outputs.size(), builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, op->getResultTypes(), inputs, outputs, maps, iterators,
      [&](OpBuilder &body, Location, ValueRange elements) {
        IRMapping numbers;
        size_t next = 0;
        for (auto [operand, scalar] : llvm::zip_equal(op->getOperands(), scalars))
          numbers.map(operand, scalar ? scalar : elements[next++]);
        Operation *scalar = body.clone(*op, numbers);
        for (Value result : scalar->getResults())
          result.setType(getElementTypeOrSelf(result.getType()));
        linalg::YieldOp::create(body, loc, scalar->getResults());
      });
  op->replaceAllUsesWith(generic.getResults());
  op->erase();
}

/// Fails for operations on tensors that bufferization does not know. Those of sparse_tensor have
/// its interface, but need the passes of their own dialect first.
static LogicalResult checkBufferizable(Operation *op) {
  if (OpTrait::hasElementwiseMappableTraits(op))
    for (Type type : op->getResultTypes())
      if (isa<UnrankedTensorType>(type))
        return op->emitOpError("expects tensors of known rank, but got ") << type;
  if (!hasTensors(op) || isa<func::FuncDialect>(op->getDialect()) ||
      (isa<bufferization::BufferizableOpInterface>(op) &&
       op->getDialect()->getNamespace() != "sparse_tensor"))
    return success();
  return op->emitOpError("expects an operation that can be computed in buffers, but got ")
         << op->getName() << " on tensors";
}

namespace {

struct ElementwiseToLinalg
    : public mlir::blocksparse::impl::ElementwiseToLinalgPassBase<ElementwiseToLinalg> {
  void runOnOperation() override {
    SmallVector<Operation *> elementwise;
    // A function of sizes repeats computations of the function whose sizes it returns.
    const bool isSizeFunction = getOperation()->hasAttr(hostFunctionAttr);
    WalkResult walked = getOperation()->walk([&](Operation *op) -> WalkResult {
      if (!op->getDialect() || !hasTensors(op))
        return WalkResult::advance();
      if (isElementwise(op)) {
        elementwise.push_back(op);
        return WalkResult::advance();
      }
      return isSizeFunction ? success() : checkBufferizable(op);
    });
    if (walked.wasInterrupted())
      return signalPassFailure();
    for (Operation *op : elementwise)
      convert(op);
  }
};

} // namespace
