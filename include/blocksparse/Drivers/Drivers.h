// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_DRIVERS_DRIVERS_H
#define BLOCKSPARSE_DRIVERS_DRIVERS_H

namespace mlir::blocksparse {

// What the tools do, command line included. Each gives the exit status of its process: 0, or
// 1 after an error that went to standard error.

/// blocksparse-compile: a file to an artefact, or to the IR after a stage.
int compileMain(int argc, char **argv);

/// blocksparse-run: calls a function of a file; 1 also when a check fails.
int runMain(int argc, char **argv);

/// blocksparse-bench: measures points of a benchmark; 1 also when a check fails.
int benchMain(int argc, char **argv);

/// blocksparse-tune: tries the schedules of points of a benchmark and keeps the fastest in a
/// database; 1 also when a check fails, 130 when interrupted.
int tuneMain(int argc, char **argv);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_DRIVERS_DRIVERS_H
