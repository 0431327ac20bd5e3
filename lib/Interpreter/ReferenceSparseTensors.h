// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_INTERPRETER_REFERENCESPARSETENSORS_H
#define BLOCKSPARSE_LIB_INTERPRETER_REFERENCESPARSETENSORS_H

#include "ReferenceOps.h"

namespace mlir::blocksparse {

/// Returns true if `op` is an operation of upstream's sparse_tensor dialect that the reference
/// knows: one that assembles a matrix in the BSR format, or converts it to a dense one.
bool isKnownSparseTensorOp(Operation *op);

/// Returns the value of such an operation: the dense matrix that its result stands for. Fails with
/// an error at `op` for indices that are not valid.
FailureOr<std::vector<ReferenceValue>> evaluateSparseTensorOp(Operation *op,
                                                              ReferenceLookup lookup);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_INTERPRETER_REFERENCESPARSETENSORS_H
