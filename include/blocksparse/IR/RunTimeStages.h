// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_IR_RUNTIMESTAGES_H
#define BLOCKSPARSE_IR_RUNTIMESTAGES_H

#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Plan/RunTimeStages.h"
#include "blocksparse/Plan/RunTimeTiles.h"

namespace mlir::blocksparse {

/// Return true if the look-up table of `op` is made when the program runs, which its open number of
/// entries tells, and if the operation has no stages or tiles.
bool isPlannedAtRunTime(PlannedDSDOp op);
bool isPlannedAtRunTime(PlannedSDDOp op);

/// Returns the stages that the device makes of the row LUT of `op`, for which isPlannedAtRunTime is
/// true, or nothing if it can't, and the reason as "expects X, but got Y".
std::optional<::blocksparse::RunTimeStages>
getRunTimeStages(PlannedDSDOp op, const ::blocksparse::GPUFacts &gpu, std::string &reason);

/// Returns the tiles that the device makes of the coordinate LUT of `op`, as getRunTimeStages
/// returns stages.
std::optional<::blocksparse::RunTimeTiles>
getRunTimeTiles(PlannedSDDOp op, const ::blocksparse::GPUFacts &gpu, std::string &reason);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_IR_RUNTIMESTAGES_H
