// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_CPU_OPENMPRUNTIME_H
#define BLOCKSPARSE_TARGET_CPU_OPENMPRUNTIME_H

#include "blocksparse/Target/CPU/Machine.h"

namespace mlir::blocksparse {

/// Path of LLVM's OpenMP runtime: the environment's BLOCKSPARSE_LIBOMP, else ../lib/libomp.so.5
/// from the program's folder (as a bundle has it), else where the build found it, else libomp.so.5
/// in the directories of the dynamic linker. An error names all the places.
FailureOr<std::string> findOpenMPRuntime(EmitErrorFn emitError);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_CPU_OPENMPRUNTIME_H
