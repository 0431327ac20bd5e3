// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BenchLayout.h"
#include "BenchReport.h"
#include "CommandLine.h"
#include "blocksparse/Compiler/Drivers.h"
#include "blocksparse/Compiler/Registration.h"
#include "blocksparse/Support/Npy.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
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

enum class Damage { None, Values, NaN, Repeat };

struct BenchOptions {
  cl::opt<std::string> points{
      "points", cl::desc("A JSON list of points; the options of points are then not looked at"),
      cl::value_desc("file"), cl::cat(category)};
  cl::list<std::string> ops{
      "op", cl::desc("dsd, dds, sdd, matmul, bsr_addmm, softmax, softmax_grad, attention"),
      cl::value_desc("op,..."), cl::CommaSeparated, cl::cat(category)};
  cl::list<std::string> sizes{"size", cl::desc("M = N = K, or each"), cl::value_desc("n|MxNxK,..."),
                              cl::CommaSeparated, cl::cat(category)};
  cl::list<std::string> blocks{"block", cl::desc("Block shapes"), cl::value_desc("b|BMxBN,..."),
                               cl::CommaSeparated, cl::cat(category)};
  cl::list<double> densities{"density", cl::desc("Shares of stored blocks"),
                             cl::value_desc("d,..."), cl::CommaSeparated, cl::cat(category)};
  // No commas: a pattern has its own.
  cl::list<std::string> layouts{
      "layout", cl::desc("Layout families or patterns; may be repeated: " + benchLayoutFamilies()),
      cl::value_desc("layout"), cl::cat(category)};
  cl::list<std::string> types{"type", cl::desc("f16, bf16, f32, f64"), cl::value_desc("type,..."),
                              cl::CommaSeparated, cl::cat(category)};
  cl::opt<int64_t> heads{"heads", cl::desc("Leading dimension of all operands"), cl::init(1),
                         cl::cat(category)};
  cl::opt<std::string> schedule{"schedule", cl::desc("Instead of the compiler's choice"),
                                cl::value_desc("#blocksparse.schedule<...>"), cl::cat(category)};
  cl::opt<bool> packed{"packed-constant",
                       cl::desc("Values of the sparse factor are constants of the program"),
                       cl::cat(category)};
  cl::opt<bool> transposeA{"transpose-a", cl::desc("a is stored transposed"), cl::cat(category)};
  cl::opt<bool> transposeB{"transpose-b", cl::desc("b is stored transposed"), cl::cat(category)};
  cl::opt<bool> causal{"causal", cl::desc("Of softmax and attention"), cl::cat(category)};
  cl::opt<std::string> epilogue{"epilogue", cl::desc("bias, bias_relu, bias_gelu_tanh, ..."),
                                cl::cat(category)};
  cl::opt<std::string> precision{"precision", cl::desc("ieee, tf32 or tf32x3"), cl::init("ieee"),
                                 cl::cat(category)};
  cl::opt<int64_t> seed{"seed", cl::desc("Seed of layouts"), cl::init(1), cl::cat(category)};
  cl::opt<uint64_t> dataSeed{"data-seed", cl::desc("Seed of operands"), cl::init(0),
                             cl::cat(category)};

  cl::opt<std::string> target{
      "target", cl::desc("native (a GPU where there is one), cpu, cuda:sm_90a, cuda:sm_80"),
      cl::init("native"), cl::cat(category)};
  cl::opt<bool> compileOnly{"compile-only", cl::desc("Compile, do not run: needs no GPU"),
                            cl::cat(category)};
  cl::opt<unsigned> compileJobs{"compile-jobs",
                                cl::desc("Points compiled at once; 0: one for each core"),
                                cl::init(0), cl::cat(category)};
  cl::opt<int64_t> samples{"samples", cl::desc("Times that the median is taken of"), cl::init(10),
                           cl::cat(category)};
  cl::opt<double> sampleTime{"sample-ms", cl::desc("Milliseconds of calls in each"), cl::init(10),
                             cl::cat(category)};
  cl::opt<int64_t> checks{"checks", cl::desc("Parts of a result that are compared"), cl::init(64),
                          cl::cat(category)};
  cl::opt<double> rotate{"rotate-mb",
                         cl::desc("Bytes of the sets of operands that take turns; 0: one set"),
                         cl::init(128), cl::cat(category)};
  cl::opt<double> memory{"memory-mb", cl::desc("Most bytes of all sets"), cl::init(16384),
                         cl::cat(category)};
  cl::opt<unsigned> threads{"threads", cl::desc("Threads on a CPU; 0: OpenMP's default"),
                            cl::init(0), cl::cat(category)};
  cl::opt<double> seconds{"seconds", cl::desc("Begin no point after that time; 0: no limit"),
                          cl::init(0), cl::cat(category)};
  cl::opt<double> roofTflops{"roof-tflops", cl::desc("What rates of products are shares of"),
                             cl::init(0), cl::cat(category)};
  cl::opt<double> roofGbps{"roof-gbps", cl::desc("What rates of softmax are shares of"),
                           cl::init(0), cl::cat(category)};
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
  cl::opt<Damage> damage{
      "damage",
      cl::desc("For tests: damage results before they are checked"),
      cl::Hidden,
      cl::init(Damage::None),
      cl::values(clEnumValN(Damage::Values, "values", "all are 1"),
                 clEnumValN(Damage::NaN, "nan", "the last element is not a number"),
                 clEnumValN(Damage::Repeat, "repeat", "the last call gives another bit")),
      cl::cat(category)};
};

