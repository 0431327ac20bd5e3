// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_CPU_CHEADER_H
#define BLOCKSPARSE_TARGET_CPU_CHEADER_H

#include "blocksparse/Target/CPU/Machine.h"
#include "blocksparse/Target/FunctionSignature.h"

namespace mlir::blocksparse {

/// Writes a C header (also valid C++) that declares the entry points of a compiled program:
/// for each function the contents of every parameter, its element type, its shape, its storage and,
/// for a static layout, its block counts. `guard` names the include guard (any text). With
/// `usesDevice` it says what holds for GPUs, and functions that work on device memory have a form
/// f_on_stream. Then it declares `externals`, the functions that the program calls, which a user
/// defines. Fails if the name of a function is no C identifier (nameEntryPoints makes one).
LogicalResult emitCHeader(ArrayRef<FunctionSignature> signatures, StringRef guard,
                          llvm::raw_ostream &stream, EmitErrorFn emitError, bool usesDevice = false,
                          ArrayRef<FunctionSignature> externals = {});

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_CPU_CHEADER_H
