// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_INTERPRETER_REFERENCEELEMENTWISE_H
#define BLOCKSPARSE_LIB_INTERPRETER_REFERENCEELEMENTWISE_H

#include "ReferenceOps.h"

namespace mlir::blocksparse {

/// Returns true if `op` applies one scalar operation to each element of its tensors.
bool isElementwiseOnTensors(Operation *op);

/// Returns the value of the result of an elementwise operation of the arith and math dialects. The
/// lookup returns a tensor of one element for a scalar operand. Errors of the operands are carried
/// through the operation; where they may change the result to anything (a comparison of numbers
/// that are closer than their errors, a divisor that may be 0), it is marked as unspecified. Fails
/// with an error at `op` for operations and types that the reference does not know.
FailureOr<ReferenceValue> evaluateElementwise(Operation *op, ReferenceLookup lookup);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_INTERPRETER_REFERENCEELEMENTWISE_H
