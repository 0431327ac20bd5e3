// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tiling of products with a dense result by passes of MLIR.

#ifndef BLOCKSPARSE_TRANSFORMS_PRODUCTTILING_H
#define BLOCKSPARSE_TRANSFORMS_PRODUCTTILING_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::blocksparse {

/// Registers TilingInterface for dsd, dds, bsr_addmm and matmul. Their loops are the dimensions of
/// the result that no sparse factor has, in the order of the result: the columns of dsd and
/// bsr_addmm, the rows of dds, both of matmul, and the leading dimensions where the sparse factor
/// has none. The reduction is no loop, so that a tile is the same sum as in the whole.
void registerProductTiling(DialectRegistry &registry);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TRANSFORMS_PRODUCTTILING_H
