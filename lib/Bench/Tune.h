// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Searches for the fastest schedules of benchmark points.

#ifndef BLOCKSPARSE_LIB_BENCH_TUNE_H
#define BLOCKSPARSE_LIB_BENCH_TUNE_H

#include "BenchMeasure.h"
#include "blocksparse/Interpreter/ReferenceInterpreter.h"
#include "blocksparse/Transforms/TuningDatabase.h"

#include <chrono>

namespace mlir::blocksparse {

/// Describes a search.
struct TuneOptions {
  /// Path of the database. The fastest schedule is stored after each trial that is faster than
  /// those before. "": nothing is stored.
  std::string database;
  /// Seconds after which no trial begins; 0: no limit.
  double seconds = 0;
  /// True to skip ops whose entry in the database is complete and was made by this version.
  bool resume = false;
  /// True to compile the candidates without running them.
  bool compileOnly = false;
  /// Number of candidates compiled concurrently; 0: one for each core.
  unsigned compileJobs = 0;
  BenchMeasure measure;
  /// Returns true if the search must stop; called before each trial.
  std::function<bool()> isInterrupted;
  /// Is called after each trial that ran.
  std::function<void()> afterTrial;
};

/// Holds the result for one op of a point.
struct TuneResult {
  BenchPoint point;
  /// Name of the op, and its key in the database.
  std::string op, key;
  size_t candidates = 0, tried = 0;
  /// Milliseconds of the complete point with the cost model's choice, and with the fastest
  /// schedule; 0: not measured. The schedules are described as by BenchProgram.
  double choiceMilliseconds = 0, bestMilliseconds = 0;
  std::string choice, best;
  /// Number of candidates that returned wrong results or could not be compiled or run.
  size_t failures = 0;
};

/// Owns the arguments of a function from a program text, and its results by the reference. They are
/// made for the first program and reused for all others.
class SourceData {
public:
  /// Measures `program`, which must have a source, as measureBenchPoint does.
  LogicalResult measure(BenchProgram &program, const RunPlace &place, const BenchMeasure &measure,
                        BenchTimes &times, BenchCheck &check);

private:
  std::vector<::blocksparse::HostTensor> arguments;
  std::vector<ReferenceResult> references;
};

/// Finds the fastest schedules of points, one point after another.
class Tuner {
public:
  Tuner(const TuneOptions &options, RunPlace place, llvm::raw_ostream &os);

  /// Tries all schedules of each op of the point, one op after another; earlier ops already use
  /// their fastest schedules. Prints a line for each trial. Fails and sets `error` if the point
  /// does not compile or the database cannot be written.
  LogicalResult tune(const BenchPoint &point, std::string &error);
  /// Returns true if no further trial may begin.
  bool isDone() const;

  ArrayRef<TuneResult> results() const { return found; }
  /// Prints the cost model's choice, the best schedule and their ratio for each op.
  void printTable() const;

private:
  /// Describes one op of a program and its schedules; the first is the cost model's choice.
  struct TunableOp {
    std::string name, key;
    std::vector<std::string> schedules;
  };
  /// Maps the key of an op to the text of its schedule.
  using Assignment = std::map<std::string, std::string, std::less<>>;

  /// Compiles the point with the schedules of `assignment`. If `ops` is not null, it receives the
  /// ops and their schedules.
  std::unique_ptr<BenchProgram> compile(const BenchPoint &point, const Assignment &assignment,
                                        std::vector<TunableOp> *ops) const;
  /// Compiles the programs of all schedules; null if the search was interrupted before one.
  std::vector<std::unique_ptr<BenchProgram>>
  compileAll(const BenchPoint &point, const TunableOp &op, const Assignment &assignment) const;
  /// Tries one schedule, prints a line, and keeps the schedule if it is the fastest so far.
  LogicalResult tryOnce(const TunableOp &op, size_t index, BenchProgram &program,
                        Assignment &assignment, TuneResult &result, std::string &error);
  /// Tries all schedules, then the first and the fastest again.
  LogicalResult tuneOp(const TunableOp &op, Assignment &assignment, TuneResult &result,
                       std::string &error);
  /// Returns the milliseconds of a trial, or 0; sets `verdict` to the text for its line.
  double tryProgram(BenchProgram &program, std::string &verdict);
  /// Stores a schedule of an op in the database. Fails and sets `error` if the file cannot be
  /// written.
  LogicalResult save(const TunableOp &op, StringRef schedule, double milliseconds, bool complete,
                     std::string &error) const;
  /// Returns the schedule of an op that `resume` skips, or "".
  std::string findComplete(const TunableOp &op) const;

  const TuneOptions &options;
  RunPlace place;
  llvm::raw_ostream &os;
  DialectRegistry registry;
  /// Data of the point that is being tuned.
  SourceData source;
  std::vector<TuneResult> found;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_BENCH_TUNE_H
