// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Compiler/Compiler.h"
#include "blocksparse/Compiler/Output.h"
#include "blocksparse/Compiler/Targets.h"
#include "blocksparse/IR/DialectAttributes.h"
#include "blocksparse/Pipelines/Pipelines.h"
#include "blocksparse/Target/CPU/SharedLibrary.h"
#include "blocksparse/Target/GPU/LaunchDescription.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::Target;
using ::blocksparse::TargetInfo;

/// Starts the names of entry points after the stage `llvm`.
static constexpr StringLiteral wrapperPrefix = "_mlir_ciface_";

ArrayRef<StageInfo> mlir::blocksparse::getStages() {
  static const StageInfo stages[] = {
      {Stage::Parse, "parse", "verified operations on tensors", nullptr},
      {Stage::Optimise, "optimise", "canonical layouts, attention decomposed, calls inlined",
       [](OpPassManager &pm, const StageOptions &options) {
         buildOptimizePipeline(pm, options.target);
       }},
      {Stage::Schedule, "schedule", "every operation carries a schedule",
       [](OpPassManager &pm, const StageOptions &options) {
         buildSchedulePipeline(pm,
                               {options.target, options.tuningDatabase, options.chooseSchedule});
       }},
      {Stage::Plan, "plan", "planned operations on value tensors and look-up tables",
       [](OpPassManager &pm, const StageOptions &options) {
         PlanOptions plan;
         plan.target = options.target;
         plan.checkIndices = options.checkIndices;
         buildPlanPipeline(pm, plan);
       }},
      {Stage::Bufferize, "bufferize", "planned operations on buffers",
       [](OpPassManager &pm, const StageOptions &) { buildBufferizePipeline(pm); }},
      {Stage::Lower, "lower", "parallel loops and vector code, or kernels and launches",
       [](OpPassManager &pm, const StageOptions &options) {
         options.gpu ? buildConvertToGPUPipeline(pm, *options.gpu)
                     : buildConvertToCPUPipeline(pm, options.target);
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

/// Returns the one of `stages` that has this name.
static FailureOr<Stage> findStage(ArrayRef<StageInfo> stages, StringRef what, StringRef name,
                                  EmitErrorFn emitError) {
  for (const StageInfo &info : stages)
    if (info.name == name)
      return info.stage;
  InFlightDiagnostic error = emitError();
  error << "expects a stage " << what << "(";
  llvm::interleaveComma(stages, error, [&](const StageInfo &info) { error << info.name; });
  return error << "), but got '" << name << "'";
}

FailureOr<Stage> mlir::blocksparse::parseStage(StringRef name, EmitErrorFn emitError) {
  return findStage(getStages(), "", name, emitError);
}

FailureOr<Stage> mlir::blocksparse::parseStartStage(StringRef name, EmitErrorFn emitError) {
  return findStage(getStages().drop_back(), "to start after ", name, emitError);
}

static StringRef getName(Stage stage) { return getStages()[static_cast<size_t>(stage)].name; }

static GPUOptions getGPUOptions(const CompileOptions &options) {
  GPUOptions gpu = options.gpu;
  gpu.target = options.target.first();
  return gpu;
}

/// Returns the names of the public functions that will work on device memory.
static SmallVector<std::string> getDeviceEntryPoints(ModuleOp module) {
  SmallVector<std::string> names;
  for (auto function : module.getOps<FunctionOpInterface>()) {
    StringRef name = SymbolTable::getSymbolName(function);
    // After the stage `llvm` entry points are the wrappers of functions.
    bool isEntry =
        isa<func::FuncOp>(function) ? function.isPublic() : name.consume_front(wrapperPrefix);
    Operation *body = isEntry ? module.lookupSymbol(name) : nullptr;
    if (isEntry && !function.isDeclaration() && !(body && body->hasAttr(hostFunctionAttr)))
      names.push_back(name.str());
  }
  return names;
}

/// Returns the options for one of several targets.
static CompileOptions withTarget(const CompileOptions &options, const TargetInfo &target) {
  CompileOptions one = options;
  one.target = Target(target);
  one.gpu.cubin &= target.isCUDA();
  one.gpu.ptxVersion = target.isCUDA() ? one.gpu.ptxVersion : 0;
  return one;
}

/// Checks several targets, which share one artefact.
static LogicalResult checkTargets(const CompileOptions &options, EmitErrorFn emitError) {
  if (options.stopAfter != Stage::Emit)
    return emitError() << "expects one target for the IR after a stage, but got '"
                       << options.target.describe() << "'";
  if (options.startAfter >= Stage::Schedule)
    return emitError() << "expects one target for IR of the stage '" << getName(options.startAfter)
                       << "', but got '" << options.target.describe() << "'";
  for (const TargetInfo &target : options.target.members())
    if (failed(checkTarget(withTarget(options, target), emitError)))
      return failure();
  return success();
}

LogicalResult mlir::blocksparse::checkTarget(const CompileOptions &options, EmitErrorFn emitError) {
  if (options.gpu.cubin && !options.target.usesDevice())
    return emitError() << "expects a target 'cuda:<chip>' for machine code, but got '"
                       << options.target.describe() << "'";
  if (options.gpu.ptxVersion != 0 && !options.target.usesDevice())
    return emitError() << "expects a target 'cuda:<chip>' for a PTX version, but got '"
                       << options.target.describe() << "'";
  if (options.stopAfter < options.startAfter)
    return emitError() << "expects to stop after the stage '" << getName(options.startAfter)
                       << "' or a later one, but got '" << getName(options.stopAfter) << "'";
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
  stages.checkIndices = options.checkIndices.value_or(options.target.isCPU());
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

/// Fails for kernels, of the program itself or of the stage `lower`, if the target is no GPU.
static LogicalResult checkKernels(ModuleOp module, const CompileOptions &options) {
  auto kernels = module.getOps<gpu::GPUModuleOp>();
  if (kernels.empty() || options.startAfter > Stage::Lower || options.target.usesDevice())
    return success();
  return (*kernels.begin())
             .emitError("expects the target 'cuda:<chip>' for a program with kernels, "
                        "but got '")
         << options.target.describe() << "'";
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
  if (failed(checkTarget(options, emitError)) || failed(checkKernels(module, options)))
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
    if (info.stage > options.startAfter && info.stage <= options.stopAfter && info.buildPipeline)
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

/// Compiles the kernels of a program for one GPU target and returns their PTX; the host code that
/// launches them stays in the module.
static FailureOr<std::string> compileToPTX(ModuleOp module, const CompileOptions &options) {
  if (!options.target.isCUDA())
    return mlir::emitError(module.getLoc(), "expects one target 'cuda:<chip>' for PTX, but got '")
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
  return text;
}

FailureOr<Kernels> mlir::blocksparse::compileKernels(Program &program,
                                                     const CompileOptions &options) {
  if (options.startAfter == Stage::LLVM)
    return program.module->emitError("expects host code that launches kernels for a description of "
                                     "launches, but got IR after the stage 'llvm'");
  FailureOr<std::string> ptx = compileToPTX(*program.module, options);
  if (failed(ptx))
    return failure();
  FailureOr<std::string> launches =
      describeLaunches(*program.module, program.signatures, options.target.first());
  if (failed(launches))
    return failure();
  return Kernels{std::move(*ptx), std::move(*launches)};
}

FailureOr<Code> mlir::blocksparse::compileToCode(ModuleOp module, const CompileOptions &options,
                                                 EntryPoints entryPoints) {
  CompileOptions whole = options;
  whole.stopAfter = Stage::Emit;
  SmallVector<std::string> onStream;
  if (options.target.usesDevice())
    onStream = getDeviceEntryPoints(module);
  if (failed(compile(module, whole)))
    return failure();
  return Code::create(module, options.cpu, entryPoints, onStream);
}

/// Appends code in any format but PTX and that of a shared library.
static LogicalResult emitCode(ModuleOp module, const CompileOptions &options, CodeFormat format,
                              EntryPoints entryPoints, SmallVectorImpl<char> &bytes) {
  FailureOr<Code> code = compileToCode(module, options, entryPoints);
  return success(succeeded(code) && succeeded(code->emit(format, bytes)));
}

static CodeFormat getCodeFormat(OutputFormat format) {
  if (format == OutputFormat::LLVMIR)
    return CodeFormat::LLVMIR;
  return format == OutputFormat::Assembly ? CodeFormat::Assembly : CodeFormat::Object;
}

LogicalResult mlir::blocksparse::emitProgram(ModuleOp module, const CompileOptions &options,
                                             OutputFormat format, SmallVectorImpl<char> &bytes,
                                             EntryPoints entryPoints) {
  if (format == OutputFormat::PTX) {
    FailureOr<std::string> text = compileToPTX(module, options);
    llvm::append_range(bytes, succeeded(text) ? StringRef(*text) : StringRef());
    return text;
  }
  auto emitError = [location = module.getLoc()] { return mlir::emitError(location); };
  if (format != OutputFormat::SharedLibrary)
    return emitCode(module, options, getCodeFormat(format), entryPoints, bytes);
  SmallVector<char, 0> object;
  return success(succeeded(emitCode(module, options, CodeFormat::Object, entryPoints, object)) &&
                 succeeded(linkSharedLibrary(StringRef(object.data(), object.size()), bytes,
                                             options.target.usesDevice(), emitError)));
}

LogicalResult mlir::blocksparse::emitProgram(ModuleOp module, const CompileOptions &options,
                                             OutputFormat format, StringRef path) {
  auto emitError = [location = module.getLoc()] { return mlir::emitError(location); };
  SmallVector<char, 0> bytes;
  bool linked = format == OutputFormat::SharedLibrary;
  if (failed(emitProgram(module, options, linked ? OutputFormat::Object : format, bytes)))
    return failure();
  StringRef text(bytes.data(), bytes.size());
  return linked ? linkSharedLibrary(text, path, options.target.usesDevice(), emitError)
                : writeOutput(path, text, emitError);
}
