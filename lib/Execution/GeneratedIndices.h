// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Indices that are valid for the operation that takes them.

#ifndef BLOCKSPARSE_LIB_EXECUTION_GENERATEDINDICES_H
#define BLOCKSPARSE_LIB_EXECUTION_GENERATEDINDICES_H

#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Support/HostTensor.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace mlir::blocksparse {

struct BsrIndices {
  ::blocksparse::HostTensor crow, col;
};

/// A random pattern for a dynamic sparse tensor that stands for `sizes`, each block stored
/// with probability `density`. Batches differ; where one stores fewer blocks than
/// another its last columns are 0 and not used.
std::optional<BsrIndices> generateBsr(const SparseTensor &sparse, ArrayRef<int64_t> sizes,
                                      double density, uint64_t seed, std::string &error);

/// Fills `indices`, the argument `value` of a function, when an operand of scatter_mm is
/// made of it: offsets that share the list out evenly, blocks and tiles at random. Gives false
/// when the argument has no such use, or its operation's shapes are not static.
bool generateScatterIndices(Value value, const ::blocksparse::HostTensor &indices, uint64_t seed);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_EXECUTION_GENERATEDINDICES_H
