// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_CPU_OPENMPRUNTIME_H
#define BLOCKSPARSE_TARGET_CPU_OPENMPRUNTIME_H

#include "blocksparse/Target/CPU/Machine.h"

namespace mlir::blocksparse {

/// Returns the path of LLVM's OpenMP runtime: the environment variable BLOCKSPARSE_LIBOMP, else
/// ../lib/libomp.so.5 from the program's folder (the layout of a bundle), else the path that the
/// build found, else libomp.so.5 in the directories of the dynamic linker. Fails with an error that
/// names all these paths.
FailureOr<std::string> findOpenMPRuntime(EmitErrorFn emitError);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_CPU_OPENMPRUNTIME_H
