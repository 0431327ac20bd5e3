// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse-c/Compiler.h"
#include "blocksparse/Compiler/Compiler.h"
#include "blocksparse/Compiler/Registration.h"
#include "blocksparse/Execution/NativeTarget.h"
#include "blocksparse/Support/Version.h"
#include "blocksparse/Target/CPU/CHeader.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::blocksparse;

struct BlocksparseProgramImpl {
  BlocksparseProgramImpl() {
    DialectRegistry registry;
    mlir::blocksparse::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.printOpOnDiagnostic(false);
  }

  // Members are destroyed in reverse order: the module before its context.
  MLIRContext context;
  llvm::SourceMgr sourceMgr;
  Program program;
};

namespace {

using Handle = BlocksparseProgramImpl;

/// Passes the errors of a call to its callback.
class ErrorReporter {
public:
  ErrorReporter(MLIRContext &context, BlocksparseTextCallback onError, void *userData)
      : handler(&context, [onError, userData](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error || !onError)
            return success();
          std::string text;
          llvm::raw_string_ostream stream(text);
          if (!isa<UnknownLoc>(diagnostic.getLocation()))
            stream << diagnostic.getLocation() << ": ";
          stream << "error: " << diagnostic << "\n";
          onError(text.data(), text.size(), userData);
          return success();
        }) {}

private:
  ScopedDiagnosticHandler handler;
};

} // namespace

static FailureOr<CompileOptions> getOptions(Handle *handle,
                                            const BlocksparseCompileOptions *options) {
  CompileOptions result;
  if (!options)
    return result;
  if (options->target) {
    FailureOr<::blocksparse::Target> target =
        parseTarget(options->target, [&] { return emitError(UnknownLoc::get(&handle->context)); });
    if (failed(target))
      return failure();
    result.target = *target;
  }
  if (options->cpu)
    result.cpu.cpu = options->cpu;
  if (options->features)
    result.cpu.features = options->features;
  if (options->optimization > 0)
    result.cpu.optLevel = options->optimization - 1;
  result.gpu.ptxVersion = options->ptxVersion;
  return result;
}

static std::string printType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static llvm::json::Object describe(const Parameter &parameter) {
  static constexpr StringLiteral roles[] = {"dense", "values", "crow_indices", "col_indices",
                                            "number"};
  llvm::json::Array shape;
  if (parameter.isTensor())
    for (int64_t extent : parameter.getTensor().getShape())
      shape.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
  Type element = parameter.isTensor() ? parameter.getTensor().getElementType() : parameter.type;
  return llvm::json::Object{{"name", parameter.name},
                            {"role", roles[static_cast<int>(parameter.role)]},
                            {"source", int64_t(parameter.source)},
                            {"type", printType(parameter.type)},
                            {"element", printType(element)},
                            {"shape", std::move(shape)}};
}

static llvm::json::Value describe(const FunctionSignature &signature) {
  llvm::json::Array arguments, results;
  for (const Parameter &parameter : signature.arguments)
    arguments.push_back(describe(parameter));
  for (const Parameter &parameter : signature.results)
    results.push_back(describe(parameter));
  llvm::json::Value sizes = nullptr;
  if (std::optional<FunctionSignature> function = signature.getSizeFunction())
    sizes = function->name;
  return llvm::json::Object{{"name", signature.name},
                            {"size_function", std::move(sizes)},
                            {"arguments", std::move(arguments)},
                            {"results", std::move(results)}};
}

static int give(StringRef text, BlocksparseTextCallback onText, void *userData) {
  onText(text.data(), text.size(), userData);
  return 0;
}

extern "C" {

const char *blocksparseCompilerVersion(void) { return ::blocksparse::getVersion(); }

void blocksparseCompilerApiVersion(int *major, int *minor) {
  *major = BLOCKSPARSE_COMPILER_API_MAJOR;
  *minor = BLOCKSPARSE_COMPILER_API_MINOR;
}

BlocksparseProgram blocksparseProgramParse(const char *text, size_t length, const char *name,
                                           BlocksparseTextCallback onError, void *userData) {
  auto handle = std::make_unique<Handle>();
  ErrorReporter reporter(handle->context, onError, userData);
  FailureOr<Program> program = parseProgram(
      llvm::MemoryBuffer::getMemBufferCopy(StringRef(text, length), name ? name : "<program>"),
      handle->sourceMgr, handle->context);
  if (failed(program))
    return nullptr;
  handle->program = std::move(*program);
  return handle.release();
}

void blocksparseProgramDestroy(BlocksparseProgram program) { delete program; }

int blocksparseProgramDescribe(BlocksparseProgram program, BlocksparseTextCallback onText,
                               BlocksparseTextCallback, void *userData) {
  llvm::json::Array functions;
  for (const FunctionSignature &signature : program->program.signatures)
    functions.push_back(describe(signature));
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(
      llvm::json::Object{{"functions", std::move(functions)}});
  return give(text, onText, userData);
}

int blocksparseProgramPrintStage(BlocksparseProgram program,
                                 const BlocksparseCompileOptions *options, const char *stage,
                                 BlocksparseTextCallback onText, BlocksparseTextCallback onError,
                                 void *userData) {
  ErrorReporter reporter(program->context, onError, userData);
  FailureOr<Stage> stopAfter =
      parseStage(stage, [&] { return emitError(UnknownLoc::get(&program->context)); });
  if (failed(stopAfter))
    return 1;
  FailureOr<CompileOptions> compileOptions = getOptions(program, options);
  if (failed(compileOptions))
    return 1;
  compileOptions->stopAfter = *stopAfter;
  OwningOpRef<ModuleOp> module = program->program.module->clone();
  if (failed(compile(*module, *compileOptions)))
    return 1;
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return give(text, onText, userData);
}

int blocksparseProgramEmit(BlocksparseProgram program, const BlocksparseCompileOptions *options,
                           const char *path, BlocksparseTextCallback onError, void *userData) {
  ErrorReporter reporter(program->context, onError, userData);
  std::optional<OutputFormat> format = getOutputFormat(path);
  if (!format) {
    emitError(UnknownLoc::get(&program->context))
        << "expects an output that ends in .so, .o, .s or .ll, but got '" << path << "'";
    return 1;
  }
  FailureOr<CompileOptions> compileOptions = getOptions(program, options);
  if (failed(compileOptions))
    return 1;
  OwningOpRef<ModuleOp> module = program->program.module->clone();
  return failed(emitProgram(*module, *compileOptions, *format, path));
}

int blocksparseProgramEmitHeader(BlocksparseProgram program,
                                 const BlocksparseCompileOptions *options, const char *guard,
                                 BlocksparseTextCallback onText, BlocksparseTextCallback onError,
                                 void *userData) {
  ErrorReporter reporter(program->context, onError, userData);
  FailureOr<CompileOptions> compileOptions = getOptions(program, options);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (failed(compileOptions) || failed(emitCHeader(
                                    program->program.signatures, guard, stream,
                                    [&] { return emitError(UnknownLoc::get(&program->context)); },
                                    compileOptions->target.usesDevice())))
    return 1;
  return give(text, onText, userData);
}

} // extern "C"
