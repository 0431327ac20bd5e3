// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Generates random index operands that are valid for the operation that uses them.

#ifndef BLOCKSPARSE_LIB_EXECUTION_GENERATEDINDICES_H
#define BLOCKSPARSE_LIB_EXECUTION_GENERATEDINDICES_H

#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Support/HostTensor.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace mlir::blocksparse {

/// Holds the indices of a dynamic pattern.
struct BsrIndices {
  ::blocksparse::HostTensor crow, col;
};

/// Returns a random pattern for a dynamic sparse tensor of shape `sizes`; each block is stored with
/// probability `density`. Batches differ; if one stores fewer blocks than another, its last columns
/// are 0 and unused. Returns nullopt and sets `error` if the grid is too large.
std::optional<BsrIndices> generateBsr(const SparseTensor &sparse, ArrayRef<int64_t> sizes,
                                      double density, uint64_t seed, std::string &error);

/// Fills `indices`, the tensor of the function argument `value`, if that is an index operand of
/// scatter_mm: with offsets that divide the list evenly, or with random blocks and tiles. Returns
/// false if the argument has no such use, or if the shapes of the operation are not static.
bool generateScatterIndices(Value value, const ::blocksparse::HostTensor &indices, uint64_t seed);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_EXECUTION_GENERATEDINDICES_H
