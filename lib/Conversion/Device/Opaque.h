// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Values that the compiler must take as they are. The instruction is an empty one, so that hosts
// that emulate kernels assemble it, too.

#ifndef BLOCKSPARSE_LIB_CONVERSION_DEVICE_OPAQUE_H
#define BLOCKSPARSE_LIB_CONVERSION_DEVICE_OPAQUE_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// The same i32, all there at once, of which the compiler knows nothing: what is computed from them
/// takes no registers elsewhere, whether before a loop or in code that needs it not.
SmallVector<Value> makeOpaque(ImplicitLocOpBuilder &b, ValueRange words);

Value makeOpaque(ImplicitLocOpBuilder &b, Value word);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_DEVICE_OPAQUE_H
