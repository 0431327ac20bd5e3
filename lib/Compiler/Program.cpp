// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Compiler/Program.h"
#include "blocksparse/IR/DialectAttributes.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Support/Nesting.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::blocksparse;

const FunctionSignature *Program::find(StringRef name) const {
  auto found =
      llvm::find_if(signatures, [&](const auto &entry) { return entry.sourceName == name; });
  return found == signatures.end() ? nullptr : &*found;
}

SmallVector<FunctionSignature> Program::getExternals() const {
  SmallVector<FunctionSignature> externals;
  ModuleOp source = module.get();
  // Faults of a declaration are reported when the program is compiled.
  ScopedDiagnosticHandler silent(source.getContext(), [](Diagnostic &) { return success(); });
  for (auto function : source.getOps<func::FuncOp>())
    if (function.isDeclaration() && !SymbolTable::symbolKnownUseEmpty(function, source))
      if (FailureOr<FunctionSignature> signature = FunctionSignature::get(function, {});
          succeeded(signature))
        externals.push_back(std::move(*signature));
  return externals;
}

Program Program::clone() const {
  Program copy;
  copy.module = module.get().clone();
  copy.signatures = signatures;
  return copy;
}

/// Returns the identifier after `%` where the argument stands in the text; "" when there is none.
/// The parser gives an argument without explicit location the place of its name.
static std::string getSourceName(BlockArgument argument, const llvm::MemoryBuffer &buffer,
                                 llvm::SourceMgr &sourceMgr, unsigned id) {
  auto location = dyn_cast<FileLineColLoc>(argument.getLoc());
  if (!location || location.getFilename() != buffer.getBufferIdentifier())
    return "";
  llvm::SMLoc place =
      sourceMgr.FindLocForLineAndColumn(id, location.getLine(), location.getColumn());
  if (!place.isValid())
    return "";
  StringRef text(place.getPointer(), buffer.getBufferEnd() - place.getPointer());
  if (!text.consume_front("%"))
    return "";
  StringRef name = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  return name.empty() || llvm::isDigit(name.front()) ? "" : name.str();
}

/// Fails if a symbol has a NUL character, at which the name in an object would end.
static LogicalResult checkSymbolNames(ModuleOp module) {
  for (Operation &op : *module.getBody()) {
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    if (!symbol || !symbol.getName().contains('\0'))
      continue;
    InFlightDiagnostic error = op.emitError("expects a name without a NUL character, but got '");
    std::string escaped;
    llvm::raw_string_ostream stream(escaped);
    llvm::printEscapedString(symbol.getName(), stream);
    return error << escaped << "'";
  }
  return success();
}

/// Appends the signatures of the public functions. `getNames` gives the names of the arguments of
/// each. Fails for attributes that nothing would read.
static LogicalResult
readSignatures(Program &program, Stage passed,
               llvm::function_ref<SmallVector<std::string>(func::FuncOp)> getNames) {
  if (failed(checkAttributePrefixes(*program.module)) || failed(checkSymbolNames(*program.module)))
    return failure();
  for (auto function : program.module->getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isDeclaration())
      continue;
    FailureOr<FunctionSignature> signature =
        FunctionSignature::get(function, getNames(function), passed >= Stage::Bufferize);
    if (failed(signature))
      return failure();
    program.signatures.push_back(std::move(*signature));
  }
  return success();
}

LogicalResult mlir::blocksparse::checkNesting(llvm::MemoryBufferRef text, MLIRContext &context) {
  StringRef bytes = text.getBuffer();
  std::optional<size_t> position =
      isBytecode(text) ? std::nullopt : ::blocksparse::findDeepNesting(bytes);
  if (!position)
    return success();
  StringRef before = bytes.take_front(*position);
  auto line = static_cast<unsigned>(before.count('\n') + 1);
  auto column = static_cast<unsigned>(before.size() - (before.rfind('\n') + 1) + 1);
  return emitError(FileLineColLoc::get(&context, text.getBufferIdentifier(), line, column))
         << "expects brackets at most " << ::blocksparse::maxNesting << " deep, but got more";
}

FailureOr<Program> mlir::blocksparse::parseProgram(StringRef path, llvm::SourceMgr &sourceMgr,
                                                   MLIRContext &context, Stage passed) {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(path, &message);
  if (!file)
    return emitError(UnknownLoc::get(&context)) << "expects a file to read, but got: " << message;
  return parseProgram(std::move(file), sourceMgr, context, passed);
}

FailureOr<Program> mlir::blocksparse::parseProgram(std::unique_ptr<llvm::MemoryBuffer> text,
                                                   llvm::SourceMgr &sourceMgr, MLIRContext &context,
                                                   Stage passed) {
  if (failed(checkNesting(*text, context)))
    return failure();
  sourceMgr.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  Program program;
  program.module = parseSourceFile<ModuleOp>(sourceMgr, ParserConfig(&context));
  if (!program.module)
    return failure();
  unsigned id = sourceMgr.getMainFileID();
  const llvm::MemoryBuffer &buffer = *sourceMgr.getMemoryBuffer(id);
  auto getNames = [&](func::FuncOp function) {
    return llvm::map_to_vector(function.getArguments(), [&](BlockArgument argument) {
      return getSourceName(argument, buffer, sourceMgr, id);
    });
  };
  if (failed(readSignatures(program, passed, getNames)))
    return failure();
  return program;
}

