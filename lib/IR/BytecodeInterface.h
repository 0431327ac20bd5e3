// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_IR_BYTECODEINTERFACE_H
#define BLOCKSPARSE_LIB_IR_BYTECODEINTERFACE_H

#include "blocksparse/IR/BlockSparseDialect.h"
#include "mlir/Bytecode/BytecodeImplementation.h"

namespace mlir::blocksparse::detail {

/// Makes bytecode encode layouts together with their resources.
void addBytecodeInterface(BlockSparseDialect &dialect);

/// Returns the version of the dialect in the file that `reader` reads; 1 if the file has none.
uint64_t getBytecodeVersion(DialectBytecodeReader &reader);

} // namespace mlir::blocksparse::detail

#endif // BLOCKSPARSE_LIB_IR_BYTECODEINTERFACE_H
