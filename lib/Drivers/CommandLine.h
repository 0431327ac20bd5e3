// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Set-up and options that the command-line tools share.

#ifndef BLOCKSPARSE_LIB_DRIVERS_COMMANDLINE_H
#define BLOCKSPARSE_LIB_DRIVERS_COMMANDLINE_H

#include "blocksparse/Target/CPU/Machine.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

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

/// Defines the options "--check-indices" and "--no-check-indices" of the tools that compile.
struct IndexCheckOptions {
  explicit IndexCheckOptions(llvm::cl::OptionCategory &category);

  /// Returns what was asked for; empty for the default of the target. Fails with an error if both
  /// options are given.
  FailureOr<std::optional<bool>> get(EmitErrorFn emitError) const;

private:
  llvm::cl::opt<bool> check, vouch;
};

/// Holds the arguments of a command line so that "@x" is a file name everywhere: LLVM would replace
/// it by the contents of the file "x". The options that the line may contain are registered before.
class FileNameArguments {
public:
  FileNameArguments(int argc, char **argv);
  int count() const { return static_cast<int>(arguments.size()); }
  char **data() { return arguments.data(); }

private:
  std::deque<std::string> changed;
  std::vector<char *> arguments;
};

/// Makes failures to write to a file or a standard stream errors of the tool: writing beyond the
/// limit of a file's size (RLIMIT_FSIZE) raises no signal SIGXFSZ, and a process that ends while
/// the streams hold what could not be written (`--help >/dev/full`) has the exit status 1, where
/// LLVM would abort. Call it before the command line is parsed.
void reportFullDisks();

/// Flushes standard output. Fails, with an error on standard error, if something could not be
/// written there; LLVM would abort when the process ends.
LogicalResult flushStandardOutput();

/// Performs the set-up and the exit of a command-line tool. Construct it before the options of the
/// tool: it removes the options of LLVM's own libraries from the command line, except --help and
/// --version, because some have names that our tools use (--stop-after), and none is part of their
/// interface.
class CommandLineTool {
public:
  CommandLineTool(int argc, char **argv);

  /// Parses the command line; an error in it ends the process. Options outside of `category` are
  /// hidden from --help, which ends with the named patterns of layouts.
  void parseOptions(llvm::cl::OptionCategory &category, StringRef overview);

  /// Calls `body` with a context that has loaded every dialect and that prints each diagnostic
  /// once, with its line of the source. Returns the exit status: 1 for a failure, also one to write
  /// to standard output.
  int run(llvm::function_ref<LogicalResult(llvm::SourceMgr &, MLIRContext &)> body);

private:
  int argc;
  char **argv;
  llvm::InitLLVM init;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_DRIVERS_COMMANDLINE_H
