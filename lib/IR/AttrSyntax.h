// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_IR_ATTRSYNTAX_H
#define BLOCKSPARSE_LIB_IR_ATTRSYNTAX_H

#include "blocksparse/Layout/BlockLayout.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir::blocksparse::detail {

/// Parses the shape of a block, as in `16x16`.
ParseResult parseBlockShape(AsmParser &parser, ::blocksparse::BlockShape &block);

} // namespace mlir::blocksparse::detail

#endif // BLOCKSPARSE_LIB_IR_ATTRSYNTAX_H
