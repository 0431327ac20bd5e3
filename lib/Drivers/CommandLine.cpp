// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CommandLine.h"
#include "blocksparse/Compiler/Registration.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/SourceMgr.h"

#include <cstdlib>

using namespace mlir;
using namespace mlir::blocksparse;
namespace cl = llvm::cl;

static void removeLibraryOptions() {
  for (cl::Option *option : llvm::to_vector(llvm::make_second_range(cl::getRegisteredOptions())))
    if (llvm::none_of(option->Categories, [](const cl::OptionCategory *category) {
          return category->getName() == "Generic Options";
        }))
      option->removeArgument();
}

TuningDatabaseOption::TuningDatabaseOption(cl::OptionCategory &category)
    : opt("tuning-database",
          cl::desc("File of measured schedules (default: $BLOCKSPARSE_TUNING_DATABASE)"),
          cl::value_desc("file"), cl::cat(category)) {
  if (const char *file = std::getenv("BLOCKSPARSE_TUNING_DATABASE"))
    setInitialValue(file);
}

SimulatorOptions DeviceOptions::simulator() const {
  SimulatorOptions options;
  if (simSeed.getNumOccurrences())
    options.seed = simSeed.getValue();
  if (simReport.getNumOccurrences())
    options.report = simReport.empty() ? "-" : simReport.getValue();
  return options;
}

CommandLineTool::CommandLineTool(int argc, char **argv)
    : argc(argc), argv(argv), init(this->argc, this->argv) {
  removeLibraryOptions();
}

void CommandLineTool::parseOptions(cl::OptionCategory &category, StringRef overview) {
  cl::HideUnrelatedOptions(category);
  setVersionPrinter();
  cl::ParseCommandLineOptions(argc, argv, overview);
}

int CommandLineTool::run(llvm::function_ref<LogicalResult(llvm::SourceMgr &, MLIRContext &)> body) {
  DialectRegistry registry;
  mlir::blocksparse::registerAllDialects(registry);
  MLIRContext context(registry);
  // One clear error is enough.
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sourceMgr;
  SourceMgrDiagnosticHandler handler(sourceMgr, &context);
  return succeeded(body(sourceMgr, context)) ? 0 : 1;
}
