// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Programmatic dependent launch (PDL; PTX griddepcontrol, sm_90 and later): a kernel begins while
// the kernel before it on the stream still runs, so that no gap is left between them. The CTAs of a
// kernel that was launched this way start when all CTAs of the previous kernel have called
// emitLaunchDependents or have exited, and as resources become free. A kernel that reads results of
// the previous one calls emitWaitForKernelsBefore first.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_DEPENDENTLAUNCH_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_DEPENDENTLAUNCH_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// Emits griddepcontrol.launch_dependents: permits the next kernel on the stream to start. Requires
/// that the next kernel waits by itself before it reads or writes memory that this kernel uses.
void emitLaunchDependents(ImplicitLocOpBuilder &b);

/// Emits griddepcontrol.wait: waits until all previous kernels have ended and their writes are
/// visible. Every thread must call it before it reads or writes global memory. The compiler moves
/// no load above it, except loads that are marked invariant: a kernel that waits must not have any.
void emitWaitForKernelsBefore(ImplicitLocOpBuilder &b);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_DEPENDENTLAUNCH_H
