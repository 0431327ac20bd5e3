// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The operations of arith and math in kernels, for devices without a mathematics library.

#ifndef BLOCKSPARSE_LIB_CONVERSION_DEVICE_DEVICEFORMS_H
#define BLOCKSPARSE_LIB_CONVERSION_DEVICE_DEVICEFORMS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// Returns true if a device without a mathematics library has `op`, an operation of arith or math.
bool hasDeviceForm(Operation *op);

/// Emits the operations that MLIR would lower to calls of a library, on operands of f32 or f64;
/// returns null for all others.
Value emitDeviceForm(ImplicitLocOpBuilder &b, Operation *op, ValueRange operands);

/// Replaces, in `root`, the operations on numbers that MLIR would lower to calls of a library and
/// that have a device form. Numbers of fewer than 32 bits are computed in f32 and rounded.
void useDeviceForms(Operation *root);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_DEVICE_DEVICEFORMS_H
