// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels that make tables share this: one warp for each row of a table, launched before the kernel
// before it has ended, and sums over the lanes of a warp. They take little time themselves, so that
// the launches and the loads that follow each other decide what they cost.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_WARPWORK_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_WARPWORK_H

#include "../KernelBuilder.h"
#include "PlannerValues.h"

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

/// Returns the sum of `value` (i32) over all lanes.
Value sumOfLanes(ImplicitLocOpBuilder &b, Value value);

/// Returns the last of `rows` rows whose first block is not behind `block`, in as many steps as
/// `rows` has bits. Requires at least one row; `firstBlock` returns the first block of a row, in
/// ascending order. All are integers of one type.
Value findRow(ImplicitLocOpBuilder &b, Value rows, Value block,
              function_ref<Value(ImplicitLocOpBuilder &, Value row)> firstBlock);

/// Holds a sum (i32) over the threads of a CTA before this one, and over all of them.
struct ThreadSums {
  Value before, total;
};

/// Returns the sums of `value` (i32). `sums` is the byte offset of a word of shared memory for each
/// warp. All `threads` threads call it together, at most 32 warps; a barrier must follow before the
/// words are used again.
ThreadSums sumOverThreads(ImplicitLocOpBuilder &b, const SharedWords &shared, int64_t sums,
                          Value thread, int64_t threads, Value value);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_WARPWORK_H
