// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Entry points of the command-line tools.

#ifndef BLOCKSPARSE_DRIVERS_DRIVERS_H
#define BLOCKSPARSE_DRIVERS_DRIVERS_H

namespace mlir::blocksparse {

// Main functions of the tools, including the parsing of the command line. Each returns the exit
// status of its process: 0, or 1 after an error, which is printed to standard error.

/// Runs blocksparse-opt, which applies passes to a file.
int optMain(int argc, char **argv);

/// Runs blocksparse-compile, which compiles a file to an artefact, or to the IR after a stage.
int compileMain(int argc, char **argv);

/// Runs blocksparse-run, which calls a function of a file. Returns 1 also if a check fails.
int runMain(int argc, char **argv);

/// Runs blocksparse-bench, which measures points of a benchmark. Returns 1 also if a check fails.
int benchMain(int argc, char **argv);

/// Runs blocksparse-tune, which measures the schedules of points of a benchmark and stores the
/// fastest in a tuning database. Returns 1 also if a check fails, and 130 if interrupted.
int tuneMain(int argc, char **argv);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_DRIVERS_DRIVERS_H
