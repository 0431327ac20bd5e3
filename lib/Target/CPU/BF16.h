// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_TARGET_CPU_BF16_H
#define BLOCKSPARSE_LIB_TARGET_CPU_BF16_H

namespace llvm {
class Module;
}

namespace mlir::blocksparse {

/// Changes a module so that its values of bf16 need no library on any CPU. Must be called once,
/// before optimisation.
void prepareBF16(llvm::Module &module);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TARGET_CPU_BF16_H
