// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::blocksparse;

LogicalResult PlannedDSDOp::verify() { return success(); }
LogicalResult PlannedSDDOp::verify() { return success(); }
LogicalResult PlannedSoftmaxOp::verify() { return success(); }
LogicalResult PlannedSoftmaxGradOp::verify() { return success(); }
LogicalResult PlannedScatterMMOp::verify() { return success(); }
LogicalResult PlannedMatmulOp::verify() { return success(); }
LogicalResult PlannedToDenseOp::verify() { return success(); }
LogicalResult PlannedFromDenseOp::verify() { return success(); }
LogicalResult PlannedTransposeOp::verify() { return success(); }
LogicalResult BsrRowLutOp::verify() { return success(); }
LogicalResult BsrCoordinateLutOp::verify() { return success(); }
LogicalResult BsrTransposeIndicesOp::verify() { return success(); }

/// Reads every input memref and writes (and, for an accumulation, reads) every init.
static void addBufferEffects(DestinationStyleOpInterface op, bool readsInits, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool init = op.isDpsInit(&operand);
    if (!init || readsInits)
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (init)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

void PlannedDSDOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) { addBufferEffects(*this, false, effects); }
void PlannedSDDOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) { addBufferEffects(*this, false, effects); }
void PlannedSoftmaxOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) { addBufferEffects(*this, false, effects); }
void PlannedSoftmaxGradOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) { addBufferEffects(*this, false, effects); }
void PlannedScatterMMOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) { addBufferEffects(*this, true, effects); }
void PlannedMatmulOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) { addBufferEffects(*this, false, effects); }
void PlannedToDenseOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) { addBufferEffects(*this, false, effects); }
void PlannedFromDenseOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) { addBufferEffects(*this, false, effects); }
void PlannedTransposeOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) { addBufferEffects(*this, false, effects); }
void BsrRowLutOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) { addBufferEffects(*this, false, effects); }
void BsrCoordinateLutOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) { addBufferEffects(*this, false, effects); }
void BsrTransposeIndicesOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) { addBufferEffects(*this, false, effects); }
