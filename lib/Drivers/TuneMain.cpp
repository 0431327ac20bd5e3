// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../Bench/BenchOptions.h"
#include "../Bench/Tune.h"
#include "CommandLine.h"
#include "blocksparse/Compiler/Program.h"
#include "blocksparse/Drivers/Drivers.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <csignal>
#include <new>

using namespace mlir;
using namespace mlir::blocksparse;
namespace cl = llvm::cl;

namespace {

cl::OptionCategory category("blocksparse-tune options");

struct TuneArguments {
  cl::opt<std::string> input{cl::Positional,
                             cl::desc("[<input.mlir>, instead of the options of points]"),
                             cl::cat(category)};
  BenchPointOptions points{category};
  BenchMeasureOptions measure{category};
  TuningDatabaseOption database{category};
  cl::opt<bool> resume{"resume",
                       cl::desc("Pass over operations that the database has the best of all for"),
                       cl::cat(category)};
  cl::opt<bool> compileOnly{"compile-only",
                            cl::desc("Compile the candidates, do not run: needs no GPU"),
                            cl::cat(category)};
  NumberOption<unsigned> compileJobs{"compile-jobs", InRange<unsigned>{0, maxThreads},
                                     cl::desc("Candidates compiled at once; 0: one for each core"),
                                     cl::init(0), cl::cat(category)};
  NumberOption<double> seconds{"seconds", InRange<double>{0, 1e9},
                               cl::desc("Begin no trial after that time; 0: no limit"), cl::init(0),
                               cl::cat(category)};
  NumberOption<int64_t> interruptAfter{"interrupt-after",
                                       InRange<int64_t>{0, INT64_MAX},
                                       cl::desc("For tests: raise SIGINT after so many trials"),
                                       cl::Hidden,
                                       cl::init(0),
                                       cl::cat(category)};
};

std::atomic<bool> interrupted = false;

} // namespace

/// Installs signal handlers: after the first signal the trial in progress completes, and the second
/// signal ends the process.
static void handleInterrupts() {
  struct sigaction action{};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (int signal : {SIGINT, SIGTERM})
    sigaction(signal, &action, nullptr);
}

static TuneOptions getTuneOptions(const TuneArguments &arguments) {
  TuneOptions options;
  options.database = arguments.database;
  options.resume = arguments.resume;
  options.seconds = arguments.seconds;
  options.compileOnly = arguments.compileOnly;
  options.compileJobs = arguments.compileJobs;
  options.measure = arguments.measure.get();
  options.isInterrupted = [] { return interrupted.load(); };
  if (int64_t count = arguments.interruptAfter; count > 0)
    options.afterTrial = [count]() mutable {
      if (--count == 0)
        std::raise(SIGINT);
    };
  return options;
}

/// Returns the public functions of a file as points.
static FailureOr<std::vector<BenchPoint>> readFunctions(StringRef path, llvm::SourceMgr &sourceMgr,
                                                        MLIRContext &context) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return emitError(UnknownLoc::get(&context))
           << "expects to read '" << path << "', but got: " << buffer.getError().message();
  std::string text = (*buffer)->getBuffer().str();
  FailureOr<Program> program = parseProgram(std::move(*buffer), sourceMgr, context);
  if (failed(program))
    return failure();
  std::vector<BenchPoint> points;
  for (const FunctionSignature &signature : program->signatures) {
    BenchPoint &point = points.emplace_back();
    point.sourceText = text;
    point.function = signature.name;
  }
  return points;
}

/// Tunes all points, or as many as the time limit allows.
static LogicalResult tuneAll(Tuner &tuner, ArrayRef<BenchPoint> points, EmitErrorFn emitError) {
  for (const BenchPoint &point : points) {
    if (tuner.isDone())
      break;
    if (std::string error; failed(tuner.tune(point, error)))
      return emitError() << error;
  }
  return success();
}

int mlir::blocksparse::tuneMain(int argc, char **argv) {
  CommandLineTool tool(argc, argv);
  // Too little memory must be an error, as in runMain.
  std::set_new_handler(nullptr);
  TuneArguments arguments;
  tool.parseOptions(category, "Measures the schedules of block-sparse operations and keeps the "
                              "fastest in a tuning database.\n");
  int status = tool.run([&](llvm::SourceMgr &sourceMgr, MLIRContext &context) -> LogicalResult {
    auto emitError = [&] { return mlir::emitError(UnknownLoc::get(&context)); };
    std::string error;
    FailureOr<std::vector<BenchPoint>> points;
    if (!arguments.input.empty())
      points = readFunctions(arguments.input, sourceMgr, context);
    else if (std::optional<std::vector<BenchPoint>> read = arguments.points.get(error))
      points = std::move(*read);
    else
      return emitError() << error;
    if (failed(points))
      return failure();
    TuneOptions options = getTuneOptions(arguments);
    // Check the database before any work, so that a file of another kind, or a directory that
    // cannot be written to, is reported at once.
    if (llvm::sys::fs::exists(options.database) && !TuningDatabase::load(options.database, error))
      return emitError() << error;
    if (!options.database.empty() && !options.compileOnly &&
        !TuningDatabase::checkPlace(options.database, error))
      return emitError() << error;
    FailureOr<RunPlace> place =
        getBenchPlace(arguments.measure.target, arguments.compileOnly, emitError);
    if (failed(place))
      return failure();
    handleInterrupts();
    Tuner tuner(options, std::move(*place), llvm::outs());
    LogicalResult tuned = tuneAll(tuner, *points, emitError);
    tuner.printTable();
    bool wrong =
        llvm::any_of(tuner.results(), [](const TuneResult &result) { return result.failures > 0; });
    return success(succeeded(tuned) && !wrong);
  });
  if (!interrupted)
    return status;
  llvm::errs() << "interrupted: what was measured is kept\n";
  return 128 + SIGINT;
}
