// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_INTERPRETER_REFERENCETENSORS_H
#define BLOCKSPARSE_LIB_INTERPRETER_REFERENCETENSORS_H

#include "ReferenceOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::blocksparse {

/// Returns the value of an operand that is a known integer. Fails with an error at its user.
using IntegerLookup = llvm::function_ref<FailureOr<int64_t>(Value)>;

/// Returns the value of the result of an operation of the tensor dialect on dense tensors: those
/// that move elements, and `empty`. The first lookup gives a tensor of one element for a number; an
/// element that is extracted comes as a tensor of rank 0. Fails with an error at `op` for what the
/// reference does not know, and for slices that leave their tensor.
FailureOr<ReferenceValue> evaluateTensorOp(Operation *op, ReferenceLookup lookup,
                                           IntegerLookup integers);

/// Returns `dest`, a result of an scf.forall as the iterations before have left it, with the
/// elements that an iteration inserts.
FailureOr<ReferenceValue> evaluateParallelInsert(tensor::ParallelInsertSliceOp op,
                                                 const ReferenceValue &dest, ReferenceLookup lookup,
                                                 IntegerLookup integers);

/// Returns true if evaluateTensorOp knows `op`.
bool isKnownTensorOp(Operation *op);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_INTERPRETER_REFERENCETENSORS_H
