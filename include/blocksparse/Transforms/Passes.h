// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Declares the passes from the source to the planned form (docs/Passes/Transforms.md).

#ifndef BLOCKSPARSE_TRANSFORMS_PASSES_H
#define BLOCKSPARSE_TRANSFORMS_PASSES_H

#include "blocksparse/Target/TargetOption.h"
#include "mlir/Pass/Pass.h"

namespace mlir::blocksparse {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "blocksparse/Transforms/Passes.h.inc"

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TRANSFORMS_PASSES_H
