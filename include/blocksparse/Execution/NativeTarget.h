// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Resolves the target "cuda:native" for the GPU of this machine.

#ifndef BLOCKSPARSE_EXECUTION_NATIVETARGET_H
#define BLOCKSPARSE_EXECUTION_NATIVETARGET_H

#include "blocksparse/Target/CPU/Machine.h"
#include "blocksparse/Target/Target.h"

namespace mlir::blocksparse {

/// Parses the text of a target (docs/Targets.md). "cuda:native" is the best target that this
/// machine's first GPU runs, with its number of SMs; a machine without a GPU is an error.
FailureOr<::blocksparse::Target> parseTarget(StringRef text, EmitErrorFn emitError);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_EXECUTION_NATIVETARGET_H
