// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_LOWERTOLOOPS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_LOWERTOLOOPS_H

#include "blocksparse/Conversion/BlockSparseToCPU.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse {

/// Each emits at `b` the loops that compute an operation on memrefs. The operation stays in place.
/// Requires that findCPULoweringFault has found no fault.
void lowerToLoops(ImplicitLocOpBuilder &b, PlannedDSDOp op, const CPULoweringOptions &options);
void lowerToLoops(ImplicitLocOpBuilder &b, PlannedSDDOp op, const CPULoweringOptions &options);
void lowerToLoops(ImplicitLocOpBuilder &b, PlannedMatmulOp op, const CPULoweringOptions &options);
void lowerToLoops(ImplicitLocOpBuilder &b, PlannedScatterMMOp op,
                  const CPULoweringOptions &options);
void lowerToLoops(ImplicitLocOpBuilder &b, PlannedSoftmaxOp op, const CPULoweringOptions &options);
void lowerToLoops(ImplicitLocOpBuilder &b, PlannedSoftmaxGradOp op,
                  const CPULoweringOptions &options);
void lowerToLoops(ImplicitLocOpBuilder &b, PlannedAttentionOp op,
                  const CPULoweringOptions &options);
void lowerToLoops(ImplicitLocOpBuilder &b, PlannedAttentionGradOp op,
                  const CPULoweringOptions &options);
void lowerToLoops(ImplicitLocOpBuilder &b, PlannedToDenseOp op, const CPULoweringOptions &options);
void lowerToLoops(ImplicitLocOpBuilder &b, PlannedFromDenseOp op,
                  const CPULoweringOptions &options);
void lowerToLoops(ImplicitLocOpBuilder &b, PlannedTransposeOp op,
                  const CPULoweringOptions &options);
void lowerToLoops(ImplicitLocOpBuilder &b, PlannedAddOp op, const CPULoweringOptions &options);
void lowerToLoops(ImplicitLocOpBuilder &b, PlannedCallOp op, const CPULoweringOptions &options);
void lowerToLoops(ImplicitLocOpBuilder &b, BsrRowLutOp op, const CPULoweringOptions &options);
void lowerToLoops(ImplicitLocOpBuilder &b, BsrCoordinateLutOp op,
                  const CPULoweringOptions &options);
void lowerToLoops(ImplicitLocOpBuilder &b, BsrTransposeIndicesOp op,
                  const CPULoweringOptions &options);
void lowerToLoops(ImplicitLocOpBuilder &b, CheckPatternOp op, const CPULoweringOptions &options);
void lowerToLoops(ImplicitLocOpBuilder &b, CheckScatterIndicesOp op,
                  const CPULoweringOptions &options);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_LOWERTOLOOPS_H
