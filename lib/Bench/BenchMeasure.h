// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A compiled benchmark point: checked, then timed.

#ifndef BLOCKSPARSE_LIB_BENCH_BENCHMEASURE_H
#define BLOCKSPARSE_LIB_BENCH_BENCHMEASURE_H

#include "BenchCalls.h"
#include "BenchCheck.h"

namespace mlir::blocksparse {

/// What tests do to results before they are checked.
enum class BenchDamage { None, Values, NaN, Repeat };

struct BenchMeasure {
  BenchSettings settings;
  /// Parts of a result that are compared.
  int64_t checks = 64;
  uint64_t dataSeed = 0;
  BenchDamage damage = BenchDamage::None;
};

/// The verdict about results of a first call.
using CheckResultsFn = llvm::function_ref<BenchCheck(ArrayRef<::blocksparse::HostTensor>)>;

/// Calls `program` at `place` on `arguments`, as measureBenchPoint does on its own.
LogicalResult measureBenchCalls(BenchProgram &program, const RunPlace &place,
                                const BenchMeasure &measure,
                                ArrayRef<::blocksparse::HostTensor> arguments,
                                CheckResultsFn checkResults, BenchTimes &times, BenchCheck &check);

/// Calls `program` at `place` on random operands. `check` holds what the first call's results are
/// against the reference and whether later ones are equal to them. Fails, with a diagnostic of the
/// program's, where it can't run; wrong results are no failure.
LogicalResult measureBenchPoint(BenchProgram &program, const RunPlace &place,
                                const BenchMeasure &measure, BenchTimes &times, BenchCheck &check);

/// Where to compile for and to run: "native" (a GPU where there is one), "cpu" or "cuda:<chip>".
/// With `compileOnly` nothing is looked for but "native".
FailureOr<RunPlace> getBenchPlace(StringRef target, bool compileOnly, EmitErrorFn emitError);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_BENCH_BENCHMEASURE_H
