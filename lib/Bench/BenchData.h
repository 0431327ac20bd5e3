// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Makes the operands of benchmark points, quickly even for large tensors.

#ifndef BLOCKSPARSE_LIB_BENCH_BENCHDATA_H
#define BLOCKSPARSE_LIB_BENCH_BENCHDATA_H

#include "BenchPoint.h"
#include "blocksparse/Support/HostTensor.h"
#include "llvm/ADT/SmallVector.h"

#include <map>

namespace mlir::blocksparse {

/// Describes one operand of a point's function.
struct BenchOperand {
  std::string name;
  /// True if the layout is its encoding; `shape` is then the shape of the tensor that it
  /// represents.
  bool sparse = false;
  llvm::SmallVector<int64_t> shape;
  /// Elements are uniform in [low, high).
  double low = -1, high = 1;
  /// True if the elements have the accumulation type of the point's type.
  bool accumulated = false;

  /// Returns the element type of the operand of a point.
  ::blocksparse::ElementType elementType(const BenchPoint &point) const;
};

/// Returns the operands in the order of the function's arguments. Names are those of the
/// operation's operands in the dialect.
std::vector<BenchOperand> getBenchOperands(const BenchPoint &point,
                                           const ::blocksparse::BlockLayout &layout);

/// Maps names to operands as they are stored (values [S, bm, bn] of a sparse one).
using BenchTensors = std::map<std::string, ::blocksparse::HostTensor, std::less<>>;

/// Returns operands with random elements that depend on `seed` alone. Returns nullopt and sets
/// `error` if there is not enough memory.
std::optional<BenchTensors> makeBenchTensors(const BenchPoint &point,
                                             const ::blocksparse::BlockLayout &layout,
                                             uint64_t seed, std::string &error);

/// Sets all elements to NaN. The tensor must be contiguous, as for the functions below.
void poisonTensor(const ::blocksparse::HostTensor &tensor);
/// Returns the number of elements that are NaN or infinite.
int64_t countNonFinite(const ::blocksparse::HostTensor &tensor);
/// Returns the size of the elements in bytes.
int64_t countBytes(const ::blocksparse::HostTensor &tensor);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_BENCH_BENCHDATA_H
