// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The search for the fastest schedules of benchmark points.

#ifndef BLOCKSPARSE_LIB_BENCH_TUNE_H
#define BLOCKSPARSE_LIB_BENCH_TUNE_H

#include "BenchMeasure.h"
#include "blocksparse/Interpreter/ReferenceInterpreter.h"
#include "blocksparse/Transforms/TuningDatabase.h"

#include <chrono>

namespace mlir::blocksparse {

struct TuneOptions {
  /// Where the fastest schedules go, after each one that is faster than those before; "": nowhere.
  std::string database;
  /// Begin no trial after that time; 0: no limit.
  double seconds = 0;
  /// Pass over ops whose entry in the database is complete and this tool's.
  bool resume = false;
  /// Compile the candidates, do not run them.
  bool compileOnly = false;
  /// Candidates compiled at once; 0: one for each core.
  unsigned compileJobs = 0;
  BenchMeasure measure;
  /// Asked before each trial whether to stop.
  std::function<bool()> isInterrupted;
  /// Called after each trial that ran.
  std::function<void()> afterTrial;
};

/// What was found for one op of a point.
struct TuneResult {
  BenchPoint point;
  /// The op's name, and its key in the database.
  std::string op, key;
  size_t candidates = 0, tried = 0;
  /// Of the whole point: with the cost model's choice, and with the fastest schedule. 0: not
  /// measured. Schedules as BenchProgram describes them.
  double choiceMilliseconds = 0, bestMilliseconds = 0;
  std::string choice, best;
  /// Candidates that gave wrong results or could not be compiled or run.
  size_t failures = 0;
};

/// Arguments of a function that stands in a text and their results by the reference: made for the
/// first program, and the same for all others.
class SourceData {
public:
  /// As measureBenchPoint; `program` has a source.
  LogicalResult measure(BenchProgram &program, const RunPlace &place, const BenchMeasure &measure,
                        BenchTimes &times, BenchCheck &check);

private:
  std::vector<::blocksparse::HostTensor> arguments;
  std::vector<ReferenceResult> references;
};

class Tuner {
public:
  Tuner(const TuneOptions &options, RunPlace place, llvm::raw_ostream &os);

  /// Tries all schedules of each op of the point, one op after another; the ops before it have
  /// their fastest by then. Prints a line for each trial. A point that does not compile, or a
  /// database that can't be written, is an error.
  LogicalResult tune(const BenchPoint &point, std::string &error);
  /// Whether nothing shall be tried any more.
  bool isDone() const;

  ArrayRef<TuneResult> results() const { return found; }
  /// The model's choice, the best and their ratio for each op.
  void printTable() const;

private:
  /// One op of a program and its schedules; the cost model's is the first.
  struct TunableOp {
    std::string name, key;
    std::vector<std::string> schedules;
  };
  using Assignment = std::map<std::string, std::string, std::less<>>;

  std::unique_ptr<BenchProgram> compile(const BenchPoint &point, const Assignment &assignment,
                                        std::vector<TunableOp> *ops) const;
  /// Programs of all schedules; null where it was interrupted.
  std::vector<std::unique_ptr<BenchProgram>>
  compileAll(const BenchPoint &point, const TunableOp &op, const Assignment &assignment) const;
  /// Tries one schedule, prints a line, and keeps what is faster than what was before.
  LogicalResult tryOnce(const TunableOp &op, size_t index, BenchProgram &program,
                        Assignment &assignment, TuneResult &result, std::string &error);
  /// Tries all schedules, then the first and the fastest again.
  LogicalResult tuneOp(const TunableOp &op, Assignment &assignment, TuneResult &result,
                       std::string &error);
  /// Milliseconds of a trial, or 0; `verdict` is what the line says.
  double tryProgram(BenchProgram &program, std::string &verdict);
  LogicalResult save(const TunableOp &op, StringRef schedule, double milliseconds, bool complete,
                     std::string &error) const;
  /// The schedule of an op that resume passes over, or "".
  std::string findComplete(const TunableOp &op) const;

  const TuneOptions &options;
  RunPlace place;
  llvm::raw_ostream &os;
  DialectRegistry registry;
  /// Of the point that is tuned.
  SourceData source;
  std::vector<TuneResult> found;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_BENCH_TUNE_H
