// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernels that plan a product when the program runs: they make the tables of kernels with
// stages (blocksparse/Plan/RunTimeStages.h) from a row LUT that is made then, too. All are launched
// on the stream of the call, and the host reads nothing back. Their results do not depend on the
// order of threads.
//   rank_rows    one warp for each block row: its place in the order of lengths, and the number of
//                blocks before it
//   fill_stages  one CTA for each bundle: records, slabs, the packed order and the work lists

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_PLANNERKERNELS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_PLANNERKERNELS_H

#include "../KernelBuilder.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse::device {

/// Returns true if the operation has stages, or if the device can make them.
bool hasOrMakesStages(const ::blocksparse::GPUFacts &facts, PlannedDSDOp op);

/// Emits host code that returns i1: there are value blocks, and their coordinates are int32. Types
/// tell this of a static number of blocks.
Value hasInt32Blocks(ImplicitLocOpBuilder &host, PlannedDSDOp op);

/// Emits the kernels that make the stages of an operation without any, and then what `emit` emits
/// for the same operation with these stages. Requires that hasOrMakesStages is true.
void withMadeStages(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedDSDOp op,
                    function_ref<void(PlannedDSDOp)> emit);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_PLANNERKERNELS_H
