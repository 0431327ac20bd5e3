// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_INTERPRETER_REFERENCELINALG_H
#define BLOCKSPARSE_LIB_INTERPRETER_REFERENCELINALG_H

#include "ReferenceOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::blocksparse {

/// Returns the values of the results of a structured operation of linalg on dense tensors, named or
/// generic. The lookup also knows what the body uses from outside, a tensor of one element for a
/// number. A sum along a loop has the error bound of a sum in any order. Fails with an error at the
/// operation, or at the operation of its body that the reference does not know.
FailureOr<std::vector<ReferenceValue>> evaluateStructured(linalg::LinalgOp op,
                                                          ReferenceLookup lookup);

/// Returns true if the reference knows the operations of the body.
bool isKnownStructured(linalg::LinalgOp op);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_INTERPRETER_REFERENCELINALG_H
