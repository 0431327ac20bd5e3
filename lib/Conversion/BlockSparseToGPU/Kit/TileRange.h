// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_TILERANGE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_TILERANGE_H

#include "mlir/IR/Value.h"

namespace mlir::blocksparse::device {

/// Holds the tiles that a CTA of a persistent kernel computes, as indices (i32): `from`,
/// `from + step`, and so on below `to`.
struct TileRange {
  Value from, to, step;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_TILERANGE_H
