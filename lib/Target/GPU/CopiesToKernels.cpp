// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProgramSymbols.h"
#include "blocksparse/Conversion/BlockSparseToGPU.h"
#include "blocksparse/Conversion/StructuredToGPU.h"
#include "blocksparse/Target/GPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_COPIESTOKERNELSPASS
#include "blocksparse/Target/GPU/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

/// Fails for the operations of linalg that have no kernel: they would run on the host.
static LogicalResult checkLinalg(Operation *op) {
  if (!isa<linalg::LinalgOp>(op) || isa<linalg::MapOp, linalg::GenericOp>(op))
    return success();
  return op->emitOpError("expects host code that does not touch device memory, but got ")
         << op->getName();
}

/// Fails for loops that carry buffers: host code would keep their addresses in memory, to free
/// them.
static LogicalResult checkLoop(Operation *op) {
  if (!isa<scf::ForOp, scf::WhileOp>(op))
    return success();
  for (Type type : op->getResultTypes())
    if (isa<BaseMemRefType>(type))
      return op->emitOpError(
                 "expects a loop on a GPU to carry tensors whose sizes are known to stay "
                 "the same, but got ")
             << type;
  return success();
}

/// Makes maps that compute elements structured loops; what is left writes one value everywhere.
static void generalizeMaps(func::FuncOp function) {
  SmallVector<linalg::MapOp> computed;
  function.walk([&](linalg::MapOp op) {
    Value value = op.getBody()->getTerminator()->getOperand(0);
    if (!op.getInputs().empty() || value.getParentRegion() == &op.getMapper())
      computed.push_back(op);
  });
  for (linalg::MapOp op : computed) {
    IRRewriter rewriter(op);
    (void)linalg::generalizeNamedOp(rewriter, op);
  }
}

namespace {

struct CopiesToKernels : mlir::blocksparse::impl::CopiesToKernelsPassBase<CopiesToKernels> {
  using CopiesToKernelsPassBase::CopiesToKernelsPassBase;

  void runOnOperation() override {
    if (failed(checkIsGPU(target, [&] { return getOperation().emitError(); })))
      return signalPassFailure();
    SmallVector<memref::CopyOp> copies;
    SmallVector<linalg::MapOp> fills;
    SmallVector<linalg::GenericOp> structured;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function->hasAttr(hostFunctionAttr))
        continue;
      generalizeMaps(function);
      function.walk([&](linalg::MapOp fill) { fills.push_back(fill); });
      function.walk([&](linalg::GenericOp op) { structured.push_back(op); });
      WalkResult walked = function.walk([&](Operation *op) -> WalkResult {
        auto copy = dyn_cast<memref::CopyOp>(op);
        if (!copy)
          return failed(checkLinalg(op)) ? failure() : checkLoop(op);
        if (!isa<MemRefType>(copy.getSource().getType()) ||
            !isa<MemRefType>(copy.getTarget().getType()))
          return copy.emitOpError("expects buffers of known rank, but got ")
                 << copy.getSource().getType();
        copies.push_back(copy);
        return WalkResult::advance();
      });
      if (walked.wasInterrupted())
        return signalPassFailure();
    }
    convertCopiesToGPU(copies, getOperation(), target);
    convertFillsToGPU(fills, getOperation(), target);
    if (failed(convertStructuredToGPU(structured, getOperation(), target)))
      signalPassFailure();
  }
};

} // namespace
