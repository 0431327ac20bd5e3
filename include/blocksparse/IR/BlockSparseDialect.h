// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_IR_BLOCKSPARSEDIALECT_H
#define BLOCKSPARSE_IR_BLOCKSPARSEDIALECT_H

#include "mlir/IR/Dialect.h"

#include "blocksparse/IR/BlockSparseDialect.h.inc"

#endif // BLOCKSPARSE_IR_BLOCKSPARSEDIALECT_H