using Clock = std::chrono::steady_clock;

/// All points of a command line.
class Bench {
public:
  Bench(const BenchOptions &options, std::vector<BenchPoint> points, RunPlace place)
      : options(options), points(std::move(points)), place(std::move(place)),
        roofs{options.roofTflops, options.roofGbps}, programs(this->points.size()) {
    settings.samples = options.samples;
    settings.sampleMilliseconds = options.sampleTime;
    settings.rotateBytes = options.rotate * (1 << 20);
    settings.memoryBytes = options.memory * (1 << 20);
  }

  void compileAll();
  /// Writes the layouts to files.
  bool dumpLayouts(EmitErrorFn emitError) const;
  /// Measures all points in order; gives whether all passed.
  bool runAll();
  /// Measures what standard input asks for.
  bool serveAll();

private:
  void compilePoint(size_t index);
  BenchResult runPoint(size_t index);
  LogicalResult measurePoint(BenchProgram &program, BenchResult &result);
  bool writeJSON(ArrayRef<BenchResult> results) const;
  std::string describeDevice() const;

  const BenchOptions &options;
  std::vector<BenchPoint> points;
  RunPlace place;
  BenchRoofs roofs;
  BenchSettings settings;
  DialectRegistry registry;
  std::vector<std::unique_ptr<BenchProgram>> programs;
  Clock::time_point start = Clock::now();
};

} // namespace

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

/// The product of the options' lists, through the reader of JSON, which knows what is right.
static std::optional<std::vector<BenchPoint>> expandOptions(const BenchOptions &options,
                                                            std::string &error) {
  auto orDefault = [](const auto &list, auto value) {
    std::vector<decltype(value)> values(list.begin(), list.end());
    if (values.empty())
      values.push_back(value);
    return values;
  };
  std::vector<BenchPoint> points;
  llvm::StringSet<> seen;
  for (const auto &op : orDefault(options.ops, std::string("dsd")))
    for (const auto &type : orDefault(options.types, std::string("f16")))
      for (const auto &size : orDefault(options.sizes, std::string("4096")))
        for (const auto &layout : orDefault(options.layouts, std::string("random_balanced")))
          for (const auto &block : orDefault(options.blocks, std::string("64")))
            for (double density : orDefault(options.densities, 0.25)) {
              json::Object object{{"op", op},
                                  {"size", size},
                                  {"type", type},
                                  {"layout", layout},
                                  {"block", block},
                                  {"density", density},
                                  {"heads", options.heads.getValue()},
                                  {"seed", options.seed.getValue()},
                                  {"schedule", options.schedule.getValue()},
                                  {"packed_constant", options.packed.getValue()},
                                  {"transpose_a", options.transposeA.getValue()},
                                  {"transpose_b", options.transposeB.getValue()},
                                  {"causal", options.causal.getValue()},
                                  {"epilogue", options.epilogue.getValue()},
                                  {"precision", options.precision.getValue()}};
              std::optional<BenchPoint> point = parseBenchPoint(std::move(object), error);
              if (!point)
                return std::nullopt;
              // matmul has no layout: the same point for each.
              std::string text = llvm::formatv("{0}", json::Value(point->toJSON()));
              if (seen.insert(text).second)
                points.push_back(*point);
            }
  return points;
}

