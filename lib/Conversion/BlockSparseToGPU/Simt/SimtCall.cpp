// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../ExternalCall.h"
#include "SimtKernels.h"

using namespace mlir;
using namespace mlir::blocksparse;

void mlir::blocksparse::device::emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &,
                                         PlannedCallOp op) {
  emitExternalCall(host, op);
}
