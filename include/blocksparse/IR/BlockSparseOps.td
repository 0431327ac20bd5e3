// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Every op of the dialect, in the order of the generated reference.

#ifndef BLOCKSPARSE_IR_OPS_TD
#define BLOCKSPARSE_IR_OPS_TD

include "blocksparse/IR/BlockSparseMatmulOps.td"
include "blocksparse/IR/BlockSparseSoftmaxOps.td"
include "blocksparse/IR/BlockSparseConversionOps.td"
include "blocksparse/IR/BlockSparsePlannedOps.td"
include "blocksparse/IR/BlockSparsePlannedAttentionOps.td"
include "blocksparse/IR/BlockSparsePlannedCallOps.td"
include "blocksparse/IR/BlockSparseCheckOps.td"

#endif // BLOCKSPARSE_IR_OPS_TD
