// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_TRANSFORMS_VERIFYLOOKUPTABLES_H
#define BLOCKSPARSE_LIB_TRANSFORMS_VERIFYLOOKUPTABLES_H

#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse {

/// Verifies the constant row LUT, coordinate LUT or permutation of a planned operation: indices are
/// in range, every value block of the operation's type is used once and every tile of the result is
/// written once. Emits an error on `op` for the first fault. Every pass that computes from constant
/// tables asks here first, because a module may come from a file. Tables that are made at run time
/// are not looked at. Time and memory are linear in the tables, whatever the types say.
LogicalResult verifyLookUpTables(Operation *op);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TRANSFORMS_VERIFYLOOKUPTABLES_H
