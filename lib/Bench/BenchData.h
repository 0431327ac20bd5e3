// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The data of benchmark points: fast where tensors are large.

#ifndef BLOCKSPARSE_LIB_BENCH_BENCHDATA_H
#define BLOCKSPARSE_LIB_BENCH_BENCHDATA_H

#include "BenchPoint.h"
#include "blocksparse/Support/HostTensor.h"
#include "llvm/ADT/SmallVector.h"

#include <map>

namespace mlir::blocksparse {

/// One operand of a point's function.
struct BenchOperand {
  std::string name;
  /// Whether the layout is its encoding; then `shape` is the one it stands for.
  bool sparse = false;
  llvm::SmallVector<int64_t> shape;
  /// Elements are uniform in [low, high).
  double low = -1, high = 1;
};

/// The operands in the order of the function's arguments. Names are those of the operation's
/// operands in the dialect.
std::vector<BenchOperand> getBenchOperands(const BenchPoint &point,
                                           const ::blocksparse::BlockLayout &layout);

/// The operands as they are stored (values [S, bm, bn] of a sparse one), by name.
using BenchTensors = std::map<std::string, ::blocksparse::HostTensor, std::less<>>;

/// Random elements that depend on `seed` alone; not enough memory is an error.
std::optional<BenchTensors> makeBenchTensors(const BenchPoint &point,
                                             const ::blocksparse::BlockLayout &layout,
                                             uint64_t seed, std::string &error);

/// NaN everywhere. The tensor is contiguous, as in what follows.
void poisonTensor(const ::blocksparse::HostTensor &tensor);
/// Elements that are NaN or infinite.
int64_t countNonFinite(const ::blocksparse::HostTensor &tensor);
int64_t countBytes(const ::blocksparse::HostTensor &tensor);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_BENCH_BENCHDATA_H
