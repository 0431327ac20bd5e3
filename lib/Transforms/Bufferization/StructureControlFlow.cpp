// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Transforms/BufferizableOpInterfaceImpl.h"
#include "blocksparse/Transforms/Bufferization/Passes.h"

#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Dominance.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_STRUCTURECONTROLFLOWPASS
#include "blocksparse/Transforms/Bufferization/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// Creates structured control flow. A tensor that no path defines is empty, because poison has no
/// buffer.
class Structuring : public ControlFlowToSCFTransformation {
public:
  Value getUndefValue(Location loc, OpBuilder &builder, Type type) override {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && tensor.hasStaticShape() && !isSparseTensor(type))
      return tensor::EmptyOp::create(builder, loc, tensor.getShape(), tensor.getElementType());
    return ControlFlowToSCFTransformation::getUndefValue(loc, builder, type);
  }
};

} // namespace

/// Fails at the first branch that has no structured form.
static LogicalResult checkBranches(func::FuncOp function) {
  for (Block &block : function.getBody()) {
    Operation *branch = block.getTerminator();
    if (isa<cf::BranchOp, cf::CondBranchOp, cf::SwitchOp, func::ReturnOp>(branch))
      continue;
    return branch->emitOpError("expects cf.br, cf.cond_br, cf.switch or func.return at the end of "
                               "a block of a function of several, but got ")
           << branch->getName();
  }
  return success();
}

static LogicalResult structure(func::FuncOp function) {
  if (function.isExternal() || function.getBody().hasOneBlock())
    return success();
  if (failed(checkBranches(function)))
    return failure();
  Structuring interface;
  DominanceInfo dominance(function);
  FailureOr<bool> changed = transformCFGToSCF(function.getBody(), interface, dominance);
  if (succeeded(changed) && function.getBody().hasOneBlock())
    return success();
  return function.emitOpError("expects branches that loops and conditions can express, but got ")
         << function.getBody().getBlocks().size() << " blocks";
}

namespace {

struct StructureControlFlow
    : mlir::blocksparse::impl::StructureControlFlowPassBase<StructureControlFlow> {
  void getDependentDialects(DialectRegistry &registry) const override {
    StructureControlFlowPassBase::getDependentDialects(registry);
    // The inliner runs before this pass.
    registerNeighbourModels(registry);
  }

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(structure(function)))
        return signalPassFailure();
  }
};

} // namespace
