// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Compiler/Compiler.h"
#include "blocksparse/Compiler/Targets.h"
#include "blocksparse/Pipelines/Pipelines.h"
#include "blocksparse/Target/CPU/SharedLibrary.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::blocksparse;

/// The chip whose kernels are emulated is that of the schedules, where they are for a GPU.
static GPUOptions getEmulatedOptions(const StageOptions &options) {
  GPUOptions gpu;
  if (StringRef chip = options.scheduleTarget; chip.consume_front("cuda:"))
    gpu.chip = chip.split(',').first.str();
  return gpu;
}

ArrayRef<StageInfo> mlir::blocksparse::getStages() {
  static const StageInfo stages[] = {
      {Stage::Parse, "parse", "verified operations on tensors", nullptr},
      {Stage::Optimise, "optimise", "canonical layouts, attention decomposed, calls inlined",
       [](OpPassManager &pm, const StageOptions &) { buildOptimizePipeline(pm); }},
      {Stage::Schedule, "schedule", "every operation carries a schedule",
       [](OpPassManager &pm, const StageOptions &options) {
         buildSchedulePipeline(
             pm, {options.scheduleTarget, options.tuningDatabase, options.chooseSchedule});
       }},
      {Stage::Plan, "plan", "planned operations on value tensors and look-up tables",
       [](OpPassManager &pm, const StageOptions &options) {
         PlanOptions plan;
         plan.workers = getWorkers(options.scheduleTarget);
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

bool mlir::blocksparse::usesDevice(const CompileOptions &options) {
  return llvm::any_of(splitTargets(options.target),
                      [](StringRef target) { return target.starts_with("cuda:"); });
}

static GPUOptions getGPUOptions(const CompileOptions &options) {
  GPUOptions gpu = options.gpu;
  gpu.chip = StringRef(options.target).drop_front(StringRef("cuda:").size()).str();
  return gpu;
}

/// The same options for one of several targets.
static CompileOptions withTarget(const CompileOptions &options, StringRef target) {
  CompileOptions one = options;
  one.target = target.str();
  one.gpu.cubin &= one.isCUDA();
  return one;
}

/// Several targets share one artefact, which needs a GPU among them, and each once.
static LogicalResult checkTargets(const CompileOptions &options, ArrayRef<std::string> targets,
                                  EmitErrorFn emitError) {
  if (options.stopAfter != Stage::Emit)
    return emitError() << "expects one target for the IR after a stage, but got '" << options.target
                       << "'";
  llvm::StringSet<> seen;
  for (StringRef target : targets) {
    if (!seen.insert(target).second)
      return emitError() << "expects each target once, but got '" << target << "' again";
    if (failed(checkTarget(withTarget(options, target), emitError)))
      return failure();
  }
  return success();
}

LogicalResult mlir::blocksparse::checkTarget(const CompileOptions &options, EmitErrorFn emitError) {
  if (options.checkIndices && options.target != "cpu")
    return emitError() << "expects the target 'cpu' where indices are checked, but got '"
                       << options.target << "'";
  if (options.gpu.cubin && !usesDevice(options))
    return emitError() << "expects a target 'cuda:<chip>' for machine code, but got '"
                       << options.target << "'";
  if (SmallVector<std::string> targets = splitTargets(options.target); targets.size() > 1)
    return checkTargets(options, targets, emitError);
  if (options.isCUDA())
    return success(succeeded(checkGPUOptions(getGPUOptions(options), emitError)) &&
                   succeeded(checkCPUOptions(options.cpu, emitError)));
  if (options.target == "cpu" || options.isEmulated())
    return checkCPUOptions(options.cpu, emitError);
  return emitError() << "expects the target 'cpu' or 'cuda:<chip>', but got '" << options.target
                     << "'";
}

/// What the passes take; the processor's facts matter where it computes.
static FailureOr<StageOptions> getStageOptions(const CompileOptions &options,
                                               EmitErrorFn emitError) {
  if (options.isCUDA())
    return StageOptions{options.target, getGPUOptions(options)};
  if (StringRef chip = options.target; chip.consume_front("emulated:"))
    return StageOptions{"cuda:" + chip.str(), std::nullopt, /*emulated=*/true};
  FailureOr<std::string> described = describeTarget(options.cpu, emitError);
  if (failed(described))
    return failure();
  return StageOptions{*described, std::nullopt, options.isEmulated(), options.checkIndices};
}

/// Compiles clones of the module, one for each target, and puts them together in it.
static LogicalResult compileTargets(ModuleOp module, const CompileOptions &options,
                                    ArrayRef<std::string> targets) {
  SmallVector<OwningOpRef<ModuleOp>> programs;
  for (StringRef target : targets) {
    CompileOptions one = withTarget(options, target);
    one.stopAfter = Stage::LLVM;
    programs.emplace_back(module.clone());
    if (failed(compile(*programs.back(), one)))
      return failure();
  }
  module.getBody()->clear();
  mergePrograms(module, programs, targets);
  PassManager pm = PassManager::on<ModuleOp>(module.getContext());
  buildEmbedArtifactPipeline(pm);
  return pm.run(module);
}

LogicalResult mlir::blocksparse::compile(ModuleOp module, const CompileOptions &options) {
  auto emitError = [&] { return module.emitError(); };
  if (failed(checkTarget(options, emitError)))
    return failure();
  if (SmallVector<std::string> targets = splitTargets(options.target); targets.size() > 1)
    return compileTargets(module, options, targets);
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

static LogicalResult writeFile(StringRef bytes, StringRef path, EmitErrorFn emitError) {
  if (path == "-") {
    llvm::outs() << bytes;
    return success();
  }
  llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &stream) {
    stream << bytes;
    return llvm::Error::success();
  });
  if (!error)
    return success();
  return emitError() << "expects to write '" << path
                     << "', but got: " << llvm::toString(std::move(error));
}

/// Writes the PTX of a program for one GPU target; nothing where it has no kernel.
static LogicalResult emitKernels(ModuleOp module, const CompileOptions &options, StringRef path,
                                 EmitErrorFn emitError) {
  if (!options.isCUDA() || splitTargets(options.target).size() != 1)
    return emitError() << "expects one target 'cuda:<chip>' for PTX, but got '" << options.target
                       << "'";
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
  return writeFile(text, path, emitError);
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
             ? linkSharedLibrary(text, path, usesDevice(options), emitError)
             : writeFile(text, path, emitError);
}
