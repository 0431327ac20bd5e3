// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_DRIVERS_COMMANDLINE_H
#define BLOCKSPARSE_LIB_DRIVERS_COMMANDLINE_H

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

/// "--tuning-database", of all tools that compile; the environment's BLOCKSPARSE_TUNING_DATABASE is
/// what it is otherwise.
struct TuningDatabaseOption : llvm::cl::opt<std::string> {
  explicit TuningDatabaseOption(llvm::cl::OptionCategory &category);
};

/// What a command-line tool starts and ends with. To be made before the tool's options: it takes
/// the options of LLVM's own libraries off the command line, all but --help and --version. Some
/// have names that our tools want (--stop-after), and none is part of their interface.
class CommandLineTool {
public:
  CommandLineTool(int argc, char **argv);

  /// Reads the command line; what is wrong in it ends the process. Options outside `category` are
  /// hidden from --help.
  void parseOptions(llvm::cl::OptionCategory &category, StringRef overview);

  /// Calls `body` with a context that has every dialect and prints each diagnostic once, with its
  /// line of the source. Gives the exit status: 1 for a failure.
  int run(llvm::function_ref<LogicalResult(llvm::SourceMgr &, MLIRContext &)> body);

private:
  int argc;
  char **argv;
  llvm::InitLLVM init;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_DRIVERS_COMMANDLINE_H
