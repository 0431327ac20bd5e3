// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What LLVM's code generator would end the process for, found before it runs.

#ifndef BLOCKSPARSE_LIB_TARGET_GPU_KERNELCHECKS_H
#define BLOCKSPARSE_LIB_TARGET_GPU_KERNELCHECKS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::blocksparse {

/// Whether the chip has every instruction of the module and PTX `ptxVersion` (10 * major + minor)
/// can say it.
LogicalResult checkInstructions(gpu::GPUModuleOp module, StringRef chip, unsigned ptxVersion);

/// Whether kernels are complete after optimisation: nothing is linked to them, no function of a
/// mathematics library is left that the device has not, no type that it has not.
LogicalResult checkCode(const llvm::Module &module, Location location);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TARGET_GPU_KERNELCHECKS_H
