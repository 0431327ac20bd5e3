// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Makes the layouts of benchmark points.

#ifndef BLOCKSPARSE_LIB_BENCH_BENCHLAYOUT_H
#define BLOCKSPARSE_LIB_BENCH_BENCHLAYOUT_H

#include "BenchPoint.h"

namespace mlir::blocksparse {

/// Returns the names of the layout families: "random_balanced, random, ...".
std::string benchLayoutFamilies();

/// Returns the layout of a point whose operation has one. It has one head, which all heads share. A
/// family with a parameter for the density uses the density of the point:
///   random_balanced, random   the dialect's patterns
///   local       a window of density * columns blocks around the diagonal
///   banded      as local, with the window in elements
///   bigbird     3 blocks of window, 1 global block, random blocks for the rest
///   strided     1 local block, every (1 / density)-th column
///   unbalanced  random columns; row lengths spread evenly from 1 to 8 times the shortest, every
///               16th row empty, and as many blocks as random_balanced has
///   causal, dense
///   shuffled_<family>  the layout of <family> with its block rows in random order
/// On failure the function returns nullopt and sets `error` to "expects ..., but got ...".
std::optional<::blocksparse::BlockLayout> makeBenchLayout(const BenchPoint &point,
                                                          std::string &error);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_BENCH_BENCHLAYOUT_H
