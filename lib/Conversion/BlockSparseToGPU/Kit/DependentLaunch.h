// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels that follow each other on a stream without a gap (programmatic dependent launch, PTX
// griddepcontrol, sm_90). The thread blocks of a kernel that is launched so come while the one
// before it still runs, as soon as all of its blocks have begun and have room for them.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_DEPENDENTLAUNCH_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_DEPENDENTLAUNCH_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// The next kernel on the stream may come, if it waits by itself.
void emitLaunchDependents(ImplicitLocOpBuilder &b);

/// Until all kernels before this one have ended and what they wrote can be read. All threads,
/// before they read or write memory. No load of the compiler's moves above it but one that is
/// marked invariant, which a kernel that waits must not have.
void emitWaitForKernelsBefore(ImplicitLocOpBuilder &b);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_DEPENDENTLAUNCH_H
