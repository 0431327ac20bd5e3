// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_MASKEDFACTOR_H
#define BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_MASKEDFACTOR_H

#include "blocksparse/IR/BlockSparseAttrs.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace mlir::blocksparse {

/// Describes a matrix that is `dense` in the blocks of a layout and 0 elsewhere.
struct MaskedFactor {
  Value dense;
  LayoutAttr layout;
};

/// Returns the matrix that is multiplied by a constant mask of 0 and 1, or that a constant mask
/// selects from 0, if the mask consists of whole blocks (findBlockLayout).
std::optional<MaskedFactor> matchMaskedFactor(Value factor);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_MASKEDFACTOR_H
