// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels that make tables share this: one warp for each row of a table, launched before the kernel
// before it has ended, and sums over the lanes of a warp. They take little time themselves, so that
// the launches and the loads that follow each other decide what they cost.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_WARPWORK_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_WARPWORK_H

#include "../KernelBuilder.h"

namespace mlir::blocksparse::device {

/// Builds and launches a kernel with one warp for each of `work` items (an index value of the
/// host), which may start before the kernel before it has ended. `body` receives the item and the
/// lane as index values; all lanes of a warp run it together.
void launchWarpsEarly(
    ImplicitLocOpBuilder &host, KernelBuilder &kernels, StringRef name, ValueRange operands,
    Value work,
    function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, Value item, Value lane)> body);

/// Returns the sum of `value` (i32) over the lanes up to and with this one.
Value sumUpTo(ImplicitLocOpBuilder &b, Value value);

/// Returns `value` (i32) of lane `lane` (i32) in all lanes.
Value valueOfLane(ImplicitLocOpBuilder &b, Value value, Value lane);

/// Returns the sum of `value` (i32) over all lanes.
Value sumOfLanes(ImplicitLocOpBuilder &b, Value value);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_WARPWORK_H