FailureOr<Program> mlir::blocksparse::readProgram(ModuleOp module, Stage passed) {
  Program program;
  program.module = module.clone();
  if (failed(
          readSignatures(program, passed, [](func::FuncOp) { return SmallVector<std::string>(); })))
    return failure();
  return program;
}

static LogicalResult reportUnknownFunction(Program &program, StringRef name) {
  InFlightDiagnostic error = program.module->emitError()
                             << "expects a public function of the module, but got '" << name
                             << "'; the module has ";
  if (program.signatures.empty())
    error << "none";
  llvm::interleaveComma(program.signatures, error, [&](const FunctionSignature &signature) {
    error << "'" << signature.sourceName << "'";
  });
  return error;
}

LogicalResult mlir::blocksparse::keepFunctions(Program &program, StringRef names) {
  SmallVector<StringRef> kept(llvm::split(names, ','));
  for (StringRef name : kept)
    if (!program.find(name))
      return reportUnknownFunction(program, name);
  for (auto function : program.module->getOps<func::FuncOp>())
    if (function.isPublic() && !function.isDeclaration() &&
        !llvm::is_contained(kept, function.getName()))
      function.setPrivate();
  llvm::erase_if(program.signatures,
                 [&](const auto &entry) { return !llvm::is_contained(kept, entry.sourceName); });
  return success();
}

namespace {
/// Holds a result that a function will return.
struct ReturnedValue {
  Value value;
  /// The number of the result that it was.
  std::optional<unsigned> previous;
};
} // namespace

static SmallVector<ReturnedValue> collectResults(func::FuncOp function) {
  Block &body = function.getBody().front();
  OperandRange previous = body.getTerminator()->getOperands();
  SmallVector<bool> used(previous.size());
  SmallVector<ReturnedValue> collected;
  for (Operation &op : body.without_terminator()) {
    if (matchPattern(&op, m_Constant()))
      continue;
    for (Value value : op.getResults()) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type || (type.getEncoding() && !isSparseTensor(type)))
        continue;
      auto place = llvm::find(previous, value);
      std::optional<unsigned> number;
      if (place != previous.end())
        used[number.emplace(place.getIndex())] = true;
      collected.push_back({value, number});
    }
  }
  for (auto [number, value] : llvm::enumerate(previous))
    if (!used[number])
      collected.push_back({value, unsigned(number)});
  return collected;
}

static std::string describe(Value value, Parameter::Role role) {
  Operation *op = value.getDefiningOp();
  std::string text = op->getName().stripDialect().str();
  if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>())
    text += " (" + llvm::utostr(place.getLine()) + ":" + llvm::utostr(place.getColumn()) + ")";
  if (op->getNumResults() > 1)
    text += "#" + llvm::utostr(cast<OpResult>(value).getResultNumber());
  if (role == Parameter::Role::CrowIndices)
    text += " crow_indices";
  if (role == Parameter::Role::ColIndices)
    text += " col_indices";
  return text;
}

/// Returns the names of the source's arguments: those of the last of the parameters that one
/// becomes.
static SmallVector<std::string> getArgumentNames(const FunctionSignature &signature) {
  SmallVector<std::string> names;
  for (const Parameter &parameter : signature.arguments) {
    names.resize(std::max<size_t>(names.size(), parameter.source + 1));
    names[parameter.source] = parameter.name;
  }
  return names;
}

static LogicalResult returnEveryResult(func::FuncOp function, FunctionSignature &signature) {
  if (!function.getBody().hasOneBlock())
    return function.emitError("expects a body of one block for a check of each operation, but got ")
           << function.getBody().getBlocks().size();
  SmallVector<ReturnedValue> results = collectResults(function);
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> attributes;
  for (const ReturnedValue &result : results) {
    values.push_back(result.value);
    attributes.push_back(result.previous ? function.getResultAttrDict(*result.previous)
                                         : DictionaryAttr::get(function.getContext()));
  }
  function.removeResAttrsAttr();
  function.setType(FunctionType::get(function.getContext(), function.getArgumentTypes(),
                                     TypeRange(ValueRange(values))));
  function.setAllResultAttrs(attributes);
  function.getBody().front().getTerminator()->setOperands(values);

  FailureOr<FunctionSignature> changed =
      FunctionSignature::get(function, getArgumentNames(signature));
  if (failed(changed))
    return failure();
  for (Parameter &parameter : changed->results) {
    const ReturnedValue &result = results[parameter.source];
    if (!result.previous) {
      parameter.name = describe(result.value, parameter.role);
      continue;
    }
    for (const Parameter &previous : signature.results)
      if (previous.source == *result.previous && previous.role == parameter.role)
        parameter.name = previous.name;
  }
  signature = std::move(*changed);
  return success();
}

LogicalResult mlir::blocksparse::returnEveryResult(Program &program) {
  for (FunctionSignature &signature : program.signatures)
    if (failed(::returnEveryResult(program.module->lookupSymbol<func::FuncOp>(signature.name),
                                   signature)))
      return failure();
  return success();
}

void mlir::blocksparse::dropRunAttributes(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    function.removeArgAttrsAttr();
    function.removeResAttrsAttr();
  }
}
