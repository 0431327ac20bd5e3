// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// This file splits a module into kernels that need nothing of each other, so that the PTX of each
// is made on a thread of its own.

#ifndef BLOCKSPARSE_LIB_TARGET_GPU_KERNELPARTS_H
#define BLOCKSPARSE_LIB_TARGET_GPU_KERNELPARTS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::blocksparse {

/// Holds a kernel and the variables of its module that it names.
struct KernelPart {
  LLVM::LLVMFuncOp kernel;
  SmallVector<LLVM::GlobalOp> variables;
};

/// Returns the kernels of a module in the llvm dialect, in its order. Empty if the module has what
/// is no part by itself: a function that is no kernel, a variable with a definition that several
/// kernels share, or debug information, whose sections belong to all kernels.
SmallVector<KernelPart> splitKernels(gpu::GPUModuleOp module);

/// Returns a module with the part's kernel and variables alone. It does not change `module`, so
/// that several threads may copy parts of it.
OwningOpRef<gpu::GPUModuleOp> cloneModule(gpu::GPUModuleOp module, const KernelPart &part);

/// Returns one PTX text made of those of several parts: the text that LLVM writes for a module with
/// all the kernels. Fails for a text that has no kernel with `.visible`.
FailureOr<std::string> joinPTX(ArrayRef<std::string> parts);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TARGET_GPU_KERNELPARTS_H
