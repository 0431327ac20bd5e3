// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_DEVICE_ASSEMBLY_H
#define BLOCKSPARSE_LIB_CONVERSION_DEVICE_ASSEMBLY_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// Instructions for which there is no operation. Text and constraints are those of LLVM's inline
/// assembly; `result` is a type, a literal struct of several, or null, and so is what comes back.
/// Without side effects equal instructions may become one, or none.
Value emitAssembly(ImplicitLocOpBuilder &b, const Twine &text, const Twine &constraints,
                   Type result, ValueRange operands, bool hasSideEffects = true);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_DEVICE_ASSEMBLY_H
