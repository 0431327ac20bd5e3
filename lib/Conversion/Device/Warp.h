// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions over the lanes of a warp. Lanes exchange values in a fixed butterfly, so that all
// get the same, reproducible result. Every lane of the warp must take part.

#ifndef BLOCKSPARSE_LIB_CONVERSION_DEVICE_WARP_H
#define BLOCKSPARSE_LIB_CONVERSION_DEVICE_WARP_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// Number of lanes, 32 on every device; an operation and no constant so that kernels can be
/// emulated with warps of one lane.
Value laneCount(ImplicitLocOpBuilder &b);

/// `value` (i32) of lane 0 for all lanes of a warp, known to be the same for all.
Value makeUniform(ImplicitLocOpBuilder &b, Value value);

/// `combine` is commutative; `x` is f32 or f64. A lane without partner keeps what it has.
Value reduceWarp(ImplicitLocOpBuilder &b, Value x,
                 function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> combine);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_DEVICE_WARP_H
