// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Activations of an epilogue on the CPU.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_ACTIVATION_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_ACTIVATION_H

#include "blocksparse/IR/BlockSparseAttrs.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse {

/// Emits the activation of `x`, a scalar or vector of f32, f64 or i32 (i32: only none and relu),
/// and returns the result. A null `activation` means none. NaN yields NaN; gelu and silu of
/// -infinity are 0. The formulas are those of ::blocksparse::ref::Activation.
Value emitActivation(ImplicitLocOpBuilder &b, ActivationAttr activation, Value x);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_ACTIVATION_H
