// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Inline assembly for instructions that no operation of the NVVM dialect covers.

#ifndef BLOCKSPARSE_LIB_CONVERSION_DEVICE_ASSEMBLY_H
#define BLOCKSPARSE_LIB_CONVERSION_DEVICE_ASSEMBLY_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// Emits inline assembly and returns its result. `text` and `constraints` have the syntax of LLVM's
/// inline assembly. `result` is the type of the result, a literal struct of several types, or null;
/// if it is null, null is returned. If `hasSideEffects` is false, LLVM may merge equal statements
/// and remove unused ones.
Value emitAssembly(ImplicitLocOpBuilder &b, const Twine &text, const Twine &constraints,
                   Type result, ValueRange operands, bool hasSideEffects = true);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_DEVICE_ASSEMBLY_H
