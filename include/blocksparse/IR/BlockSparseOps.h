// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_IR_BLOCKSPARSEOPS_H
#define BLOCKSPARSE_IR_BLOCKSPARSEOPS_H

#include "blocksparse/IR/BlockSparseAttrs.h"
#include "blocksparse/IR/DialectAttributes.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Support/IndexFaults.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "blocksparse/IR/BlockSparseOps.h.inc"

#endif // BLOCKSPARSE_IR_BLOCKSPARSEOPS_H
