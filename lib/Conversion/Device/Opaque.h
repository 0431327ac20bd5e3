// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Values that are opaque to the optimizer: it knows nothing about them but their type. The inline
// assembly is empty: it costs no instruction.

#ifndef BLOCKSPARSE_LIB_CONVERSION_DEVICE_OPAQUE_H
#define BLOCKSPARSE_LIB_CONVERSION_DEVICE_OPAQUE_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// Returns copies of i32 values through one inline assembly statement with tied operands, so that
/// all of them are opaque. LLVM can then neither hoist what is computed from them out of a loop nor
/// share it with other code, where it would occupy registers.
SmallVector<Value> makeOpaque(ImplicitLocOpBuilder &b, ValueRange words);

/// Returns an opaque copy of one i32.
Value makeOpaque(ImplicitLocOpBuilder &b, Value word);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_DEVICE_OPAQUE_H
