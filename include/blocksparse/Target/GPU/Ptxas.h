// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_GPU_PTXAS_H
#define BLOCKSPARSE_TARGET_GPU_PTXAS_H

#include "blocksparse/Target/CPU/Machine.h"
#include "blocksparse/Target/TargetInfo.h"

#include <string>
#include <vector>

namespace mlir::blocksparse {

/// Describes one kernel as ptxas reports it. Sizes are in bytes, those of the frame for each
/// thread.
struct PtxasKernel {
  std::string name;
  int64_t registers = 0; // per thread
  int64_t stackBytes = 0;
  int64_t spillStoreBytes = 0;
  int64_t spillLoadBytes = 0;
  int64_t staticSharedBytes = 0;
  bool operator==(const PtxasKernel &) const = default;
};

/// Holds the output of ptxas -v.
struct PtxasReport {
  std::vector<PtxasKernel> kernels;
  /// Warnings, and all messages with a number like (C7510), by which ptxas reports serialised
  /// wgmma.
  std::vector<std::string> warnings;
  std::vector<std::string> errors;
};

/// Parses the output of `ptxas -v`, and ignores lines that it does not know.
PtxasReport parsePtxasReport(StringRef text);

/// Describes the launch of a kernel as far as it is known at compile time.
struct KernelLaunch {
  std::string name;
  int64_t threads = 0; // per block
  int64_t dynamicSharedBytes = 0;
};

/// Fails with an error for the first kernel that exceeds what a CTA of `target` may have: shared
/// memory, and registers of all threads as the hardware allocates them (for each warp, in steps of
/// 256). The error has the use and the limit.
LogicalResult checkKernelLimits(const PtxasReport &report, ArrayRef<KernelLaunch> launches,
                                const ::blocksparse::TargetInfo &target, EmitErrorFn emitError);

/// Returns the path of ptxas: the value of the environment variable BLOCKSPARSE_PTXAS, else the
/// first one in PATH, CUDA_PATH/bin and /usr/local/cuda/bin. Fails if there is none.
FailureOr<std::string> findPtxas(EmitErrorFn emitError);

/// Returns the machine code (a cubin) of PTX text for `chip`, and fills the report on it. Fails
/// with the text of ptxas if ptxas refuses the PTX.
FailureOr<std::string> assemblePTX(StringRef ptx, StringRef chip, StringRef ptxas,
                                   PtxasReport &report, EmitErrorFn emitError);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_GPU_PTXAS_H
