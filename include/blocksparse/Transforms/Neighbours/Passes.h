// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Declares the passes that treat operations of upstream dialects beside those of blocksparse
// (docs/Passes/TransformsNeighbours.md).

#ifndef BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_PASSES_H
#define BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::blocksparse {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "blocksparse/Transforms/Neighbours/Passes.h.inc"

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_PASSES_H
