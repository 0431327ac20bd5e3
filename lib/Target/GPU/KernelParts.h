// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels that need nothing of each other, so that PTX of each is made on a thread of its own.

#ifndef BLOCKSPARSE_LIB_TARGET_GPU_KERNELPARTS_H
#define BLOCKSPARSE_LIB_TARGET_GPU_KERNELPARTS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::blocksparse {

/// A kernel and the variables of its module that it names.
struct KernelPart {
  LLVM::LLVMFuncOp kernel;
  SmallVector<LLVM::GlobalOp> variables;
};

/// The kernels of a module in the llvm dialect, in its order. None where one is no part on its own:
/// a function that is no kernel, a variable with a definition that several kernels share, debug
/// information (whose sections are one for all).
SmallVector<KernelPart> splitKernels(gpu::GPUModuleOp module);

/// A module with the part's kernel and variables alone. Reads `module` only, so that threads may
/// copy parts of one module.
OwningOpRef<gpu::GPUModuleOp> cloneModule(gpu::GPUModuleOp module, const KernelPart &part);

/// One PTX text of those of several parts: as LLVM writes it for a module with all the kernels.
/// Fails for a text that does not hold a kernel with `.visible`.
FailureOr<std::string> joinPTX(ArrayRef<std::string> parts);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TARGET_GPU_KERNELPARTS_H
