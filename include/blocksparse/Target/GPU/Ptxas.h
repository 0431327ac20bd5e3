// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_GPU_PTXAS_H
#define BLOCKSPARSE_TARGET_GPU_PTXAS_H

#include "blocksparse/Target/CPU/Machine.h"
#include "blocksparse/Target/TargetInfo.h"

#include <string>
#include <vector>

namespace mlir::blocksparse {

/// What ptxas says of one kernel; sizes in bytes, those of the frame per thread.
struct PtxasKernel {
  std::string name;
  int64_t registers = 0; // per thread
  int64_t stackBytes = 0;
  int64_t spillStoreBytes = 0;
  int64_t spillLoadBytes = 0;
  int64_t staticSharedBytes = 0;
  bool operator==(const PtxasKernel &) const = default;
};

/// What ptxas prints with -v.
struct PtxasReport {
  std::vector<PtxasKernel> kernels;
  /// Warnings, and whatever has a number like (C7510): ptxas tells of serialised wgmma in that way.
  std::vector<std::string> warnings;
  std::vector<std::string> errors;
};

/// Reads the output of `ptxas -v`. Lines that it does not know are left out.
PtxasReport parsePtxasReport(StringRef text);

/// How a kernel is launched, as far as it is known when it is compiled.
struct KernelLaunch {
  std::string name;
  int64_t threads = 0; // per block
  int64_t dynamicSharedBytes = 0;
};

/// Whether kernels keep within what a block may have of `target`: shared memory, and registers of
/// all threads as the hardware hands them out (per warp, in steps of 256). The first one that does
/// not is an error with what it uses and the limit.
LogicalResult checkKernelLimits(const PtxasReport &report, ArrayRef<KernelLaunch> launches,
                                const ::blocksparse::TargetInfo &target, EmitErrorFn emitError);

/// The path of ptxas: what the environment variable BLOCKSPARSE_PTXAS names, else the first one in
/// PATH, CUDA_PATH/bin and /usr/local/cuda/bin. None is an error.
FailureOr<std::string> findPtxas(EmitErrorFn emitError);

/// Machine code (a cubin) of PTX text for `chip`, with the report on it. What ptxas refuses is an
/// error with its text.
FailureOr<std::string> assemblePTX(StringRef ptx, StringRef chip, StringRef ptxas,
                                   PtxasReport &report, EmitErrorFn emitError);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_GPU_PTXAS_H
