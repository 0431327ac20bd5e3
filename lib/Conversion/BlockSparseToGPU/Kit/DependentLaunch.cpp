// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DependentLaunch.h"

#include "../../Device/Assembly.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

void mlir::blocksparse::device::emitLaunchDependents(ImplicitLocOpBuilder &b) {
  NVVM::GriddepcontrolOp::create(b, NVVM::GridDepActionKind::launch_dependents);
}

void mlir::blocksparse::device::emitWaitForKernelsBefore(ImplicitLocOpBuilder &b) {
  NVVM::GriddepcontrolOp::create(b, NVVM::GridDepActionKind::wait);
  // LLVM believes that it leaves memory alone: loads could move above it, but not above this.
  emitAssembly(b, "", "~{memory}", Type(), {});
}
