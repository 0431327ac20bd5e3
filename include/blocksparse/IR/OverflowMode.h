// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Says what the operations of a function write where a result of an 8-bit floating-point type is
// too large.

#ifndef BLOCKSPARSE_IR_OVERFLOWMODE_H
#define BLOCKSPARSE_IR_OVERFLOWMODE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::blocksparse {

/// Says what is written. Special writes infinity in f8E5M2, and NaN in f8E4M3FN, which has no
/// infinity. Saturate writes the largest finite number with the sign of the result. NaN stays NaN
/// in both.
enum class OverflowMode { Special, Saturate };

/// Returns the mode that the function's attribute `overflowModeAttr` (DialectAttributes.h) names,
/// Special if it has none. Fails with an error at the
/// function for any other value of the attribute.
FailureOr<OverflowMode> getOverflowMode(func::FuncOp function);

/// Returns the largest finite number of f8E4M3FN (448) or f8E5M2 (57344).
double getLargestF8(Type type);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_IR_OVERFLOWMODE_H
