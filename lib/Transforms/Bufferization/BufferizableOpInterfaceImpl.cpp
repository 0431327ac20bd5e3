// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Transforms/BufferizableOpInterfaceImpl.h"

#include "blocksparse/IR/PlannedOps.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::bufferization;

/// Replaces `op` by the same operation on the buffers of its operands, and its results by its init
/// buffers.
static LogicalResult bufferizeInPlaceOfTensors(DestinationStyleOpInterface op,
                                               RewriterBase &rewriter,
                                               const BufferizationOptions &options,
                                               BufferizationState &state) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  SmallVector<Value> operands, inits;
  for (OpOperand &operand : op->getOpOperands()) {
    Value buffer = operand.get();
    if (isa<TensorType>(buffer.getType())) {
      FailureOr<Value> found = getBuffer(rewriter, buffer, options, state);
      if (failed(found))
        return failure();
      buffer = *found;
    }
    operands.push_back(buffer);
    if (op.isDpsInit(&operand))
      inits.push_back(buffer);
  }
  clone(rewriter, op.getOperation(), TypeRange(), operands);
  replaceOpWithBufferizedValues(rewriter, op, inits);
  return success();
}

/// Returns true if the lowering reads element (b, s, i, j) of `operand` for the last time before it
/// writes element (b, s, i, j) of the first init, in the same row.
static bool isReadBeforeWrite(PlannedSoftmaxOp op, OpOperand *operand) {
  return operand->get() == op.getX();
}
static bool isReadBeforeWrite(PlannedSoftmaxGradOp op, OpOperand *operand) {
  return operand->get() == op.getY() || operand->get() == op.getDy();
}

namespace {

template <typename OpTy>
struct PlannedOpModel : public DstBufferizableOpInterfaceExternalModel<PlannedOpModel<OpTy>, OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    // An accumulation reads its destination; every other operation only writes it.
    return std::is_same_v<OpTy, PlannedScatterMMOp> ||
           !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }

  bool bufferizesToElementwiseAccess(Operation *op, const AnalysisState &,
                                     ArrayRef<OpOperand *> operands) const {
    if constexpr (std::is_same_v<OpTy, PlannedSoftmaxOp> ||
                  std::is_same_v<OpTy, PlannedSoftmaxGradOp>) {
      auto planned = cast<OpTy>(op);
      OpOperand *init = cast<DestinationStyleOpInterface>(op).getDpsInitOperand(0);
      return llvm::all_of(operands, [&](OpOperand *operand) {
        return operand == init || isReadBeforeWrite(planned, operand);
      });
    }
    return false;
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    return bufferizeInPlaceOfTensors(cast<DestinationStyleOpInterface>(op), rewriter, options,
                                     state);
  }
};

} // namespace

namespace {
/// Says that a kernel may read and write each buffer that it is given, so that buffers which a
/// program hands to its own kernels are freed after the launch.
struct LaunchEffects
    : public MemoryEffectOpInterface::ExternalModel<LaunchEffects, gpu::LaunchFuncOp> {
  void
  getEffects(Operation *op,
             SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) const {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<BaseMemRefType>(operand.get().getType()))
        continue;
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    }
    // A program's own kernel may have any other side effect, so launches are kept in their order.
    effects.emplace_back(MemoryEffects::Read::get());
    effects.emplace_back(MemoryEffects::Write::get());
  }
};
} // namespace

void mlir::blocksparse::registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, gpu::GPUDialect *) {
    gpu::LaunchFuncOp::attachInterface<LaunchEffects>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, BlockSparseDialect *) {
    forEachPlannedOp(
        [&]<typename OpTy>() { OpTy::template attachInterface<PlannedOpModel<OpTy>>(*context); });
  });
}
