// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_GPU_PASSES_H
#define BLOCKSPARSE_TARGET_GPU_PASSES_H

#include "blocksparse/Target/TargetOption.h"
#include "mlir/Pass/Pass.h"

namespace mlir::blocksparse {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "blocksparse/Target/GPU/Passes.h.inc"

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_GPU_PASSES_H
