// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../Bench/BenchOptions.h"
#include "../Bench/BenchReport.h"
#include "CommandLine.h"
#include "DeviceOptions.h"
#include "blocksparse/Compiler/Output.h"
#include "blocksparse/Compiler/Registration.h"
#include "blocksparse/Drivers/Drivers.h"
#include "blocksparse/Support/Npy.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <iostream>
#include <new>
#include <thread>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::HostTensor;
namespace cl = llvm::cl;
namespace json = llvm::json;

namespace {

cl::OptionCategory category("blocksparse-bench options");

struct BenchOptions {
  BenchPointOptions points{category};
  BenchMeasureOptions measure{category};
  DeviceOptions device{category};
  TuningDatabaseOption tuningDatabase{category};
  cl::opt<bool> compileOnly{"compile-only", cl::desc("Compile, do not run: needs no GPU"),
                            cl::cat(category)};
  NumberOption<unsigned> compileJobs{"compile-jobs", InRange<unsigned>{0, maxThreads},
                                     cl::desc("Points compiled at once; 0: one for each core"),
                                     cl::init(0), cl::cat(category)};
  NumberOption<unsigned> threads{"threads", InRange<unsigned>{0, maxThreads},
                                 cl::desc("Threads on a CPU; 0: OpenMP's default"), cl::init(0),
                                 cl::cat(category)};
  NumberOption<double> seconds{"seconds", InRange<double>{0, 1e9},
                               cl::desc("Begin no point after that time; 0: no limit"), cl::init(0),
                               cl::cat(category)};
  NumberOption<double> roofTflops{"roof-tflops", InRange<double>{0, 1e9},
                                  cl::desc("What rates of products are shares of"), cl::init(0),
                                  cl::cat(category)};
  NumberOption<double> roofGbps{"roof-gbps", InRange<double>{0, 1e9},
                                cl::desc("What rates of softmax are shares of"), cl::init(0),
                                cl::cat(category)};
  cl::opt<std::string> json{"json", cl::desc("Write the results there, after each point"),
                            cl::value_desc("file"), cl::cat(category)};
  cl::opt<std::string> layoutFiles{
      "dump-layouts",
      cl::desc("Write each point's layout there as <number>.npy: row offsets, then columns, i32"),
      cl::value_desc("directory"), cl::cat(category)};
  cl::opt<bool> serve{"serve",
                      cl::desc("Compile all points, then measure those whose numbers come on "
                               "standard input, one line of JSON each on standard output"),
                      cl::cat(category)};
};

using Clock = std::chrono::steady_clock;

/// Measures all points of a command line.
class Bench {
public:
  Bench(const BenchOptions &options, std::vector<BenchPoint> points, RunPlace place)
      : options(options), points(std::move(points)), place(std::move(place)),
        roofs{options.roofTflops, options.roofGbps}, programs(this->points.size()) {}

  void compileAll();
  /// Writes the layouts to files.
  bool dumpLayouts(EmitErrorFn emitError) const;
  /// Measures all points in order; returns true if all passed.
  bool runAll(EmitErrorFn emitError);
  /// Measures the points that standard input requests.
  bool serveAll();

private:
  void compilePoint(size_t index);
  BenchResult runPoint(size_t index);
  bool writeJSON(ArrayRef<BenchResult> results, EmitErrorFn emitError) const;
  std::string describeDevice() const;

  const BenchOptions &options;
  std::vector<BenchPoint> points;
  RunPlace place;
  BenchRoofs roofs;
  DialectRegistry registry;
  std::vector<std::unique_ptr<BenchProgram>> programs;
  Clock::time_point start = Clock::now();
};

} // namespace

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

void Bench::compilePoint(size_t index) {
  CompileOptions compileOptions;
  compileOptions.target = place.target;
  compileOptions.cpu = {"native", "", 3};
  compileOptions.tuningDatabase = options.tuningDatabase;
  programs[index] = BenchProgram::create(points[index], compileOptions, registry,
                                         options.measure.dataSeed, options.compileOnly);
}

void Bench::compileAll() {
  mlir::blocksparse::registerAllDialects(registry);
  size_t jobs = options.compileJobs ? options.compileJobs.getValue()
                                    : std::max(1u, std::thread::hardware_concurrency());
  std::atomic<size_t> next = 0;
  std::vector<std::thread> workers;
  for (size_t i = 0; i < std::min(jobs, points.size()); ++i)
    workers.emplace_back([&] {
      for (size_t index = next++; index < points.size(); index = next++)
        compilePoint(index);
    });
  for (std::thread &worker : workers)
    worker.join();
}

