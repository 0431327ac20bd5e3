// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Compiler/Compiler.h"
#include "blocksparse/Compiler/Output.h"
#include "blocksparse/Compiler/Targets.h"
#include "blocksparse/Pipelines/Pipelines.h"
#include "blocksparse/Target/CPU/SharedLibrary.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::Target;
using ::blocksparse::TargetInfo;

/// Emulates the chip that the schedules were chosen for; scalar kernels if that is a processor.
static GPUOptions getEmulatedOptions(const StageOptions &options) {
  GPUOptions gpu;
  if (options.target.isCUDA())
    gpu.target = options.target;
  return gpu;
}

ArrayRef<StageInfo> mlir::blocksparse::getStages() {
  static const StageInfo stages[] = {
      {Stage::Parse, "parse", "verified operations on tensors", nullptr},
      {Stage::Optimise, "optimise", "canonical layouts, attention decomposed, calls inlined",
       [](OpPassManager &pm, const StageOptions &) { buildOptimizePipeline(pm); }},
      {Stage::Schedule, "schedule", "every operation carries a schedule",
       [](OpPassManager &pm, const StageOptions &options) {
         buildSchedulePipeline(pm,
                               {options.target, options.tuningDatabase, options.chooseSchedule});
       }},
      {Stage::Plan, "plan", "planned operations on value tensors and look-up tables",
       [](OpPassManager &pm, const StageOptions &options) {
         PlanOptions plan;
         plan.target = options.target;
         buildPlanPipeline(pm, plan);
       }},
      {Stage::Bufferize, "bufferize", "planned operations on buffers",
       [](OpPassManager &pm, const StageOptions &) { buildBufferizePipeline(pm); }},
      {Stage::Lower, "lower", "parallel loops and vector code, or kernels and launches",
       [](OpPassManager &pm, const StageOptions &options) {
         if (options.emulated)
           return buildEmulateKernelsPipeline(pm, getEmulatedOptions(options));
         options.gpu ? buildConvertToGPUPipeline(pm, *options.gpu)
                     : buildConvertToCPUPipeline(pm, {options.checkIndices});
       }},
      {Stage::LLVM, "llvm", "the llvm and omp dialects; PTX",
       [](OpPassManager &pm, const StageOptions &options) {
         options.gpu ? buildLowerGPUToLLVMPipeline(pm, *options.gpu) : buildLowerToLLVMPipeline(pm);
       }},
      {Stage::Emit, "emit", "LLVM IR, assembly, an object or a shared library",
       [](OpPassManager &pm, const StageOptions &options) {
         if (options.gpu)
           buildEmbedArtifactPipeline(pm);
       }},
  };
  return stages;
}

FailureOr<Stage> mlir::blocksparse::parseStage(StringRef name, EmitErrorFn emitError) {
  for (const StageInfo &info : getStages())
    if (info.name == name)
      return info.stage;
  InFlightDiagnostic error = emitError();
  error << "expects a stage (";
  llvm::interleaveComma(getStages(), error, [&](const StageInfo &info) { error << info.name; });
  return error << "), but got '" << name << "'";
}

static GPUOptions getGPUOptions(const CompileOptions &options) {
  GPUOptions gpu = options.gpu;
  gpu.target = options.target.first();
  return gpu;
}

/// Returns the options for one of several targets.
static CompileOptions withTarget(const CompileOptions &options, const TargetInfo &target) {
  CompileOptions one = options;
  one.target = Target(target);
  one.gpu.cubin &= target.isCUDA();
  return one;
}

/// Checks several targets, which share one artefact.
static LogicalResult checkTargets(const CompileOptions &options, EmitErrorFn emitError) {
  if (options.stopAfter != Stage::Emit)
    return emitError() << "expects one target for the IR after a stage, but got '"
                       << options.target.describe() << "'";
  for (const TargetInfo &target : options.target.members())
    if (failed(checkTarget(withTarget(options, target), emitError)))
      return failure();
  return success();
}

LogicalResult mlir::blocksparse::checkTarget(const CompileOptions &options, EmitErrorFn emitError) {
  if (options.checkIndices && !options.target.isCPU())
    return emitError() << "expects the target 'cpu' where indices are checked, but got '"
                       << options.target.describe() << "'";
  if (options.gpu.cubin && !options.target.usesDevice())
    return emitError() << "expects a target 'cuda:<chip>' for machine code, but got '"
                       << options.target.describe() << "'";
  if (!options.target.isSingle())
    return checkTargets(options, emitError);
  if (options.target.isCUDA())
    return success(succeeded(checkGPUOptions(getGPUOptions(options), emitError)) &&
                   succeeded(checkCPUOptions(options.cpu, emitError)));
  return checkCPUOptions(options.cpu, emitError);
}

