// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifiers and effects of the checks of run-time indices.

#include "Constraints.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::detail;

LogicalResult CheckPatternOp::verify() {
  return checkPatternIndices(getCrowIndices(), getColIndices(), [&] { return emitOpError(); });
}

LogicalResult CheckScatterIndicesOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  if (failed(checkScatterIndices(getIndices(), getFormat(), emitError)))
    return failure();
  return checkSplit(getFormat(), static_cast<int64_t>(getSplitN()), emitError);
}

/// Adds the effects of a check: it reads its memrefs and may end the call, so that it is neither
/// erased nor moved past a write.
template <typename OpTy>
static void addCheckEffects(OpTy op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : op->getOpOperands())
    if (isa<MemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  effects.emplace_back(MemoryEffects::Write::get());
}

void CheckPatternOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addCheckEffects(*this, effects);
}
void CheckScatterIndicesOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addCheckEffects(*this, effects);
}
void RefuseOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addCheckEffects(*this, effects);
}
