// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Resolves the target "cuda:native" for the GPU of this machine.

#ifndef BLOCKSPARSE_EXECUTION_NATIVETARGET_H
#define BLOCKSPARSE_EXECUTION_NATIVETARGET_H

#include "blocksparse/Compiler/Compiler.h"

#include <string>

namespace mlir::blocksparse {

/// Replaces "cuda:native" in a list of targets by the best target that the first GPU of this
/// machine runs, and returns the list; other targets stay as they are. Fails with an error if the
/// machine has no GPU.
FailureOr<std::string> resolveTarget(StringRef target, EmitErrorFn emitError);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_EXECUTION_NATIVETARGET_H
