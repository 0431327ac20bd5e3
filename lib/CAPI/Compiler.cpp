// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Program.h"
#include "blocksparse/Support/Version.h"
#include "blocksparse/Target/CPU/CHeader.h"
#include "blocksparse/Transforms/Passes.h"
#include "blocksparse/Transforms/Schedule.h"
#include "blocksparse/Transforms/TuningDatabase.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::blocksparse;

/// Returns the text of a type, an attribute or JSON.
template <typename T>
static std::string print(const T &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

static llvm::json::Object describe(const Parameter &parameter) {
  static constexpr StringLiteral roles[] = {"dense",       "values", "crow_indices",
                                            "col_indices", "number", "buffer"};
  llvm::json::Array shape;
  if (parameter.isTensor())
    for (int64_t extent : parameter.getTensor().getShape())
      shape.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
  Type element = parameter.isTensor() ? parameter.getTensor().getElementType() : parameter.type;
  return llvm::json::Object{{"name", parameter.name},
                            {"role", roles[static_cast<int>(parameter.role)]},
                            {"source", int64_t(parameter.source)},
                            {"type", print(parameter.type)},
                            {"element", print(element)},
                            {"shape", std::move(shape)}};
}

static llvm::json::Value describe(const FunctionSignature &signature, bool usesDevice) {
  llvm::json::Array arguments, results;
  for (const Parameter &parameter : signature.arguments)
    arguments.push_back(describe(parameter));
  for (const Parameter &parameter : signature.results)
    results.push_back(describe(parameter));
  llvm::json::Value sizes = nullptr;
  if (std::optional<FunctionSignature> function = signature.getSizeFunction())
    sizes = function->name;
  llvm::json::Value stream = nullptr;
  if (usesDevice && !signature.onHost)
    stream = getStreamFunctionName(signature.name);
  return llvm::json::Object{{"name", signature.name},
                            {"source_name", signature.sourceName},
                            {"size_function", std::move(sizes)},
                            {"stream_function", std::move(stream)},
                            {"arguments", std::move(arguments)},
                            {"results", std::move(results)}};
}

static int give(StringRef text, BlocksparseTextCallback onText, void *userData) {
  onText(text.data(), text.size(), userData);
  return 0;
}

static int give(ModuleOp module, BlocksparseTextCallback onText, void *userData) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return give(text, onText, userData);
}

/// Returns a program that has the gradients of functions in their place.
static FailureOr<Program> differentiate(const BlocksparseProgramImpl &source, StringRef functions) {
  if (source.passed != Stage::Parse)
    return emitError(UnknownLoc::get(&source.context))
           << "expects a program at the stage 'parse', to differentiate it, but got one after '"
           << getStages()[static_cast<size_t>(source.passed)].name << "'";
  Program program = source.program.clone();
  if (failed(keepFunctions(program, functions)))
    return failure();
  GenerateGradientsPassOptions options;
  for (StringRef name : llvm::split(functions, ','))
    options.functions.push_back(name.str());
  PassManager gradients(&source.context);
  gradients.addPass(createGenerateGradientsPass(options));
  if (failed(gradients.run(*program.module)))
    return failure();
  for (const std::string &name : options.functions)
    program.module->lookupSymbol<func::FuncOp>(name).setPrivate();
  PassManager cleanUp(&source.context);
  cleanUp.addPass(createSymbolDCEPass());
  if (failed(cleanUp.run(*program.module)))
    return failure();
  return program;
}

static std::optional<OutputFormat> getFormat(BlocksparseFormat format) {
  switch (format) {
  case BLOCKSPARSE_FORMAT_LLVM_IR:
    return OutputFormat::LLVMIR;
  case BLOCKSPARSE_FORMAT_ASSEMBLY:
    return OutputFormat::Assembly;
  case BLOCKSPARSE_FORMAT_OBJECT:
    return OutputFormat::Object;
  case BLOCKSPARSE_FORMAT_SHARED_LIBRARY:
    return OutputFormat::SharedLibrary;
  case BLOCKSPARSE_FORMAT_PTX:
    return OutputFormat::PTX;
  }
  return std::nullopt;
}

