// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_OPTIMIZEMODULE_H
#define BLOCKSPARSE_TARGET_OPTIMIZEMODULE_H

#include "llvm/Passes/PassBuilder.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::blocksparse {

/// Runs LLVM's default pipeline of `level` over a module that has the machine's triple and data
/// layout. Level 0 does nothing, and levels above 3 mean 3.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine, unsigned level,
                    const llvm::PipelineTuningOptions &tuning = {});

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_OPTIMIZEMODULE_H
