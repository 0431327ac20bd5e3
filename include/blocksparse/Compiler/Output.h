// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Output files of the tools, with errors as diagnostics.

#ifndef BLOCKSPARSE_COMPILER_OUTPUT_H
#define BLOCKSPARSE_COMPILER_OUTPUT_H

#include "blocksparse/Target/CPU/Machine.h"

namespace mlir::blocksparse {

/// Fails if a file could not be written at `path` (OutputFile). Standard output, "-" or "", passes.
LogicalResult checkOutput(StringRef path, EmitErrorFn emitError);

/// Writes a whole file as an OutputFile, or to standard output if `path` is "-".
LogicalResult writeOutput(StringRef path, StringRef bytes, EmitErrorFn emitError);

/// Makes the directory at `path` and those above it, and fails if a file `name` could not be
/// written in it.
LogicalResult makeOutputDirectory(StringRef path, StringRef name, EmitErrorFn emitError);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_COMPILER_OUTPUT_H
