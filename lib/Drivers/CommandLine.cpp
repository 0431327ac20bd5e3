// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CommandLine.h"
#include "blocksparse/Compiler/Registration.h"
#include "blocksparse/Layout/PatternReference.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstdlib>

using namespace mlir;
using namespace mlir::blocksparse;
namespace cl = llvm::cl;

IndexCheckOptions::IndexCheckOptions(cl::OptionCategory &category)
    : check("check-indices",
            cl::desc("Check run-time indices in the compiled code before they are used; a CPU's "
                     "code does so by default, a GPU's on demand"),
            cl::cat(category)),
      vouch("no-check-indices",
            cl::desc("Do not check run-time indices: the caller vouches for them"),
            cl::cat(category)) {}

FailureOr<std::optional<bool>> IndexCheckOptions::get(EmitErrorFn emitError) const {
  if (check && vouch)
    return emitError() << "expects one of --check-indices and --no-check-indices, but got both";
  // An option that is given as `=false` asks for the opposite.
  if (check.getNumOccurrences())
    return std::optional<bool>(check);
  if (vouch.getNumOccurrences())
    return std::optional<bool>(!vouch);
  return std::optional<bool>();
}

static void removeLibraryOptions() {
  for (cl::Option *option : llvm::to_vector(llvm::make_second_range(cl::getRegisteredOptions())))
    if (llvm::none_of(option->Categories, [](const cl::OptionCategory *category) {
          return category->getName() == "Generic Options";
        }))
      option->removeArgument();
}

/// Returns true if the argument is an option whose value is the next argument.
static bool takesNextArgument(StringRef argument) {
  if (!argument.consume_front("-") || argument.contains('='))
    return false;
  argument.consume_front("-");
  auto option = cl::getRegisteredOptions().find(argument);
  return option != cl::getRegisteredOptions().end() &&
         option->second->getValueExpectedFlag() == cl::ValueRequired;
}

FileNameArguments::FileNameArguments(int argc, char **argv) {
  for (int i = 0; i < argc; ++i) {
    StringRef argument = argv[i];
    if (i == 0 || argument.size() < 2 || argument.front() != '@') {
      arguments.push_back(argv[i]);
      continue;
    }
    if (takesNextArgument(argv[i - 1])) {
      changed.push_back(std::string(argv[i - 1]) + "=" + argument.str());
      arguments.pop_back();
    } else {
      changed.push_back("./" + argument.str());
    }
    arguments.push_back(changed.back().data());
  }
}

void mlir::blocksparse::reportFullDisks() {
  std::signal(SIGXFSZ, SIG_IGN);
  // The streams are made before the handler is registered, so that they are destroyed after it ran.
  llvm::outs();
  llvm::errs();
  std::atexit([] {
    bool isWritten = succeeded(flushStandardOutput()) && !llvm::errs().has_error();
    llvm::errs().clear_error();
    if (!isWritten)
      std::_Exit(1);
  });
}

LogicalResult mlir::blocksparse::flushStandardOutput() {
  llvm::raw_fd_ostream &stream = llvm::outs();
  stream.flush();
  if (!stream.has_error())
    return success();
  llvm::errs() << "error: expects to write standard output, but got: " << stream.error().message()
               << "\n";
  stream.clear_error();
  return failure();
}

TuningDatabaseOption::TuningDatabaseOption(cl::OptionCategory &category)
    : opt("tuning-database",
          cl::desc("File of measured schedules (default: $BLOCKSPARSE_TUNING_DATABASE)"),
          cl::value_desc("file"), cl::cat(category)) {
  if (const char *file = std::getenv("BLOCKSPARSE_TUNING_DATABASE"))
    setInitialValue(file);
}

CommandLineTool::CommandLineTool(int argc, char **argv)
    : argc(argc), argv(argv), init(this->argc, this->argv) {
  removeLibraryOptions();
  reportFullDisks();
}

void CommandLineTool::parseOptions(cl::OptionCategory &category, StringRef overview) {
  static const std::string patterns = "\n" + ::blocksparse::summarizePatterns();
  static cl::extrahelp help(patterns);
  cl::HideUnrelatedOptions(category);
  setVersionPrinter();
  FileNameArguments arguments(argc, argv);
  cl::ParseCommandLineOptions(arguments.count(), arguments.data(), overview);
}

int CommandLineTool::run(llvm::function_ref<LogicalResult(llvm::SourceMgr &, MLIRContext &)> body) {
  DialectRegistry registry;
  mlir::blocksparse::registerAllDialects(registry);
  MLIRContext context(registry);
  // One clear error is enough.
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sourceMgr;
  SourceMgrDiagnosticHandler handler(sourceMgr, &context);
  LogicalResult result = body(sourceMgr, context);
  return succeeded(flushStandardOutput()) && succeeded(result) ? 0 : 1;
}
