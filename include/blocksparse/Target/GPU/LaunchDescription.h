// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_GPU_LAUNCHDESCRIPTION_H
#define BLOCKSPARSE_TARGET_GPU_LAUNCHDESCRIPTION_H

#include "blocksparse/Target/FunctionSignature.h"
#include "blocksparse/Target/TargetInfo.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::blocksparse {

/// Is the version of the JSON of describeLaunches. It rises when a reader of the version before
/// would misread it.
inline constexpr int64_t launchDescriptionVersion = 1;

/// Returns JSON that says how to launch the kernels of a module, in the form of docs/Launching.md:
/// what the host code of each function of `signatures` computes, allocates and launches. The module
/// is one that buildLowerGPUToLLVMPipeline leaves with `kernelsOnly`; its host code is simplified.
/// Fails for host code that the form cannot express.
FailureOr<std::string> describeLaunches(ModuleOp module, ArrayRef<FunctionSignature> signatures,
                                        const ::blocksparse::TargetInfo &target);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_GPU_LAUNCHDESCRIPTION_H
