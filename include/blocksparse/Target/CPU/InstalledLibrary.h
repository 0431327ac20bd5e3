// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_CPU_INSTALLEDLIBRARY_H
#define BLOCKSPARSE_TARGET_CPU_INSTALLEDLIBRARY_H

#include "blocksparse/Target/CPU/Machine.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::blocksparse {

/// Returns the path of a library that was installed with this compiler: `name` in the folder of the
/// program or shared library that contains this code, or in the folder of libraries beside that.
/// Empty if there is none.
std::string findInstalledLibrary(llvm::StringRef name);

/// Returns the path in the environment variable `variable`, or "" if it is not set. Fails with an
/// error if there is no such file; `what` says in its text what the variable names.
FailureOr<std::string> readLibraryVariable(const char *variable, llvm::StringRef what,
                                           EmitErrorFn emitError);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_CPU_INSTALLEDLIBRARY_H
