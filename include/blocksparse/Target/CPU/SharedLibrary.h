// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_CPU_SHAREDLIBRARY_H
#define BLOCKSPARSE_TARGET_CPU_SHAREDLIBRARY_H

#include "blocksparse/Target/CPU/Machine.h"

namespace mlir::blocksparse {

/// Links an object file, given as bytes, into a shared library at `path` by the system's
/// compiler driver (the environment's CC, else clang, cc or gcc). The library needs libm,
/// LLVM's OpenMP runtime if it has parallel loops, and with `usesDevice` libblocksparse_runtime.so;
/// it looks for them in its own folder and at their paths on this machine. If this fails, what
/// was at `path` stays (OutputFile).
LogicalResult linkSharedLibrary(StringRef object, StringRef path, bool usesDevice,
                                EmitErrorFn emitError);

/// Links in the same way in the folder of temporary files, and appends the library to `bytes`.
LogicalResult linkSharedLibrary(StringRef object, SmallVectorImpl<char> &bytes, bool usesDevice,
                                EmitErrorFn emitError);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_CPU_SHAREDLIBRARY_H
