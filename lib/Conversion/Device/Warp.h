// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions over the lanes of a warp. Lanes exchange values in a fixed butterfly order, so that
// all lanes get the same, reproducible result. Every lane of the warp must call these functions.

#ifndef BLOCKSPARSE_LIB_CONVERSION_DEVICE_WARP_H
#define BLOCKSPARSE_LIB_CONVERSION_DEVICE_WARP_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// Number of lanes of a warp on every device.
inline constexpr int64_t warpSize = 32;

/// Returns the number of lanes of a warp (index), `warpSize` on every device. It is an operation
/// and not a constant, because PTX has a name for it.
Value laneCount(ImplicitLocOpBuilder &b);

/// Returns `value` (i32) of lane 0 in all lanes of a warp. ptxas then knows that it is uniform.
Value makeUniform(ImplicitLocOpBuilder &b, Value value);

/// Returns `value` (i32) of lane `lane` (i32, the same in all lanes) in all lanes of a warp.
Value readLane(ImplicitLocOpBuilder &b, Value value, Value lane);

/// Reduces `x` (i32, f32 or f64) over the lanes of a warp and returns the result in every lane.
/// `combine` must be commutative. A lane without a partner keeps its value.
Value reduceWarp(ImplicitLocOpBuilder &b, Value x,
                 function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> combine);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_DEVICE_WARP_H
