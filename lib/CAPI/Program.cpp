// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Program.h"
#include "blocksparse/Compiler/Registration.h"
#include "blocksparse/Execution/NativeTarget.h"

#include <cstring>

using namespace mlir;
using namespace mlir::blocksparse;

static std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  mlir::blocksparse::registerAllDialects(registry);
  auto context = std::make_unique<MLIRContext>(registry);
  context->printOpOnDiagnostic(false);
  return context;
}

BlocksparseProgramImpl::BlocksparseProgramImpl()
    : ownContext(makeContext()), context(*ownContext) {}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

static BlocksparseSeverity getSeverity(const Diagnostic &diagnostic) {
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Note:
    return BLOCKSPARSE_NOTE;
  case DiagnosticSeverity::Remark:
    return BLOCKSPARSE_REMARK;
  case DiagnosticSeverity::Warning:
    return BLOCKSPARSE_WARNING;
  case DiagnosticSeverity::Error:
    return BLOCKSPARSE_ERROR;
  }
  llvm_unreachable("every severity has a case");
}

static void pass(const Diagnostic &diagnostic, BlocksparseDiagnosticCallback onDiagnostic,
                 void *userData) {
  std::string message = diagnostic.str(), file, location;
  Location place = diagnostic.getLocation();
  llvm::raw_string_ostream(location) << place;
  BlocksparseDiagnostic passed = {};
  passed.size = sizeof(passed);
  passed.severity = getSeverity(diagnostic);
  passed.message = message.c_str();
  if (auto position = place->findInstanceOf<FileLineColLoc>()) {
    file = position.getFilename().str();
    passed.line = position.getLine();
    passed.column = position.getColumn();
  }
  passed.file = file.c_str();
  passed.location = location.c_str();
  onDiagnostic(&passed, userData);
  for (const Diagnostic &note : diagnostic.getNotes())
    pass(note, onDiagnostic, userData);
}

DiagnosticReporter::DiagnosticReporter(MLIRContext &context,
                                       BlocksparseDiagnosticCallback onDiagnostic, void *userData)
    : handler(&context, [onDiagnostic, userData](Diagnostic &diagnostic) {
        if (onDiagnostic)
          pass(diagnostic, onDiagnostic, userData);
        return success();
      }) {}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// Is the size of the first version of the options.
static constexpr size_t firstOptionsSize =
    offsetof(BlocksparseCompileOptions, packedEntryPoints) + sizeof(int);

void blocksparseCompileOptionsInit(BlocksparseCompileOptions *options, size_t size) {
  BlocksparseCompileOptions defaults = {};
  defaults.size = size;
  defaults.optLevel = 3;
  std::memset(options, 0, size);
  std::memcpy(options, &defaults, std::min(size, sizeof(defaults)));
}

/// Returns a struct of this version with the members that the caller's struct has.
static FailureOr<BlocksparseCompileOptions> readOptions(const BlocksparseCompileOptions *given,
                                                        EmitErrorFn emitError) {
  BlocksparseCompileOptions options;
  blocksparseCompileOptionsInit(&options, sizeof(options));
  if (!given)
    return options;
  // A size beyond this one is no size: the struct has not been filled in.
  constexpr size_t largestSize = 4096;
  const size_t size = given->size;
  if (size < firstOptionsSize || size > largestSize)
    return emitError() << "expects options from blocksparseCompileOptionsInit with a size from "
                       << firstOptionsSize << " to " << largestSize << " bytes, but got " << size;
  std::memcpy(&options, given, std::min(size, sizeof(options)));
  const char *bytes = reinterpret_cast<const char *>(given);
  if (std::any_of(bytes + std::min(size, sizeof(options)), bytes + size,
                  [](char byte) { return byte != 0; }))
    return emitError() << "expects options of version " << BLOCKSPARSE_COMPILER_API_MAJOR << "."
                       << BLOCKSPARSE_COMPILER_API_MINOR << " with " << sizeof(options)
                       << " bytes, or zeros behind them, but got " << size << " bytes";
  return options;
}

static StringRef toString(const char *text) { return text ? StringRef(text) : StringRef(); }

/// Fails if a number is outside of the range that the tools' option has.
static LogicalResult checkRange(StringRef name, int64_t number, int64_t least, int64_t most,
                                EmitErrorFn emitError) {
  if (number >= least && number <= most)
    return success();
  return emitError() << "expects " << name << " from " << least << " to " << most << ", but got "
                     << number;
}

static LogicalResult checkNumbers(const BlocksparseCompileOptions &options, EmitErrorFn emitError) {
  return success(
      succeeded(checkRange("ptxVersion", options.ptxVersion, 0, 999, emitError)) &&
      succeeded(checkRange("optLevel", options.optLevel, 0, 3, emitError)) &&
      succeeded(checkRange("cubin", options.cubin, 0, 1, emitError)) &&
      succeeded(checkRange("checkIndices", options.checkIndices, BLOCKSPARSE_CHECK_DEFAULT,
                           BLOCKSPARSE_CHECK_OFF, emitError)) &&
      succeeded(checkRange("packedEntryPoints", options.packedEntryPoints, 0, 1, emitError)));
}

static FailureOr<CompileOptions> convertOptions(const BlocksparseCompileOptions &options,
                                                EmitErrorFn emitError) {
  if (failed(checkNumbers(options, emitError)))
    return failure();
  CompileOptions result;
  if (options.target) {
    FailureOr<::blocksparse::Target> target = parseTarget(options.target, emitError);
    if (failed(target))
      return failure();
    result.target = *target;
  }
  if (options.cpu)
    result.cpu.cpu = options.cpu;
  result.cpu.features = toString(options.features);
  result.cpu.optLevel = options.optLevel;
  result.gpu.optLevel = options.optLevel;
  result.gpu.ptxVersion = options.ptxVersion;
  result.gpu.cubin = options.cubin;
  if (options.checkIndices != BLOCKSPARSE_CHECK_DEFAULT)
    result.checkIndices = options.checkIndices == BLOCKSPARSE_CHECK_ON;
  result.tuningDatabase = toString(options.tuningDatabase);
  return result;
}

FailureOr<Compilation>
mlir::blocksparse::prepareCompilation(BlocksparseProgram program,
                                      const BlocksparseCompileOptions *options) {
  auto emitError = [&] { return mlir::emitError(UnknownLoc::get(&program->context)); };
  FailureOr<BlocksparseCompileOptions> given = readOptions(options, emitError);
  if (failed(given))
    return failure();
  FailureOr<CompileOptions> converted = convertOptions(*given, emitError);
  if (failed(converted))
    return failure();
  Compilation compilation;
  compilation.options = std::move(*converted);
  compilation.options.startAfter = program->passed;
  if (given->packedEntryPoints)
    compilation.entryPoints = EntryPoints::Packed;
  compilation.program = program->program.clone();
  if (program->passed == Stage::LLVM) {
    if (given->functions || given->symbolPrefix)
      return emitError() << "expects neither functions nor symbolPrefix for IR after the stage "
                            "'llvm', but got '"
                         << toString(given->functions) << "' and '" << toString(given->symbolPrefix)
                         << "'";
    return compilation;
  }
  if ((given->functions && failed(keepFunctions(compilation.program, given->functions))) ||
      failed(nameEntryPoints(compilation.program, toString(given->symbolPrefix))))
    return failure();
  return compilation;
}

FailureOr<Stage> mlir::blocksparse::readPassedStage(const char *name, EmitErrorFn emitError) {
  return name ? parseStartStage(name, emitError) : Stage::Parse;
}
