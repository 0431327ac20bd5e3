// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_COMPILER_STAGE_H
#define BLOCKSPARSE_COMPILER_STAGE_H

namespace mlir::blocksparse {

/// Names the stages of the compiler, in order. Each has a name for `--stop-after` and
/// `--start-after` and leaves IR that the next one reads; `emit` makes code of it.
enum class Stage { Parse, Optimise, Schedule, Plan, Bufferize, Lower, LLVM, Emit };

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_COMPILER_STAGE_H