static std::optional<std::vector<BenchPoint>> getPoints(const BenchOptions &options,
                                                        std::string &error) {
  if (options.points.empty())
    return expandOptions(options, error);
  auto buffer = llvm::MemoryBuffer::getFile(options.points.getValue());
  if (!buffer) {
    error = "expects a file of points, but got '" + options.points.getValue() +
            "': " + buffer.getError().message();
    return std::nullopt;
  }
  return parseBenchPoints((*buffer)->getBuffer(), error);
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

void Bench::compilePoint(size_t index) {
  CompileOptions compileOptions;
  compileOptions.target = place.target;
  compileOptions.cpu = {"native", "", 3};
  programs[index] = BenchProgram::create(points[index], compileOptions, registry, options.dataSeed,
                                         options.compileOnly);
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
  if (std::error_code code = llvm::sys::fs::create_directories(options.layoutFiles)) {
    emitError() << "expects to make the directory '" << options.layoutFiles
                << "', but got: " << code.message();
    return false;
  }
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

static void damageResults(ArrayRef<HostTensor> results, Damage damage) {
  const HostTensor &tensor = results.front();
  int64_t bytes = countBytes(tensor);
  if (bytes == 0)
    return;
  auto *data = static_cast<char *>(tensor.data());
  int64_t size = ::blocksparse::elementSize(tensor.type());
  if (damage == Damage::Values)
    tensor.fill(1);
  else if (damage == Damage::NaN)
    std::memset(data + bytes - size, 0xff, size);
  else if (damage == Damage::Repeat)
    data[bytes / 2] ^= 1;
}

static bool equalBits(ArrayRef<HostTensor> a, ArrayRef<HostTensor> b) {
  return llvm::all_of(llvm::zip_equal(a, b), [](auto pair) {
    auto &[first, second] = pair;
    return std::memcmp(first.data(), second.data(), countBytes(first)) == 0;
  });
}

LogicalResult Bench::measurePoint(BenchProgram &program, BenchResult &result) {
  const BenchPoint &point = program.point();
  std::string error;
  std::optional<BenchTensors> operands =
      makeBenchTensors(point, program.layout(), options.dataSeed, error);
  if (!operands)
    return program.emitErrorFn()() << error;
  std::vector<HostTensor> arguments;
  for (const Parameter &parameter : program.signature().arguments)
    arguments.push_back(operands->find(parameter.name)->second);
  FailureOr<std::vector<HostTensor>> results =
      allocateResults(program.program(), program.signature(), arguments, program.emitErrorFn());
  if (failed(results))
    return failure();
  for (const HostTensor &tensor : *results)
    poisonTensor(tensor);
  FailureOr<std::unique_ptr<BenchCalls>> calls =
      BenchCalls::create(program, place, arguments, *results, settings);
  if (failed(calls) || failed((*calls)->first(result.times)))
    return failure();
  std::vector<HostTensor> first;
  for (const HostTensor &tensor : (*calls)->results())
    first.push_back(tensor.clone());
  if (options.damage == Damage::Values || options.damage == Damage::NaN)
    damageResults(first, options.damage);
  result.check = checkBenchResult(point, program.layout(), *operands, first.front(), options.checks,
                                  options.dataSeed);
  if (failed((*calls)->measure(settings, result.times)) || failed((*calls)->download()))
    return failure();
  if (options.damage == Damage::Repeat)
    damageResults((*calls)->lastResults(), options.damage);
  result.check.repeatable =
      equalBits(first, (*calls)->results()) && equalBits(first, (*calls)->lastResults());
  return success();
}

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
  if (ran && failed(measurePoint(program, result)) && program.error().empty())
    program.setError("the run failed without a reason");
  if (!program.error().empty()) {
    result.status = BenchResult::Status::Error;
    result.error = program.error();
    // It may be asked for again.
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

bool Bench::writeJSON(ArrayRef<BenchResult> results) const {
  json::Array list;
  for (const BenchResult &result : results)
    list.push_back(toJSON(result, roofs));
  json::Object file{{"device", describeDevice()},
                    {"target", place.target},
                    {"roof_tflops", roofs.operations},
                    {"roof_gbps", roofs.bytes},
                    {"points", std::move(list)}};
  std::error_code code;
  llvm::raw_fd_ostream os(options.json, code);
  if (!code)
    os << llvm::formatv("{0:2}", json::Value(std::move(file))) << "\n";
  os.flush();
  if (!code && !os.has_error())
    return true;
  llvm::errs() << "error: expects to write '" << options.json
               << "', but got: " << (code ? code : os.error()).message() << "\n";
  os.clear_error();
  return false;
}

bool Bench::runAll() {
  llvm::outs() << "# " << describeDevice() << ", " << place.target << "; useful work only\n";
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
    if (!options.json.empty() && !writeJSON(results))
      return false;
  }
  return ok;
}

bool Bench::serveAll() {
  llvm::outs() << json::Value(json::Object{{"device", describeDevice()},
                                           {"target", place.target},
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

/// Where to compile for and to run.
static FailureOr<RunPlace> getPlace(const BenchOptions &options, EmitErrorFn emitError) {
  StringRef target = options.target;
  if (options.compileOnly && target != "native") {
    RunPlace place;
    place.target = target.str();
    return place;
  }
  if (target == "cpu")
    return RunPlace::get("cpu", "", emitError);
  return RunPlace::get("auto", target == "native" ? StringRef() : target, emitError);
}

int mlir::blocksparse::benchMain(int argc, char **argv) {
  CommandLineTool tool(argc, argv);
  // As in runMain: too little memory is an error.
  std::set_new_handler(nullptr);
  BenchOptions options;
  tool.parseOptions(category, "Measures block-sparse operations.\n");
  return tool.run([&](llvm::SourceMgr &, MLIRContext &context) -> LogicalResult {
    auto emitError = [&] { return mlir::emitError(UnknownLoc::get(&context)); };
    std::string error;
    std::optional<std::vector<BenchPoint>> points = getPoints(options, error);
    if (!points)
      return emitError() << error;
    FailureOr<RunPlace> place = getPlace(options, emitError);
    if (failed(place))
      return failure();
    Bench bench(options, std::move(*points), std::move(*place));
    bench.compileAll();
    if (!options.layoutFiles.empty() && !bench.dumpLayouts(emitError))
      return failure();
    return success(options.serve ? bench.serveAll() : bench.runAll());
  });
}