extern "C" {

const char *blocksparseCompilerVersion(void) { return ::blocksparse::getVersion(); }

void blocksparseCompilerApiVersion(int *major, int *minor) {
  *major = BLOCKSPARSE_COMPILER_API_MAJOR;
  *minor = BLOCKSPARSE_COMPILER_API_MINOR;
}

BlocksparseProgram blocksparseProgramParse(const char *text, size_t length, const char *name,
                                           const char *stage,
                                           BlocksparseDiagnosticCallback onDiagnostic,
                                           void *userData) {
  auto handle = std::make_unique<BlocksparseProgramImpl>();
  DiagnosticReporter reporter(handle->context, onDiagnostic, userData);
  FailureOr<Stage> passed =
      readPassedStage(stage, [&] { return emitError(UnknownLoc::get(&handle->context)); });
  if (failed(passed))
    return nullptr;
  handle->passed = *passed;
  FailureOr<Program> program = parseProgram(
      llvm::MemoryBuffer::getMemBufferCopy(StringRef(text, length), name ? name : "<program>"),
      handle->sourceMgr, handle->context, handle->passed);
  if (failed(program))
    return nullptr;
  handle->program = std::move(*program);
  return handle.release();
}

void blocksparseProgramDestroy(BlocksparseProgram program) { delete program; }

int blocksparseProgramDescribe(BlocksparseProgram program, const BlocksparseCompileOptions *options,
                               BlocksparseTextCallback onText,
                               BlocksparseDiagnosticCallback onDiagnostic, void *userData) {
  DiagnosticReporter reporter(program->context, onDiagnostic, userData);
  FailureOr<Compilation> compilation = prepareCompilation(program, options);
  if (failed(compilation))
    return 1;
  llvm::json::Array functions;
  for (const FunctionSignature &signature : compilation->program.signatures)
    functions.push_back(describe(signature, compilation->options.target.usesDevice()));
  return give(print(llvm::json::Value(llvm::json::Object{{"functions", std::move(functions)}})),
              onText, userData);
}

int blocksparseProgramListSchedules(BlocksparseProgram program,
                                    const BlocksparseCompileOptions *options,
                                    BlocksparseTextCallback onText,
                                    BlocksparseDiagnosticCallback onDiagnostic, void *userData) {
  DiagnosticReporter reporter(program->context, onDiagnostic, userData);
  FailureOr<Compilation> compilation = prepareCompilation(program, options);
  if (failed(compilation))
    return 1;
  llvm::json::Array operations;
  llvm::StringSet<> keys;
  compilation->options.stopAfter = Stage::Schedule;
  compilation->options.chooseSchedule = [&](Operation *op,
                                            const ::blocksparse::TargetInfo &target) {
    std::string key = getTuningKey(op, target);
    if (keys.insert(key).second) {
      llvm::json::Array schedules;
      for (ScheduleAttr schedule : enumerateSchedules(op, target))
        schedules.push_back(print(schedule));
      operations.push_back(llvm::json::Object{{"operation", op->getName().stripDialect()},
                                              {"key", std::move(key)},
                                              {"schedules", std::move(schedules)}});
    }
    return ScheduleAttr();
  };
  if (failed(compile(*compilation->program.module, compilation->options)))
    return 1;
  return give(print(llvm::json::Value(llvm::json::Object{{"operations", std::move(operations)}})),
              onText, userData);
}

int blocksparseProgramPrintGradients(BlocksparseProgram program, const char *functions,
                                     BlocksparseTextCallback onText,
                                     BlocksparseDiagnosticCallback onDiagnostic, void *userData) {
  DiagnosticReporter reporter(program->context, onDiagnostic, userData);
  FailureOr<Program> gradients = differentiate(*program, functions);
  return failed(gradients) || give(*gradients->module, onText, userData);
}

int blocksparseProgramPrintStage(BlocksparseProgram program,
                                 const BlocksparseCompileOptions *options, const char *stage,
                                 BlocksparseTextCallback onText,
                                 BlocksparseDiagnosticCallback onDiagnostic, void *userData) {
  DiagnosticReporter reporter(program->context, onDiagnostic, userData);
  FailureOr<Stage> stopAfter =
      parseStage(stage, [&] { return emitError(UnknownLoc::get(&program->context)); });
  if (failed(stopAfter))
    return 1;
  FailureOr<Compilation> compilation = prepareCompilation(program, options);
  if (failed(compilation))
    return 1;
  compilation->options.stopAfter = *stopAfter;
  ModuleOp module = *compilation->program.module;
  if (failed(compile(module, compilation->options)))
    return 1;
  return give(module, onText, userData);
}

int blocksparseProgramEmit(BlocksparseProgram program, const BlocksparseCompileOptions *options,
                           const char *path, BlocksparseDiagnosticCallback onDiagnostic,
                           void *userData) {
  DiagnosticReporter reporter(program->context, onDiagnostic, userData);
  std::optional<OutputFormat> format = getOutputFormat(path);
  if (!format) {
    emitError(UnknownLoc::get(&program->context))
        << "expects an output that ends in .so, .o, .s, .ll or .ptx, but got '" << path << "'";
    return 1;
  }
  FailureOr<Compilation> compilation = prepareCompilation(program, options);
  return failed(compilation) ||
         failed(emitProgram(*compilation->program.module, compilation->options, *format, path));
}

int blocksparseProgramEmitToMemory(BlocksparseProgram program,
                                   const BlocksparseCompileOptions *options,
                                   BlocksparseFormat format, BlocksparseTextCallback onBytes,
                                   BlocksparseDiagnosticCallback onDiagnostic, void *userData) {
  DiagnosticReporter reporter(program->context, onDiagnostic, userData);
  std::optional<OutputFormat> output = getFormat(format);
  if (!output) {
    emitError(UnknownLoc::get(&program->context))
        << "expects a format from 0 to " << int(BLOCKSPARSE_FORMAT_PTX) << ", but got "
        << int(format);
    return 1;
  }
  FailureOr<Compilation> compilation = prepareCompilation(program, options);
  // An object with packed entry points is one for blocksparseExecutableLoad.
  if (succeeded(compilation) && format == BLOCKSPARSE_FORMAT_OBJECT &&
      compilation->entryPoints == EntryPoints::Packed)
    compilation->entryPoints = EntryPoints::InMemory;
  SmallVector<char, 0> bytes;
  if (failed(compilation) || failed(emitProgram(*compilation->program.module, compilation->options,
                                                *output, bytes, compilation->entryPoints)))
    return 1;
  return give(StringRef(bytes.data(), bytes.size()), onBytes, userData);
}

int blocksparseProgramEmitKernels(BlocksparseProgram program,
                                  const BlocksparseCompileOptions *options,
                                  BlocksparseTextCallback onPtx, BlocksparseTextCallback onJson,
                                  BlocksparseDiagnosticCallback onDiagnostic, void *userData) {
  DiagnosticReporter reporter(program->context, onDiagnostic, userData);
  FailureOr<Compilation> compilation = prepareCompilation(program, options);
  if (failed(compilation))
    return 1;
  FailureOr<Kernels> kernels = compileKernels(compilation->program, compilation->options);
  return failed(kernels) || give(kernels->ptx, onPtx, userData) ||
         give(kernels->launches, onJson, userData);
}

int blocksparseProgramEmitHeader(BlocksparseProgram program,
                                 const BlocksparseCompileOptions *options, const char *guard,
                                 BlocksparseTextCallback onText,
                                 BlocksparseDiagnosticCallback onDiagnostic, void *userData) {
  DiagnosticReporter reporter(program->context, onDiagnostic, userData);
  FailureOr<Compilation> compilation = prepareCompilation(program, options);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (failed(compilation) ||
      failed(emitCHeader(
          compilation->program.signatures, guard, stream,
          [&] { return emitError(UnknownLoc::get(&program->context)); },
          compilation->options.target.usesDevice(), compilation->program.getExternals())))
    return 1;
  return give(text, onText, userData);
}

} // extern "C"
