// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_IR_BYTECODEINTERFACE_H
#define BLOCKSPARSE_LIB_IR_BYTECODEINTERFACE_H

#include "blocksparse/IR/BlockSparseDialect.h"

namespace mlir::blocksparse::detail {

/// Makes bytecode encode layouts together with their resources.
void addBytecodeInterface(BlockSparseDialect &dialect);

} // namespace mlir::blocksparse::detail

#endif // BLOCKSPARSE_LIB_IR_BYTECODEINTERFACE_H
