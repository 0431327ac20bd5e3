// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Compiler/Compiler.h"
#include "blocksparse/Pipelines/Pipelines.h"
#include "blocksparse/Target/CPU/SharedLibrary.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::blocksparse;

ArrayRef<StageInfo> mlir::blocksparse::getStages() {
  static const StageInfo stages[] = {
      {Stage::Parse, "parse", "verified operations on tensors", nullptr},
      {Stage::Optimise, "optimise", "canonical layouts, attention decomposed, calls inlined",
       [](OpPassManager &pm, const StageOptions &) { buildOptimizePipeline(pm); }},
      {Stage::Schedule, "schedule", "every operation carries a schedule",
       [](OpPassManager &pm, const StageOptions &options) {
         buildSchedulePipeline(pm, {options.scheduleTarget});
       }},
      {Stage::Plan, "plan", "planned operations on value tensors and look-up tables",
       [](OpPassManager &pm, const StageOptions &) { buildPlanPipeline(pm); }},
      {Stage::Bufferize, "bufferize", "planned operations on buffers",
       [](OpPassManager &pm, const StageOptions &) { buildBufferizePipeline(pm); }},
      {Stage::Lower, "lower", "parallel loops and vector code",
       [](OpPassManager &pm, const StageOptions &) { buildConvertToCPUPipeline(pm); }},
      {Stage::LLVM, "llvm", "the llvm and omp dialects",
       [](OpPassManager &pm, const StageOptions &) { buildLowerToLLVMPipeline(pm); }},
      {Stage::Emit, "emit", "LLVM IR, assembly, an object or a shared library", nullptr},
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

LogicalResult mlir::blocksparse::checkTarget(StringRef target, EmitErrorFn emitError) {
  if (target == "cpu")
    return success();
  return emitError() << "expects the target 'cpu', but got '" << target << "'";
}

LogicalResult mlir::blocksparse::compile(ModuleOp module, const CompileOptions &options) {
  if (failed(checkTarget(options.target, [&] { return module.emitError(); })))
    return failure();
  auto emitError = [&] { return module.emitError(); };
  FailureOr<std::string> scheduleTarget = describeTarget(options.cpu, emitError);
  if (failed(scheduleTarget))
    return failure();
  PassManager pm = PassManager::on<ModuleOp>(module.getContext());
  if (options.configurePasses && failed(options.configurePasses(pm)))
    return failure();
  for (const StageInfo &info : getStages())
    if (info.stage <= options.stopAfter && info.buildPipeline)
      info.buildPipeline(pm, {*scheduleTarget});
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

LogicalResult mlir::blocksparse::emitProgram(ModuleOp module, const CompileOptions &options,
                                             OutputFormat format, StringRef path) {
  auto emitError = [location = module.getLoc()] { return mlir::emitError(location); };
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
  return format == OutputFormat::SharedLibrary ? linkSharedLibrary(text, path, emitError)
                                               : writeFile(text, path, emitError);
}
