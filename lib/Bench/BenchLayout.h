// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Layouts of benchmark points.

#ifndef BLOCKSPARSE_LIB_BENCH_BENCHLAYOUT_H
#define BLOCKSPARSE_LIB_BENCH_BENCHLAYOUT_H

#include "BenchPoint.h"

namespace mlir::blocksparse {

/// "random_balanced, random, ...".
std::string benchLayoutFamilies();

/// The layout of a point that has one, over one head, which all heads share. Families aim at the
/// point's density where they have a parameter for it:
///   random_balanced, random   the dialect's patterns
///   local       a window of density * columns blocks around the diagonal
///   banded      the same in elements
///   bigbird     3 blocks of window, 1 global block, random blocks for the rest
///   strided     1 local block, every (1 / density)-th column
///   unbalanced  random columns; row lengths spread evenly from 1 to 8 times the shortest, every
///               16th row empty, and as many blocks as random_balanced has
///   causal, dense
///   shuffled_<family>  the same with its block rows in random order
/// On failure `error` says "expects ..., but got ...".
std::optional<::blocksparse::BlockLayout> makeBenchLayout(const BenchPoint &point,
                                                          std::string &error);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_BENCH_BENCHLAYOUT_H
