// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Set-up and options that the command-line tools share.

#ifndef BLOCKSPARSE_LIB_DRIVERS_COMMANDLINE_H
#define BLOCKSPARSE_LIB_DRIVERS_COMMANDLINE_H

#include "../Execution/SimulatedDevice.h"

#include "mlir/Support/LLVM.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace mlir::blocksparse {

/// Defines the option "--tuning-database" of all tools that compile. Its default is the environment
/// variable BLOCKSPARSE_TUNING_DATABASE.
struct TuningDatabaseOption : llvm::cl::opt<std::string> {
  explicit TuningDatabaseOption(llvm::cl::OptionCategory &category);
};

/// Declares the options that select the device a program runs on.
struct DeviceOptions {
  llvm::cl::OptionCategory &category;

  llvm::cl::opt<std::string> device{
      "device", llvm::cl::desc("auto (a GPU where there is one), cpu, cuda or simulated"),
      llvm::cl::init("auto"), llvm::cl::cat(category)};
  llvm::cl::opt<uint64_t> simSeed{
      "sim-seed", llvm::cl::desc("Seed of the simulated GPU's orders of warps; 0: the plain order"),
      llvm::cl::init(0), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> simReport{
      "sim-report",
      llvm::cl::desc("Write the counters of each launch on the simulated GPU there, one JSON "
                     "object a line; without a file, on the error stream"),
      llvm::cl::ValueOptional, llvm::cl::value_desc("file"), llvm::cl::cat(category)};

  /// Returns the options of the simulated GPU that the command line gave.
  SimulatorOptions simulator() const;
};

/// Performs the set-up and the exit of a command-line tool. Construct it before the options of the
/// tool: it removes the options of LLVM's own libraries from the command line, except --help and
/// --version, because some have names that our tools use (--stop-after), and none is part of their
/// interface.
class CommandLineTool {
public:
  CommandLineTool(int argc, char **argv);

  /// Parses the command line; an error in it ends the process. Options outside of `category` are
  /// hidden from --help.
  void parseOptions(llvm::cl::OptionCategory &category, StringRef overview);

  /// Calls `body` with a context that has loaded every dialect and that prints each diagnostic
  /// once, with its line of the source. Returns the exit status: 1 for a failure.
  int run(llvm::function_ref<LogicalResult(llvm::SourceMgr &, MLIRContext &)> body);

private:
  int argc;
  char **argv;
  llvm::InitLLVM init;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_DRIVERS_COMMANDLINE_H
