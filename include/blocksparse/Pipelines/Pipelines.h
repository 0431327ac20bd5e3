// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_PIPELINES_PIPELINES_H
#define BLOCKSPARSE_PIPELINES_PIPELINES_H

#include "blocksparse/Target/GPU/PTX.h"
#include "blocksparse/Transforms/ScheduleChooser.h"

#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::blocksparse {

// One function for each stage of the compiler. They run on a builtin.module, one after
// the other; each states what holds after it.

/// After it: calls are inlined and private functions gone, every static layout is in CSR
/// form, attention is decomposed, intermediate layouts are coalesced, folds are applied.
void buildOptimizePipeline(OpPassManager &pm);

struct ScheduleOptions {
  /// What `blocksparse-select-schedule` takes: "cpu", "cuda:sm_90a", ...
  std::string target = "cpu";
  /// A file of measured schedules, or "".
  std::string database;
  ScheduleChooser choose;
};

/// After it: every op that needs one carries a legal #blocksparse.schedule.
void buildSchedulePipeline(OpPassManager &pm, const ScheduleOptions &options = {});

/// Workers of a target as ScheduleOptions names it; 0: not known, or no target.
int64_t getWorkers(const std::string &target);

struct PlanOptions {
  /// Workers of the target: thread blocks that compile-time lists are made for. 0: not known.
  int64_t workers = 0;
  /// Run `blocksparse-verify-plan` on the result.
  bool verify = true;
};

/// Sizes that types leave open are compared when the program runs (`blocksparse-check-extents`).
/// After it: no sparse tensor type is left, function signatures included; ops are in the
/// planned form, on tensors.
void buildPlanPipeline(OpPassManager &pm, const PlanOptions &options = {});

/// After it: no tensor is left. Arguments are memrefs with any strides, results are memref
/// arguments that the caller allocates; what the function allocates it frees.
void buildBufferizePipeline(OpPassManager &pm);

struct CPUConversionOptions {
  /// Check the indices of run-time patterns when the program runs.
  bool checkIndices = false;
};

/// After it: no blocksparse op is left; loops in scf.forall, scf and vector.
void buildConvertToCPUPipeline(OpPassManager &pm, const CPUConversionOptions &options = {});

/// Takes what buildConvertToCPUPipeline leaves. After it: only the llvm dialect, and omp
/// for parallel loops. Each public function f has an entry point _mlir_ciface_f that
/// takes pointers to memref descriptors.
void buildLowerToLLVMPipeline(OpPassManager &pm);

/// Takes what buildBufferizePipeline leaves. After it: no blocksparse op and no copy is left;
/// kernels in one gpu.module, launched from host code whose buffers are device memory.
void buildConvertToGPUPipeline(OpPassManager &pm, const GPUOptions &options = {});

/// Takes what buildBufferizePipeline leaves. After it: the GPU kernels as loops of host code,
/// for buildLowerToLLVMPipeline. For tests of the kernels without a GPU.
void buildEmulateKernelsPipeline(OpPassManager &pm, const GPUOptions &options = {});

/// Takes what buildConvertToGPUPipeline leaves. After it: host code in the llvm dialect that
/// calls the runtime and returns a status, one gpu.binary with the PTX, and the contents of the
/// artefact as attributes of the module (see convert-gpu-launch-to-runtime). With `kernelsOnly` the
/// host code stays as it is.
void buildLowerGPUToLLVMPipeline(OpPassManager &pm, const GPUOptions &options = {});

/// Takes what buildLowerGPUToLLVMPipeline leaves, for one target or merged from several. After it:
/// only the llvm dialect.
void buildEmbedArtifactPipeline(OpPassManager &pm);

/// Registers, for use by name, each stage as `blocksparse-<stage>-pipeline` and the way
/// from the source as `blocksparse-to-planned`, `blocksparse-to-buffers` and
/// `blocksparse-to-cpu` (to the llvm dialect).
void registerPipelines();

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_PIPELINES_PIPELINES_H
