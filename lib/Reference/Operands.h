// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_REFERENCE_OPERANDS_H
#define BLOCKSPARSE_LIB_REFERENCE_OPERANDS_H

#include "blocksparse/Reference/ErrorBound.h"
#include "blocksparse/Reference/Pattern.h"

#include <optional>
#include <span>
#include <string>

namespace blocksparse::ref {

/// Holds matrices in f64, row-major [batches, heads, rows, cols]. A leading extent of 1 serves
/// every batch or head.
struct Dense {
  int64_t batches = 1, heads = 1, rows = 0, cols = 0;
  HostTensor tensor;

  static Dense zeros(int64_t batches, int64_t heads, int64_t rows, int64_t cols);
  double *row(int64_t batch, int64_t head, int64_t row) const {
    int64_t matrix = (batches == 1 ? 0 : batch) * heads + (heads == 1 ? 0 : head);
    return tensor.dataAs<double>() + (matrix * rows + row) * cols;
  }
  /// Returns the element-wise absolute values.
  Dense magnitudes() const;
  /// Exchanges rows and columns (copies).
  Dense transposed() const;
};

/// Holds value blocks in f64, [batches, count, rows, cols]; one batch serves all.
struct Blocks {
  int64_t batches = 1, count = 0, rows = 0, cols = 0;
  HostTensor tensor;

  static Blocks zeros(int64_t batches, const Pattern &pattern);
  double *block(int64_t batch, int64_t value) const {
    return tensor.dataAs<double>() + ((batches == 1 ? 0 : batch) * count + value) * rows * cols;
  }
  Blocks magnitudes() const;
};

/// Multiplies every element by `factor`, in place.
void scaleBlocks(const Blocks &blocks, double factor);

/// Describes the extents of a dense operand of rank 2 to 4, which is not read. `rows` and `cols`
/// are those of the transposed matrix if `transposed`.
struct Extents {
  int64_t batches = 1, heads = 1, rows = 0, cols = 0;
};
std::optional<Extents> denseExtents(const HostTensor &tensor, bool transposed, std::string &error);

/// Reads a dense operand of rank 2..4 (already checked).
Dense decodeDense(const HostTensor &tensor, bool transposed = false);
/// Reads values of rank 3 or 4 (already checked).
Blocks decodeBlocks(const HostTensor &values);

/// Broadcasts `extent` with `other`; fails when they differ and neither is 1.
bool mergeExtent(int64_t &extent, int64_t other, const char *what, std::string &error);

/// `view` becomes `term`, broadcast to `shape`, and stays as it is where there is none. An error
/// begins with `name`.
bool bindTerm(const std::optional<HostTensor> &term, std::span<const int64_t> shape,
              const char *name, std::optional<HostTensor> &view, std::string &error);

bool checkEqual(int64_t expected, int64_t got, const char *what, std::string &error);

/// Checks that a rows x cols matrix has exactly the blocks of the pattern's
/// grid.
bool checkGrid(const Pattern &pattern, int64_t rows, int64_t cols, std::string &error);

/// Checks the shape of value blocks against the pattern and merges their batch
/// extent and the pattern's into `batches`.
bool checkValues(const HostTensor &values, const Pattern &pattern, int64_t &batches,
                 std::string &error);

/// Applies checkGrid and checkValues to a sparse operand.
bool checkSparse(const SparseTensor &sparse, int64_t &batches, std::string &error);

/// Returns a [B, H, M, N] result summed over the extents that `shape` broadcasts. Requires that
/// `shape` broadcasts to the shape of the result.
HostTensor reduceTo(const HostTensor &tensor, std::span<const int64_t> shape);

/// Wraps an integral number to 32 bits in two's complement.
double wrapToInt32(double value);

/// Calls fn(entry, r, c, element) for every element of every stored block of one
/// (batch, head) that lies in the logical rows x cols matrix; (r, c) is its
/// place in the matrix, `element` its number in the block.
template <typename Fn>
void forEachStored(const Pattern &pattern, int64_t batch, int64_t head, int64_t rows, int64_t cols,
                   Fn &&fn) {
  BlockShape block = pattern.block();
  for (const Pattern::Entry &entry : pattern.entries(batch, head))
    for (int64_t i = 0; i < block.rows; ++i)
      for (int64_t j = 0; j < block.cols; ++j) {
        int64_t r = entry.row * block.rows + i;
        int64_t c = entry.col * block.cols + j;
        if (r < rows && c < cols)
          fn(entry, r, c, i * block.cols + j);
      }
}

} // namespace blocksparse::ref

#endif // BLOCKSPARSE_LIB_REFERENCE_OPERANDS_H