bool Bench::dumpLayouts(EmitErrorFn emitError) const {
  for (auto [index, program] : llvm::enumerate(programs)) {
    std::vector<int32_t> flat;
    llvm::append_range(flat, program->layout().rowOffsets());
    llvm::append_range(flat, program->layout().colIndices());
    SmallString<128> path(options.layoutFiles);
    llvm::sys::path::append(path, llvm::utostr(index) + ".npy");
    std::string error;
    int64_t size = static_cast<int64_t>(flat.size()), stride = 1;
    std::optional<HostTensor> tensor = HostTensor::wrap(
        ::blocksparse::ElementType::i32, flat.data(), {&size, 1}, {&stride, 1}, nullptr, error);
    if (!tensor || !::blocksparse::writeNpy(path.str().str(), *tensor, error)) {
      emitError() << error;
      return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

BenchResult Bench::runPoint(size_t index) {
  BenchProgram &program = *programs[index];
  BenchResult result;
  result.point = program.point();
  result.schedule = program.schedule();
  result.nnz = program.layout().nnz();
  result.density = program.layout().density();
  result.compileMilliseconds = program.compileTime();
  result.linkMilliseconds = program.linkTime();
  result.work = countBenchWork(result.point, result.nnz);
  double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
  if (program.error().empty() && options.seconds > 0 && elapsed > options.seconds)
    return result;
  bool ran = program.error().empty() && !options.compileOnly;
  if (ran && options.threads)
    program.program().getJIT().setThreads(options.threads);
  if (ran)
    runWithinMemory(program, [&] {
      return measureBenchPoint(program, place, options.measure.get(), result.times, result.check);
    });
  if (!program.error().empty()) {
    result.status = BenchResult::Status::Error;
    result.error = program.error();
    // The point may be requested again.
    if (ran)
      program.setError("");
    return result;
  }
  result.status = options.compileOnly ? BenchResult::Status::Compiled
                  : result.check.ok() ? BenchResult::Status::Passed
                                      : BenchResult::Status::Failed;
  return result;
}

std::string Bench::describeDevice() const { return place.device ? place.device->name : "cpu"; }

bool Bench::writeJSON(ArrayRef<BenchResult> results, EmitErrorFn emitError) const {
  json::Array list;
  for (const BenchResult &result : results)
    list.push_back(toJSON(result, roofs));
  json::Object file{{"device", describeDevice()},
                    {"target", place.target.describe()},
                    {"roof_tflops", roofs.operations},
                    {"roof_gbps", roofs.bytes},
                    {"points", std::move(list)}};
  std::string text = llvm::formatv("{0:2}\n", json::Value(std::move(file)));
  return succeeded(writeOutput(options.json, text, emitError));
}

bool Bench::runAll(EmitErrorFn emitError) {
  llvm::outs() << "# " << describeDevice() << ", " << place.target.describe()
               << "; useful work only\n";
  BenchTable table(llvm::outs(), points, roofs);
  table.printHeader();
  std::vector<BenchResult> results;
  bool ok = true;
  for (size_t index = 0; index < points.size(); ++index) {
    BenchResult result = runPoint(index);
    table.print(result);
    if (!result.check.detail.empty())
      llvm::outs() << "    " << result.check.detail << "\n";
    ok &= result.ok() || result.status == BenchResult::Status::Skipped;
    results.push_back(std::move(result));
    programs[index].reset();
    if (!options.json.empty() && !writeJSON(results, emitError))
      return false;
  }
  return ok;
}

bool Bench::serveAll() {
  llvm::outs() << json::Value(json::Object{{"device", describeDevice()},
                                           {"target", place.target.describe()},
                                           {"points", static_cast<int64_t>(points.size())}})
               << "\n";
  llvm::outs().flush();
  bool ok = true;
  for (std::string line; std::getline(std::cin, line);) {
    size_t index;
    if (StringRef(line).trim().getAsInteger(10, index) || index >= points.size()) {
      llvm::errs() << "error: expects the number of a point below " << points.size()
                   << ", but got '" << line << "'\n";
      return false;
    }
    BenchResult result = runPoint(index);
    ok &= result.ok() || result.status == BenchResult::Status::Skipped;
    llvm::outs() << json::Value(toJSON(result, roofs)) << "\n";
    llvm::outs().flush();
  }
  return ok;
}

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

int mlir::blocksparse::benchMain(int argc, char **argv) {
  CommandLineTool tool(argc, argv);
  // Too little memory must be an error, as in runMain.
  std::set_new_handler(nullptr);
  BenchOptions options;
  tool.parseOptions(category, "Measures block-sparse operations.\n");
  return tool.run([&](llvm::SourceMgr &, MLIRContext &context) -> LogicalResult {
    auto emitError = [&] { return mlir::emitError(UnknownLoc::get(&context)); };
    std::string error;
    std::optional<std::vector<BenchPoint>> points = options.points.get(error);
    if (!points)
      return emitError() << error;
    FailureOr<RunPlace> place =
        getBenchPlace(options.measure.target, options.compileOnly, emitError, options.device.device,
                      options.device.simulator());
    if (failed(place) || failed(checkOutput(options.json, emitError)) ||
        failed(checkOutput(options.device.simReport, emitError)) ||
        (!options.layoutFiles.empty() &&
         failed(makeOutputDirectory(options.layoutFiles, "0.npy", emitError))))
      return failure();
    Bench bench(options, std::move(*points), std::move(*place));
    bench.compileAll();
    if (!options.layoutFiles.empty() && !bench.dumpLayouts(emitError))
      return failure();
    return success(options.serve ? bench.serveAll() : bench.runAll(emitError));
  });
}
