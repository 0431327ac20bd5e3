// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// This file checks for everything at which LLVM's code generator would end the process.

#ifndef BLOCKSPARSE_LIB_TARGET_GPU_KERNELCHECKS_H
#define BLOCKSPARSE_LIB_TARGET_GPU_KERNELCHECKS_H

#include "blocksparse/Target/TargetInfo.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::blocksparse {

/// Fails with an error at the first instruction of the module that the GPU `target` or PTX
/// `ptxVersion` (10 * major + minor) does not have.
LogicalResult checkInstructions(gpu::GPUModuleOp module, const ::blocksparse::TargetInfo &target,
                                unsigned ptxVersion);

/// Fails with an error unless kernels are complete after optimisation: nothing is linked to them,
/// and no function of a mathematics library and no type is left that the device does not have.
LogicalResult checkCode(const llvm::Module &module, Location location);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TARGET_GPU_KERNELCHECKS_H
