// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_GPU_PTX_H
#define BLOCKSPARSE_TARGET_GPU_PTX_H

#include "blocksparse/Target/CPU/Machine.h"
#include "blocksparse/Target/TargetOption.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::blocksparse {

/// Describes the PTX to make.
struct GPUOptions {
  /// GPU that runs the kernels.
  ::blocksparse::TargetInfo target = ::blocksparse::TargetInfo::oldestGPU();
  /// PTX version as 10 * major + minor; 0 stands for the lowest version that has the kernels'
  /// instructions, so that old drivers take it (GPUFacts::defaultPtx).
  unsigned ptxVersion = 0;
  /// Optimisation level, 0 to 3.
  unsigned optLevel = 3;
  /// True to add machine code by ptxas (see findPtxas) to the PTX.
  bool cubin = false;
  /// True to make kernels alone, without host code, for callers that need only the PTX.
  bool kernelsOnly = false;
};

/// Fails for a target, a PTX version or a level that does not exist. LLVM's code generator would
/// abort the process instead.
LogicalResult checkGPUOptions(const GPUOptions &options, EmitErrorFn emitError);

/// Returns the PTX text of a module in the llvm and nvvm dialects. Fails for an operation of
/// another dialect, and for a function that no device has (of a mathematics library). Kernels that
/// share nothing are made on the context's threads; the text does not depend on their number.
FailureOr<std::string> emitPTX(gpu::GPUModuleOp module, const GPUOptions &options);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_GPU_PTX_H
