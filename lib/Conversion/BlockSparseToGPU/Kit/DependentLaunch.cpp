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
  // LLVM assumes that griddepcontrol does not access memory and could move loads above it. The
  // empty statement with a memory clobber prevents that.
  emitAssembly(b, "", "~{memory}", Type(), {});
}
