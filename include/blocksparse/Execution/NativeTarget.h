// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_EXECUTION_NATIVETARGET_H
#define BLOCKSPARSE_EXECUTION_NATIVETARGET_H

#include "blocksparse/Compiler/Compiler.h"

#include <string>

namespace mlir::blocksparse {

/// Replaces "cuda:native" in a list of targets by the best target that this machine's first GPU
/// runs; any other target stays as it is. A machine without a GPU is an error.
FailureOr<std::string> resolveTarget(StringRef target, EmitErrorFn emitError);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_EXECUTION_NATIVETARGET_H
