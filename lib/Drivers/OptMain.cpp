// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CommandLine.h"
#include "blocksparse/Compiler/Output.h"
#include "blocksparse/Compiler/Program.h"
#include "blocksparse/Compiler/Registration.h"
#include "blocksparse/Drivers/Drivers.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::blocksparse;

static constexpr StringLiteral overview =
    "block-sparse optimizer driver\n"
    "The named patterns of layouts, with their parameters, units and defaults:\n"
    "blocksparse-compile --print-patterns, or docs/Dialect/Patterns.md\n";

/// Runs the passes on the file `input` and writes the IR to `output`.
static LogicalResult optimize(const std::string &input, const std::string &output,
                              DialectRegistry &registry, const MlirOptMainConfig &config) {
  MLIRContext context;
  auto emitError = [&] { return mlir::emitError(UnknownLoc::get(&context)); };
  if (failed(checkOutput(output, emitError)))
    return failure();
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(input, &error);
  if (!buffer)
    return emitError() << "expects a file to read, but got: " << error;
  if (failed(checkNesting(*buffer, context)))
    return failure();
  // What a failed run printed is of use on standard output, but must not replace a file.
  if (output == "-")
    return MlirOptMain(llvm::outs(), std::move(buffer), registry, config);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (failed(MlirOptMain(stream, std::move(buffer), registry, config)))
    return failure();
  return writeOutput(output, text, emitError);
}

int mlir::blocksparse::optMain(int argc, char **argv) {
  DialectRegistry registry;
  mlir::blocksparse::registerAllDialects(registry);
  mlir::blocksparse::registerAllPasses();
  setVersionPrinter();
  reportFullDisks();
  std::string header = registerCLIOptions(overview, registry);
  FileNameArguments arguments(argc, argv);
  auto [input, output] = parseCLIOptions(arguments.count(), arguments.data(), header);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  // These print their list and run nothing.
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  llvm::InitLLVM init(argc, argv);
  LogicalResult result = optimize(input, output, registry, config);
  return succeeded(flushStandardOutput()) && succeeded(result) ? 0 : 1;
}
