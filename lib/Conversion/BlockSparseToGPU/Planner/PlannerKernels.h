// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels that plan a product when the program runs: they make the tables of kernels with
// stages (blocksparse/Plan/RunTimeStages.h) from the indices of the pattern, or from a row LUT. All
// are launched on the stream of the call, and the host reads nothing back. Their results do not
// depend on the order of threads.
//   plan_stages  one CTA for each bundle: the order of the rows by length, and the records, slabs,
//                packed order and work lists of the bundle
// A sampled product has tiles (blocksparse/Plan/RunTimeTiles.h), from a coordinate LUT:
//   mark_columns one CTA for each bundle of blocks that share subtiles: the columns with blocks
//   fill_tiles   one CTA for each bundle: tiles, destinations and the work lists

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_PLANNERKERNELS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_PLANNERKERNELS_H

#include "../KernelBuilder.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse::device {

/// Return true if the operation has stages, or tiles, or if the device can make them.
bool hasOrMakesStages(const ::blocksparse::GPUFacts &facts, PlannedDSDOp op);
bool hasOrMakesTiles(const ::blocksparse::GPUFacts &facts, PlannedSDDOp op);

/// Emits host code that returns i1: there are value blocks, and their coordinates are int32. Types
/// tell this of a static number of blocks.
Value hasInt32Blocks(ImplicitLocOpBuilder &host, PlannedDSDOp op);
/// Emits the same for the results of a sampled product, whose destinations are int32, too.
Value hasInt32Blocks(ImplicitLocOpBuilder &host, PlannedSDDOp op);
/// Emits the same for `values`; a number of `perRow` for each of their rows is int32, too.
Value hasInt32Blocks(ImplicitLocOpBuilder &host, Value values, int64_t perRow);

/// Calls `emit` with an operation that has stages and the mode of the launch of its product. For
/// one without stages it emits the kernels that make them first: the same operation with these
/// stages starts early. Requires that hasOrMakesStages is true.
void withStages(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op,
                function_ref<void(PlannedDSDOp, LaunchMode)> emit);
/// Emits the kernels that make the tiles of an operation without any, and then what `emit` emits
/// for the same operation with these tiles. Requires that hasOrMakesTiles is true.
void withMadeTiles(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedSDDOp op,
                   function_ref<void(PlannedSDDOp)> emit);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_PLANNERKERNELS_H
