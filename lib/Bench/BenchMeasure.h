// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Checks and then measures a compiled benchmark point.

#ifndef BLOCKSPARSE_LIB_BENCH_BENCHMEASURE_H
#define BLOCKSPARSE_LIB_BENCH_BENCHMEASURE_H

#include "BenchCalls.h"
#include "BenchCheck.h"

namespace mlir::blocksparse {

/// Selects how a test damages results before they are checked.
enum class BenchDamage { None, Values, NaN, Repeat };

/// Describes how a point is checked and measured.
struct BenchMeasure {
  BenchSettings settings;
  /// Number of parts of a result that are compared.
  int64_t checks = 64;
  uint64_t dataSeed = 0;
  BenchDamage damage = BenchDamage::None;
};

/// Returns the verdict on the results of the first call.
using CheckResultsFn = llvm::function_ref<BenchCheck(ArrayRef<::blocksparse::HostTensor>)>;

/// Measures `program` at `place` on `arguments`: calls it once, passes the results to
/// `checkResults`, and then measures it as measureBenchPoint does.
LogicalResult measureBenchCalls(BenchProgram &program, const RunPlace &place,
                                const BenchMeasure &measure,
                                ArrayRef<::blocksparse::HostTensor> arguments,
                                CheckResultsFn checkResults, BenchTimes &times, BenchCheck &check);

/// Measures `program` at `place` on random operands. `check` receives the comparison of the first
/// call's results with the reference, and whether later results were equal to them. Fails with a
/// diagnostic if the program cannot run; wrong results are not a failure.
LogicalResult measureBenchPoint(BenchProgram &program, const RunPlace &place,
                                const BenchMeasure &measure, BenchTimes &times, BenchCheck &check);

/// Calls `measure`, one of the two functions above or another of their kind. If it fails, or if
/// memory is not enough, program.error() says why.
void runWithinMemory(BenchProgram &program, llvm::function_ref<LogicalResult()> measure);

/// Returns the target to compile for and the device to run on, for "native" (a GPU if there is
/// one), "cpu" or "cuda:<chip>", and a device as RunPlace::get takes it. With `compileOnly` a
/// device is needed only for "native" and where one is named.
FailureOr<RunPlace> getBenchPlace(StringRef target, bool compileOnly, EmitErrorFn emitError,
                                  StringRef device = "auto",
                                  const SimulatorOptions &simulator = {});

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_BENCH_BENCHMEASURE_H
