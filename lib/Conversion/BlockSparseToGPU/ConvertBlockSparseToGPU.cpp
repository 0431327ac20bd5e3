// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Conversion/BlockSparseToGPU.h"

#include "KernelBuilder.h"
#include "Mma/MmaKernels.h"
#include "Simt/SimtKernels.h"
#include "Stream/StreamKernels.h"
#include "Wgmma/WgmmaKernels.h"
#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/KernelProblem.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_CONVERTBLOCKSPARSETOGPUPASS
#include "blocksparse/Conversion/GPUPasses.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

/// The shape that a softmax carries is static.
static LogicalResult checkStaticShape(Operation *op) {
  auto shape = op->getAttrOfType<DenseI64ArrayAttr>("shape");
  if (!shape || llvm::none_of(shape.asArrayRef(), [](int64_t size) { return size < 0; }))
    return success();
  return op->emitError("expects a static shape, but got ") << shape;
}

static LogicalResult checkBuffers(Operation *op) {
  for (Value operand : op->getOperands())
    if (!isa<MemRefType>(operand.getType()))
      return op->emitError("expects operands on memrefs, but got ") << operand.getType();
  if (op->getNumResults() != 0)
    return op->emitError("expects no results after bufferization, but got ") << op->getNumResults();
  return checkStaticShape(op);
}

/// Returns true if the schedule names a family of tensor-core kernels. An operation that has no
/// kernel of a newer family runs on mma.sync.
static bool wantsTensorCores(std::optional<ScheduleAttr> schedule) {
  return schedule && ::blocksparse::usesTensorCores(schedule->getFamily());
}

/// Warns that an operation with a tensor-core schedule gets scalar kernels.
static void warnScalar(Operation *op, const ::blocksparse::GPUFacts &facts) {
  op->emitWarning() << "runs scalar kernels in place of " << op->getAttr("schedule") << ": "
                    << checkMmaSupport(op, facts);
}

/// Emits the kernels of an op by mma.sync where its schedule asks for tensor cores and there is
/// such a kernel, else the scalar ones.
template <typename OpTy>
static void emitPortable(ImplicitLocOpBuilder &host, KernelBuilder &kernels, OpTy op) {
  if constexpr (llvm::is_one_of<OpTy, PlannedDSDOp, PlannedSDDOp, PlannedMatmulOp>::value)
    if (wantsTensorCores(op.getSchedule())) {
      if (hasMma(kernels, op))
        return emitMma(host, kernels, op);
      warnScalar(op, kernels.getFacts());
    }
  emitSimt(host, kernels, op);
}

/// Emits the kernels of an op of whichever family its schedule asks for and can do it.
template <typename OpTy>
static void emitPlanned(ImplicitLocOpBuilder &host, KernelBuilder &kernels, OpTy op) {
  auto portable = [&](ImplicitLocOpBuilder &b) { emitPortable(b, kernels, op); };
  if constexpr (llvm::is_one_of<OpTy, PlannedDSDOp, PlannedSDDOp, PlannedMatmulOp>::value)
    if (hasWgmma(kernels, op))
      return emitWgmma(host, kernels, op, portable);
  if constexpr (std::is_same_v<OpTy, PlannedDSDOp>)
    if (hasStream(kernels, op))
      return emitStream(host, kernels, op, portable);
  portable(host);
}

/// Emits the kernels of `op`; fails for an op that is not planned or not on memrefs.
static LogicalResult emitKernels(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                 Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<PlannedDSDOp, PlannedSDDOp, PlannedMatmulOp, PlannedScatterMMOp, PlannedSoftmaxOp,
            PlannedSoftmaxGradOp, PlannedToDenseOp, PlannedFromDenseOp, PlannedTransposeOp,
            BsrRowLutOp, BsrCoordinateLutOp, BsrTransposeIndicesOp>([&](auto planned) {
        if (failed(checkBuffers(op)))
          return failure();
        emitPlanned(host, kernels, planned);
        return success();
      })
      .Default([](Operation *op) {
        return op->emitError("expects a planned operation, but got ") << op->getName();
      });
}

LogicalResult mlir::blocksparse::convertBlockSparseToGPU(ModuleOp module,
                                                         const ::blocksparse::TargetInfo &target) {
  if (failed(checkIsGPU(target, [&] { return module.emitError(); })))
    return failure();
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<BlockSparseDialect>(op->getDialect()))
      ops.push_back(op);
  });
  KernelBuilder kernels(module, target);
  for (Operation *op : ops) {
    ImplicitLocOpBuilder host(op->getLoc(), op);
    if (failed(emitKernels(host, kernels, op)))
      return failure();
    op->erase();
  }
  return success();
}

namespace {

struct ConvertBlockSparseToGPUPass
    : ::mlir::blocksparse::impl::ConvertBlockSparseToGPUPassBase<ConvertBlockSparseToGPUPass> {
  using ConvertBlockSparseToGPUPassBase::ConvertBlockSparseToGPUPassBase;

  void runOnOperation() override {
    if (failed(convertBlockSparseToGPU(getOperation(), target)))
      signalPassFailure();
  }
};

} // namespace
