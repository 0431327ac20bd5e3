// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Pipelines/Pipelines.h"
#include "blocksparse/Conversion/Passes.h"
#include "blocksparse/Target/CPU/Passes.h"
#include "blocksparse/Target/TargetInfo.h"
#include "blocksparse/Transforms/Bufferization/Passes.h"
#include "blocksparse/Transforms/Neighbours/Passes.h"
#include "blocksparse/Transforms/Passes.h"

#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::TargetInfo;

void mlir::blocksparse::buildOptimizePipeline(OpPassManager &pm, const TargetInfo &target) {
  pm.addPass(createInlinerPass());
  pm.addPass(createRejectCallsPass());
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createSparseTensorToBlockSparsePass());
  pm.addPass(createStructureControlFlowPass());
  pm.addPass(createExpandLayoutsPass());
  pm.addPass(createDecomposeNeighboursPass());
  pm.addPass(createLinalgToBlockSparsePass());
  // A factor that became a part of a product would hide an attention.
  pm.addPass(createFuseAttentionPass());
  pm.addPass(createDecomposeAttentionPass({target}));
  pm.addPass(createFuseEpiloguesPass());
  pm.addPass(createDecomposeSlicesPass());
  pm.addPass(createCoalesceLayoutsPass());
  pm.addPass(createElementwiseToValuesPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void mlir::blocksparse::buildSchedulePipeline(OpPassManager &pm, const ScheduleOptions &options) {
  pm.addPass(createSelectSchedulePass(options.target, options.database, options.choose));
}

void mlir::blocksparse::buildPlanPipeline(OpPassManager &pm, const PlanOptions &options) {
  pm.addNestedPass<func::FuncOp>(createCheckExtentsPass());
  if (options.checkIndices)
    pm.addNestedPass<func::FuncOp>(createCheckIndicesPass());
  pm.addPass(createMaterializeLutsPass());
  pm.addNestedPass<func::FuncOp>(createSaturateF8Pass());
  BuildStagesPassOptions stages;
  stages.target = options.target;
  pm.addPass(createBuildStagesPass(stages));
  pm.addPass(createBalanceLoadPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  if (!options.verify)
    return;
  VerifyPlanPassOptions verify;
  verify.target = options.target;
  pm.addPass(createVerifyPlanPass(verify));
}

void mlir::blocksparse::buildBufferizePipeline(OpPassManager &pm) {
  pm.addPass(createAddSizeFunctionsPass());
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createElementwiseToLinalgPass());
  functions.addPass(createLinalgGeneralizeNamedOpsPass());
  functions.addPass(createLinalgInlineScalarOperandsPass());
  // Elementwise operations in a row become one loop.
  functions.addPass(createLinalgElementwiseOpFusionPass());
  pm.addPass(memref::createResolveShapedTypeResultDimsPass());
  pm.addPass(createResolveLoopSizesPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createReuseInputsPass());
  pm.addPass(createCarryInPlacePass());
  pm.addPass(createResultsToDestinationsPass());
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  // A loop that carries a tensor of open size has a new buffer for it in each iteration.
  bufferize.allowReturnAllocsFromLoops = true;
  bufferize.functionBoundaryTypeConversion = bufferization::LayoutMapOption::FullyDynamicLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  bufferization::buildBufferDeallocationPipeline(pm);
  pm.addPass(createConvertBufferizationToMemRefPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void mlir::blocksparse::buildConvertToCPUPipeline(OpPassManager &pm, const TargetInfo &target) {
  ConvertBlockSparseToCPUPassOptions convert;
  convert.vectorBits = target.cpuFacts().simdBits;
  pm.addPass(createConvertBlockSparseToCPUPass(convert));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

namespace {

struct GPUPipelineOptions : PassPipelineOptions<GPUPipelineOptions> {
  Option<TargetInfo> target{*this, "target", llvm::cl::desc("GPU to make code for: cuda:<chip>"),
                            llvm::cl::init(TargetInfo::oldestGPU())};
  Option<unsigned> ptxVersion{*this, "ptx-version",
                              llvm::cl::desc("10 * major + minor; 0: the lowest for the kernels"),
                              llvm::cl::init(0)};

  GPUOptions get() const { return {target, ptxVersion, 3}; }
};

struct NoOptions : PassPipelineOptions<NoOptions> {};

struct ToPlannedOptions : PassPipelineOptions<ToPlannedOptions> {
  Option<TargetInfo> target{*this, "target", llvm::cl::desc("cpu or cuda:<chip>"),
                            llvm::cl::init(TargetInfo())};
};

/// Registers a pipeline of passes on modules. A text that puts it elsewhere is an error, where MLIR
/// would end the process.
template <typename Options = NoOptions>
struct ModulePipeline {
  ModulePipeline(StringRef name, StringRef description,
                 std::function<void(OpPassManager &, const Options &)> build) {
    auto add = [name, build](OpPassManager &pm, StringRef text,
                             function_ref<LogicalResult(const Twine &)> fail) -> LogicalResult {
      std::optional<StringRef> operation = pm.getOpName();
      if (operation && *operation != ModuleOp::getOperationName())
        return fail("'" + name + "' expects to run on " + ModuleOp::getOperationName() +
                    ", but got " + *operation);
      Options options;
      if (failed(options.parseFromString(text)))
        return failure();
      build(pm, options);
      return success();
    };
    registerPassPipeline(
        name, description, add,
        [](function_ref<void(const mlir::detail::PassOptions &)> handle) { handle(Options()); });
  }
};

} // namespace

static void buildToPlanned(OpPassManager &pm, const TargetInfo &target) {
  buildOptimizePipeline(pm, target);
  buildSchedulePipeline(pm, {target, "", nullptr});
  PlanOptions plan;
  plan.target = target;
  buildPlanPipeline(pm, plan);
}

static void registerStages() {
  ModulePipeline<ToPlannedOptions>("blocksparse-optimise-pipeline",
                                   "Expand layouts, decompose attention, inline and fold.",
                                   [](OpPassManager &pm, const ToPlannedOptions &options) {
                                     buildOptimizePipeline(pm, options.target);
                                   });
  ModulePipeline<ToPlannedOptions>("blocksparse-schedule-pipeline",
                                   "Choose a schedule for every op.",
                                   [](OpPassManager &pm, const ToPlannedOptions &options) {
                                     buildSchedulePipeline(pm, {options.target, "", nullptr});
                                   });
  ModulePipeline<>("blocksparse-plan-pipeline",
                   "Make look-up tables, balance them and verify the plan.",
                   [](OpPassManager &pm, const NoOptions &) { buildPlanPipeline(pm); });
  ModulePipeline<>("blocksparse-bufferize-pipeline",
                   "Turn tensors into buffers, results into the caller's.",
                   [](OpPassManager &pm, const NoOptions &) { buildBufferizePipeline(pm); });
  ModulePipeline<>(
      "blocksparse-lower-pipeline",
      "Turn planned ops on buffers into loops and vector code for a CPU.",
      [](OpPassManager &pm, const NoOptions &) { buildConvertToCPUPipeline(pm, TargetInfo()); });
  ModulePipeline<>("blocksparse-llvm-pipeline",
                   "Turn loops and vector code into the llvm and omp dialects.",
                   [](OpPassManager &pm, const NoOptions &) { buildLowerToLLVMPipeline(pm); });
}

static void registerGPUPipelines() {
  ModulePipeline<GPUPipelineOptions>("blocksparse-lower-gpu-pipeline",
                                     "Turn planned ops on buffers into kernels and launches.",
                                     [](OpPassManager &pm, const GPUPipelineOptions &options) {
                                       buildConvertToGPUPipeline(pm, options.get());
                                     });
  ModulePipeline<GPUPipelineOptions>("blocksparse-llvm-gpu-pipeline",
                                     "Turn kernels into PTX and launches into runtime calls.",
                                     [](OpPassManager &pm, const GPUPipelineOptions &options) {
                                       buildLowerGPUToLLVMPipeline(pm, options.get());
                                     });
  ModulePipeline<GPUPipelineOptions>("blocksparse-to-gpu",
                                     "From the source to host code and PTX, for a GPU.",
                                     [](OpPassManager &pm, const GPUPipelineOptions &options) {
                                       buildToPlanned(pm, options.target);
                                       buildBufferizePipeline(pm);
                                       buildConvertToGPUPipeline(pm, options.get());
                                       buildLowerGPUToLLVMPipeline(pm, options.get());
                                     });
}

void mlir::blocksparse::registerPipelines() {
  registerStages();
  registerGPUPipelines();
  ModulePipeline<ToPlannedOptions>("blocksparse-to-planned",
                                   "From the source to planned ops on tensors.",
                                   [](OpPassManager &pm, const ToPlannedOptions &options) {
                                     buildToPlanned(pm, options.target);
                                   });
  ModulePipeline<ToPlannedOptions>("blocksparse-to-buffers",
                                   "From the source to planned ops on buffers.",
                                   [](OpPassManager &pm, const ToPlannedOptions &options) {
                                     buildToPlanned(pm, options.target);
                                     buildBufferizePipeline(pm);
                                   });
  ModulePipeline<>("blocksparse-to-cpu", "From the source to the llvm and omp dialects, for a CPU.",
                   [](OpPassManager &pm, const NoOptions &) {
                     buildToPlanned(pm, TargetInfo());
                     buildBufferizePipeline(pm);
                     buildConvertToCPUPipeline(pm, TargetInfo());
                     buildLowerToLLVMPipeline(pm);
                   });
}
