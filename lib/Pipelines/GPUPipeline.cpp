// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Conversion/BlockSparseToGPU.h"
#include "blocksparse/Pipelines/Pipelines.h"
#include "blocksparse/Target/GPU/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::blocksparse;

static void addCleanUp(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// Makes parallel loops of the host sequential: a call puts its launches on one stream, in order,
/// and has one state, which threads must not share.
static void addHostLoops(OpPassManager &functions) {
  functions.addPass(createForallToForLoopPass());
  functions.addPass(createParallelForToNestedForsPass());
}

void mlir::blocksparse::buildConvertToGPUPipeline(OpPassManager &pm, const GPUOptions &options) {
  addHostLoops(pm.nest<func::FuncOp>());
  ConvertBlockSparseToGPUPassOptions convert;
  convert.target = options.target;
  pm.addPass(createConvertBlockSparseToGPUPass(convert));
  CopiesToKernelsPassOptions copies;
  copies.target = options.target;
  pm.addPass(createCopiesToKernelsPass(copies));
  addCleanUp(pm.nest<func::FuncOp>());
  addCleanUp(pm.nest<gpu::GPUModuleOp>().nestAny());
}

/// Lowers kernels to the llvm and nvvm dialects. Index is 64 bits wide, because offsets exceed
/// 2^31. As many passes as possible run on each kernel by itself, and so on several threads.
static void addKernels(OpPassManager &pm) {
  OpPassManager &module = pm.nest<gpu::GPUModuleOp>();
  OpPassManager &kernels = module.nestAny();
  kernels.addPass(createConvertVectorToSCFPass(VectorTransferToSCFOptions().enableFullUnroll()));
  kernels.addPass(createSCFToControlFlowPass());
  // Expanding metadata creates affine maps.
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createConvertVectorToLLVMPass());
  ConvertGpuOpsToNVVMOpsOptions nvvm;
  nvvm.indexBitwidth = 64;
  // redux.sync does not define the order of a reduction, and has no floating-point form before
  // sm_100.
  nvvm.hasRedux = false;
  module.addPass(createConvertGpuOpsToNVVMOps(nvvm));
  module.addPass(createTensorMapsByValuePass());
  OpPassManager &lowered = module.nestAny();
  lowered.addPass(createConvertNVVMToLLVMPass());
  lowered.addPass(createReconcileUnrealizedCastsPass());
  addCleanUp(lowered);
}

void mlir::blocksparse::buildLowerGPUToLLVMPipeline(OpPassManager &pm, const GPUOptions &options) {
  addKernels(pm);
  EmitPTXPassOptions ptx;
  ptx.target = options.target;
  ptx.ptxVersion = options.ptxVersion;
  ptx.optLevel = options.optLevel;
  ptx.cubin = options.cubin;
  pm.addPass(createEmitPTXPass(ptx));
  if (options.kernelsOnly)
    return;
  LaunchesToRuntimePassOptions launches;
  launches.target = options.target;
  pm.addPass(createLaunchesToRuntimePass(launches));
  buildLowerToLLVMPipeline(pm);
}

void mlir::blocksparse::buildEmbedArtifactPipeline(OpPassManager &pm) {
  pm.addPass(createEmbedArtifactPass());
}
