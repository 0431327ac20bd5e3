// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../ExternalCall.h"
#include "ElementwiseToCPU.h"
#include "LowerToLoops.h"
#include "blocksparse/Conversion/BlockSparseToCPU.h"
#include "blocksparse/Conversion/Passes.h"
#include "blocksparse/IR/PlannedOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_CONVERTBLOCKSPARSETOCPUPASS
#include "blocksparse/Conversion/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

void mlir::blocksparse::lowerToLoops(ImplicitLocOpBuilder &b, PlannedCallOp op,
                                     const CPULoweringOptions &) {
  emitExternalCall(b, op);
}

/// Returns the operand of `op` whose value blocks must have a static shape, or null.
static Value getStaticValues(Operation *op) {
  if (auto dsd = dyn_cast<PlannedDSDOp>(op))
    return dsd.getValues();
  if (auto sdd = dyn_cast<PlannedSDDOp>(op))
    return sdd.getInit();
  return {};
}

/// Returns the operands of `op` whose number of columns must be known: scratch is made for them.
static SmallVector<Value> getStaticColumns(Operation *op) {
  if (auto attention = dyn_cast<PlannedAttentionOp>(op))
    return {attention.getQ(), attention.getV()};
  if (auto grad = dyn_cast<PlannedAttentionGradOp>(op))
    return {grad.getQ(), grad.getV()};
  return {};
}

std::string mlir::blocksparse::findCPULoweringFault(Operation *op) {
  if (!isPlannedOp(op))
    return llvm::formatv("expects a planned operation, but got {0}", op->getName());
  for (Type type : op->getOperandTypes()) {
    // Checks of indices have sizes as operands, and calls any numbers.
    if (type.isIntOrIndexOrFloat())
      continue;
    auto buffer = dyn_cast<MemRefType>(type);
    if (!buffer)
      return llvm::formatv("expects memref operands, as bufferization leaves them, but got '{0}'",
                           type);
    if (!buffer.isStrided())
      return llvm::formatv("expects operands of strided layout, but got '{0}'", type);
  }
  if (Value values = getStaticValues(op)) {
    auto type = cast<MemRefType>(values.getType());
    if (type.getRank() < 3 || llvm::any_of(type.getShape().take_back(2), ShapedType::isDynamic))
      return llvm::formatv("expects values in blocks of static shape, but got '{0}'", Type(type));
  }
  for (Value matrices : getStaticColumns(op))
    if (auto type = cast<MemRefType>(matrices.getType()); type.isDynamicDim(type.getRank() - 1))
      return llvm::formatv("expects q and v of a static number of columns, but got '{0}'",
                           Type(type));
  return "";
}

namespace {

/// Replaces an operation by the loops that lowerToLoops emits.
template <typename OpTy>
struct LowerToLoops : OpRewritePattern<OpTy> {
  LowerToLoops(MLIRContext *context, const CPULoweringOptions &options)
      : OpRewritePattern<OpTy>(context), options(options) {}

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (std::string fault = findCPULoweringFault(op); !fault.empty())
      return rewriter.notifyMatchFailure(op, fault);
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    lowerToLoops(b, op, options);
    rewriter.eraseOp(op);
    return success();
  }

  CPULoweringOptions options;
};

} // namespace

void mlir::blocksparse::populateBlockSparseToCPUPatterns(RewritePatternSet &patterns,
                                                         const CPULoweringOptions &options) {
  // An operation without a lowerToLoops of its own (LowerToLoops.h) does not compile here.
  forEachPlannedOp(
      [&]<typename OpTy>() { patterns.add<LowerToLoops<OpTy>>(patterns.getContext(), options); });
}

/// Reports the first operation that the patterns can't lower.
static LogicalResult checkOperations(Operation *root) {
  WalkResult walked = root->walk([](Operation *op) -> WalkResult {
    if (!isa_and_nonnull<BlockSparseDialect>(op->getDialect()) || isa<RefuseOp>(op))
      return WalkResult::advance();
    if (std::string fault = findCPULoweringFault(op); !fault.empty())
      return op->emitOpError(fault);
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// Lowers structured operations: elementwise ones to vector loops, others to loops whose parallel
/// iterations are spread over threads.
static LogicalResult convertStructured(Operation *root, const CPULoweringOptions &options) {
  SmallVector<linalg::LinalgOp> loops;
  root->walk([&](linalg::LinalgOp op) { loops.push_back(op); });
  for (linalg::LinalgOp op : loops) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic || !lowerElementwise(b, generic, options)) {
      IRRewriter rewriter(op);
      if (failed(linalg::linalgOpToParallelLoops(rewriter, op)))
        return op.emitOpError("expects an operation that loops can compute, but got ")
               << op->getName();
    }
    op.erase();
  }
  return success();
}

namespace {

struct ConvertBlockSparseToCPUPass
    : ::mlir::blocksparse::impl::ConvertBlockSparseToCPUPassBase<ConvertBlockSparseToCPUPass> {
  using ConvertBlockSparseToCPUPassBase::ConvertBlockSparseToCPUPassBase;

  void runOnOperation() override {
    if (vectorBits < 128 || vectorBits % 128 != 0) {
      getOperation()->emitError("expects vector-bits to be a multiple of 128, but got ")
          << vectorBits.getValue();
      return signalPassFailure();
    }
    if (failed(checkOperations(getOperation())))
      return signalPassFailure();
    CPULoweringOptions options;
    options.vectorBits = vectorBits;
    if (failed(convertStructured(getOperation(), options)))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateBlockSparseToCPUPatterns(patterns, options);
    ConversionTarget target(getContext());
    target.addIllegalDialect<BlockSparseDialect>();
    target.addLegalOp<RefuseOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
