// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// This file merges programs for several targets into one module.

#ifndef BLOCKSPARSE_COMPILER_TARGETS_H
#define BLOCKSPARSE_COMPILER_TARGETS_H

#include "blocksparse/Target/TargetInfo.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::blocksparse {

/// Moves the programs for `targets` (at least one a GPU), as the stage `llvm` leaves them, into
/// the empty module `merged`. Their functions and globals get the chip's name as a suffix; each
/// entry point becomes a function that asks blocksparseRtCallSelect where to go and returns a
/// status.
void mergePrograms(ModuleOp merged, ArrayRef<OwningOpRef<ModuleOp>> programs,
                   ArrayRef<::blocksparse::TargetInfo> targets);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_COMPILER_TARGETS_H
