// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelFamilies.h"
#include "blocksparse/Conversion/BlockSparseToGPU.h"
#include "blocksparse/IR/PlannedOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_CONVERTBLOCKSPARSETOGPUPASS
#include "blocksparse/Conversion/GPUPasses.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

std::string mlir::blocksparse::findGPULoweringFault(Operation *op) {
  if (!isPlannedOp(op))
    return llvm::formatv("expects a planned operation, but got {0}", op->getName());
  for (Type type : op->getOperandTypes())
    if (!isa<MemRefType>(type) && !type.isIntOrIndexOrFloat())
      return llvm::formatv("expects operands on memrefs, but got '{0}'", type);
  if (op->getNumResults() != 0)
    return llvm::formatv("expects no results after bufferization, but got {0}",
                         op->getNumResults());
  // Softmax and its gradient carry their shape.
  auto shape = op->getAttrOfType<DenseI64ArrayAttr>("shape");
  if (shape && llvm::any_of(shape.asArrayRef(), [](int64_t size) { return size < 0; }))
    return llvm::formatv("expects a static shape, but got {0}", Attribute(shape));
  return "";
}

namespace {

/// Lowers the planned operation `operation` by the table of kernel families.
struct LowerToKernels : ConversionPattern {
  LowerToKernels(StringRef operation, MLIRContext *context, const ::blocksparse::TargetInfo &target)
      : ConversionPattern(operation, /*benefit=*/1, context), target(target) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value>,
                                ConversionPatternRewriter &rewriter) const override {
    if (std::string fault = findGPULoweringFault(op); !fault.empty())
      return rewriter.notifyMatchFailure(op, fault);
    auto module = op->getParentOfType<ModuleOp>();
    if (!module)
      return rewriter.notifyMatchFailure(op, "expects a module around the operation");
    KernelBuilder kernels(module, target);
    if (auto lut = dyn_cast<BsrRowLutOp>(op)) {
      for (PlannedDSDOp reader : emitWithReaders(rewriter, kernels, lut))
        rewriter.eraseOp(reader);
    } else {
      ImplicitLocOpBuilder host(op->getLoc(), rewriter);
      emitKernels(host, kernels, op);
    }
    rewriter.eraseOp(op);
    return success();
  }

  ::blocksparse::TargetInfo target;
};

} // namespace

void mlir::blocksparse::populateBlockSparseToGPUPatterns(RewritePatternSet &patterns,
                                                         const ::blocksparse::TargetInfo &target) {
  forEachPlannedOp([&]<typename OpTy>() {
    patterns.add<LowerToKernels>(OpTy::getOperationName(), patterns.getContext(), target);
  });
}

/// Reports the first operation that the patterns can't lower.
static LogicalResult checkOperations(ModuleOp module) {
  WalkResult walked = module.walk([](Operation *op) -> WalkResult {
    if (!isa_and_nonnull<BlockSparseDialect>(op->getDialect()) || isa<RefuseOp>(op))
      return WalkResult::advance();
    if (std::string fault = findGPULoweringFault(op); !fault.empty())
      return op->emitError(fault);
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

namespace {

struct ConvertBlockSparseToGPUPass
    : ::mlir::blocksparse::impl::ConvertBlockSparseToGPUPassBase<ConvertBlockSparseToGPUPass> {
  using ConvertBlockSparseToGPUPassBase::ConvertBlockSparseToGPUPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkIsGPU(target, [&] { return module.emitError(); })) ||
        failed(checkOperations(module)))
      return signalPassFailure();
    KernelBuilder(module, target).adoptKernels();
    RewritePatternSet patterns(&getContext());
    populateBlockSparseToGPUPatterns(patterns, target);
    ConversionTarget legal(getContext());
    legal.addIllegalDialect<BlockSparseDialect>();
    legal.addLegalOp<RefuseOp>();
    legal.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(module, legal, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