/// Returns the options of the passes. A processor that computes has the facts that LLVM knows.
static FailureOr<StageOptions> getStageOptions(const CompileOptions &options,
                                               EmitErrorFn emitError) {
  const TargetInfo &target = options.target.first();
  StageOptions stages;
  stages.target = target;
  stages.emulated = options.target.isEmulated();
  stages.checkIndices = options.checkIndices;
  if (options.target.isCUDA())
    stages.gpu = getGPUOptions(options);
  if (target.isCUDA())
    return stages;
  FailureOr<TargetInfo> described = describeTarget(options.cpu, emitError);
  if (failed(described))
    return failure();
  stages.target = TargetInfo::cpu(described->chip(), described->cpuFacts(), target.workers());
  return stages;
}

/// Compiles clones of the module, one for each target, and merges them in it.
static LogicalResult compileTargets(ModuleOp module, const CompileOptions &options) {
  SmallVector<OwningOpRef<ModuleOp>> programs;
  for (const TargetInfo &target : options.target.members()) {
    CompileOptions one = withTarget(options, target);
    one.stopAfter = Stage::LLVM;
    programs.emplace_back(module.clone());
    if (failed(compile(*programs.back(), one)))
      return failure();
  }
  module.getBody()->clear();
  mergePrograms(module, programs, options.target.members());
  PassManager pm = PassManager::on<ModuleOp>(module.getContext());
  buildEmbedArtifactPipeline(pm);
  return pm.run(module);
}

LogicalResult mlir::blocksparse::compile(ModuleOp module, const CompileOptions &options) {
  auto emitError = [&] { return module.emitError(); };
  if (failed(checkTarget(options, emitError)))
    return failure();
  if (!options.target.isSingle())
    return compileTargets(module, options);
  FailureOr<StageOptions> stageOptions = getStageOptions(options, emitError);
  if (failed(stageOptions))
    return failure();
  stageOptions->tuningDatabase = options.tuningDatabase;
  stageOptions->chooseSchedule = options.chooseSchedule;
  PassManager pm = PassManager::on<ModuleOp>(module.getContext());
  if (options.configurePasses && failed(options.configurePasses(pm)))
    return failure();
  for (const StageInfo &info : getStages())
    if (info.stage <= options.stopAfter && info.buildPipeline)
      info.buildPipeline(pm, *stageOptions);
  return pm.run(module);
}

std::optional<OutputFormat> mlir::blocksparse::getOutputFormat(StringRef path) {
  StringRef extension = llvm::sys::path::extension(path);
  if (extension == ".ll")
    return OutputFormat::LLVMIR;
  if (extension == ".s")
    return OutputFormat::Assembly;
  if (extension == ".o")
    return OutputFormat::Object;
  if (extension == ".so")
    return OutputFormat::SharedLibrary;
  if (extension == ".ptx")
    return OutputFormat::PTX;
  return std::nullopt;
}

/// Writes the PTX of a program for one GPU target: an empty file if it has no kernel.
static LogicalResult emitKernels(ModuleOp module, const CompileOptions &options, StringRef path,
                                 EmitErrorFn emitError) {
  if (!options.target.isCUDA())
    return emitError() << "expects one target 'cuda:<chip>' for PTX, but got '"
                       << options.target.describe() << "'";
  CompileOptions kernels = options;
  kernels.stopAfter = Stage::LLVM;
  kernels.gpu.kernelsOnly = true;
  if (failed(compile(module, kernels)))
    return failure();
  std::string text;
  for (auto binary : module.getOps<gpu::BinaryOp>())
    for (Attribute attribute : binary.getObjects())
      if (auto object = cast<gpu::ObjectAttr>(attribute);
          object.getFormat() == gpu::CompilationTarget::Assembly)
        text += object.getObject().getValue();
  return writeOutput(path, text, emitError);
}

LogicalResult mlir::blocksparse::emitProgram(ModuleOp module, const CompileOptions &options,
                                             OutputFormat format, StringRef path) {
  auto emitError = [location = module.getLoc()] { return mlir::emitError(location); };
  if (format == OutputFormat::PTX)
    return emitKernels(module, options, path, emitError);
  CompileOptions whole = options;
  whole.stopAfter = Stage::Emit;
  if (failed(compile(module, whole)))
    return failure();
  FailureOr<Code> code = Code::create(module, options.cpu);
  SmallVector<char, 0> bytes;
  CodeFormat codeFormat = format == OutputFormat::LLVMIR     ? CodeFormat::LLVMIR
                          : format == OutputFormat::Assembly ? CodeFormat::Assembly
                                                             : CodeFormat::Object;
  if (failed(code) || failed(code->emit(codeFormat, bytes)))
    return failure();
  StringRef text(bytes.data(), bytes.size());
  return format == OutputFormat::SharedLibrary
             ? linkSharedLibrary(text, path, options.target.usesDevice(), emitError)
             : writeOutput(path, text, emitError);
}
