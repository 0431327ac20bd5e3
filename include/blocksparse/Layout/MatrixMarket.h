// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LAYOUT_MATRIXMARKET_H
#define BLOCKSPARSE_LAYOUT_MATRIXMARKET_H

#include "blocksparse/Layout/BlockLayout.h"

namespace blocksparse {

/// Holds a sparse matrix by elements, in the order of its source, with indices from 0. Entries at
/// the same position are added.
struct CooMatrix {
  int64_t rows = 0;
  int64_t cols = 0;
  std::vector<int64_t> rowIndices;
  std::vector<int64_t> colIndices;
  std::vector<double> values;
};

/// Holds a matrix in blocks: `values` has nnz blocks of block.rows x block.cols elements,
/// row-major, in the layout's value order. Elements of a stored block that are not in the matrix,
/// including those beyond its last row or column, are 0.
struct BsrMatrix {
  int64_t rows = 0;
  int64_t cols = 0;
  BlockLayout layout;
  std::vector<double> values;
};

/// Parses Matrix Market text: `coordinate` format, field `real`, `integer` or
/// `pattern` (whose values are 1), symmetry `general` or `symmetric` (whose
/// entries off the diagonal are mirrored). Blank lines and, before the size
/// line and between entries, `%` comments are skipped. Errors begin with the
/// number of the line, counted from 1.
std::optional<CooMatrix> parseMatrixMarket(std::string_view text, std::string &error);

/// Reads a whole .mtx file; errors begin with the path.
std::optional<CooMatrix> readMatrixMarket(const std::string &path, std::string &error);

/// Cuts a matrix into blocks; the grid is the shape over the block's, rounded
/// up, with one head. A block is stored when an entry lies in it, even one of
/// value 0. Fails when an index is outside the shape, when the grid or the
/// blocks are too many for a layout, and above 2^30 values (8 GiB).
std::optional<BsrMatrix> toBsr(const CooMatrix &matrix, BlockShape block, std::string &error);

} // namespace blocksparse

#endif // BLOCKSPARSE_LAYOUT_MATRIXMARKET_H
