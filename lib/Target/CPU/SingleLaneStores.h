// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_TARGET_CPU_SINGLELANESTORES_H
#define BLOCKSPARSE_LIB_TARGET_CPU_SINGLELANESTORES_H

namespace llvm {
class Module;
}

namespace mlir::blocksparse {

/// Stores the one element of every masked store whose constant mask has one lane. LLVM 22 writes
/// the element as wide as it was before it was truncated, on processors with AVX-512: a column of
/// bf16 loses the element that follows it, which may be another thread's, or lie past the end
/// (llvm-project issue 179489). Must be called when all masks are as constant as they will be.
void storeSingleLanes(llvm::Module &module);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TARGET_CPU_SINGLELANESTORES_H
