// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_GPU_PTX_H
#define BLOCKSPARSE_TARGET_GPU_PTX_H

#include "blocksparse/Target/CPU/Machine.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::blocksparse {

/// What PTX is made for.
struct GPUOptions {
  /// "sm_80", "sm_90a", ...: a chip that TargetInfo and LLVM know.
  std::string chip = "sm_80";
  /// 10 * major + minor; 0 stands for the lowest version that knows the chip, so that old
  /// drivers take it.
  unsigned ptxVersion = 0;
  /// 0 to 3.
  unsigned optLevel = 3;
  /// Machine code beside the PTX, by ptxas (see findPtxas).
  bool cubin = false;
  /// No code of the host beside the kernels: for those who want the PTX alone.
  bool kernelsOnly = false;
};

/// Fails for a chip, a PTX version or a level that cannot be; LLVM's code generator would abort the
/// process instead.
LogicalResult checkGPUOptions(const GPUOptions &options, EmitErrorFn emitError);

/// The PTX text of a module in the llvm and nvvm dialects. An operation of another dialect and
/// a function that no device has (a mathematics library's) are errors. Kernels that share nothing
/// are made on the context's threads; the text is the same however many there are.
FailureOr<std::string> emitPTX(gpu::GPUModuleOp module, const GPUOptions &options);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_GPU_PTX_H
