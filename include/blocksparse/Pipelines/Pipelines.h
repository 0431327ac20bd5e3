// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Pass pipelines of the stages of the compiler.

#ifndef BLOCKSPARSE_PIPELINES_PIPELINES_H
#define BLOCKSPARSE_PIPELINES_PIPELINES_H

#include "blocksparse/Target/GPU/PTX.h"
#include "blocksparse/Transforms/ScheduleChooser.h"

#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::blocksparse {

// Each stage of the compiler is one function that adds its passes to a pass manager. Stages run on
// a builtin.module, one after the other. The comment of each function states what holds after the
// stage.

/// Adds the stage "optimise". Afterwards calls are inlined and private functions erased, every
/// static layout is in CSR form, products of linalg are products of blocksparse, attention that no
/// fused kernel of `target` computes is decomposed, intermediate layouts are coalesced, elementwise
/// work on sparse tensors is on their values, and folds have been applied.
void buildOptimizePipeline(OpPassManager &pm, const ::blocksparse::TargetInfo &target = {});

/// Holds the options of buildSchedulePipeline.
struct ScheduleOptions {
  ::blocksparse::TargetInfo target;
  /// Path of a tuning database, or "".
  std::string database;
  ScheduleChooser choose;
};

/// Adds the stage "schedule". Afterwards every op that needs one has a legal #blocksparse.schedule.
void buildSchedulePipeline(OpPassManager &pm, const ScheduleOptions &options = {});

/// Holds the options of buildPlanPipeline.
struct PlanOptions {
  /// Target whose SMs, shared memory and rates the stages and work lists are made for.
  ::blocksparse::TargetInfo target = ::blocksparse::TargetInfo::h100();
  /// True to check run-time indices when the program runs (`blocksparse-check-indices`).
  bool checkIndices = false;
  /// True to run `blocksparse-verify-plan` on the result.
  bool verify = true;
};

/// Adds the stage "plan". Afterwards no sparse tensor type is left, in function signatures either;
/// ops are in the planned form, on tensors. Run-time assertions compare dynamic extents
/// (`blocksparse-check-extents`).
void buildPlanPipeline(OpPassManager &pm, const PlanOptions &options = {});

/// Adds the stage "bufferize". Afterwards no tensor is left. Arguments are memrefs with any
/// strides, and results are memref arguments that the caller allocates. A function frees what it
/// allocates.
void buildBufferizePipeline(OpPassManager &pm);

/// Converts the output of buildBufferizePipeline for the CPU, with vectors of the target's width.
/// Afterwards no blocksparse op is left but blocksparse.refuse; computation is in loops of
/// scf.forall and in the scf and vector dialects.
void buildConvertToCPUPipeline(OpPassManager &pm, const ::blocksparse::TargetInfo &target);

/// Lowers the output of buildConvertToCPUPipeline. Afterwards only the llvm dialect is left, and
/// omp for parallel loops. Each public function f has an entry point _mlir_ciface_f whose arguments
/// are pointers to memref descriptors, and which returns an i32 status.
void buildLowerToLLVMPipeline(OpPassManager &pm);

/// Converts the output of buildBufferizePipeline for a GPU. Afterwards no blocksparse op but
/// blocksparse.refuse and no copy is left. Kernels are in one gpu.module; host code, whose buffers
/// are in device memory, launches them.
void buildConvertToGPUPipeline(OpPassManager &pm, const GPUOptions &options = {});

/// Lowers the output of buildConvertToGPUPipeline. Afterwards there is host code in the llvm
/// dialect that calls the runtime and returns a status, one gpu.binary with the PTX, and the
/// contents of the artefact as attributes of the module (see convert-gpu-launch-to-runtime). With
/// `kernelsOnly` the host code is not changed.
void buildLowerGPUToLLVMPipeline(OpPassManager &pm, const GPUOptions &options = {});

/// Embeds the artefact in the output of buildLowerGPUToLLVMPipeline, for one target or merged from
/// several. Afterwards only the llvm dialect is left.
void buildEmbedArtifactPipeline(OpPassManager &pm);

/// Registers pipelines for use by name: each stage as `blocksparse-<stage>-pipeline`, and all
/// stages from the source as `blocksparse-to-planned`, `blocksparse-to-buffers` and
/// `blocksparse-to-cpu` (to the llvm dialect).
void registerPipelines();

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_PIPELINES_PIPELINES_H
