// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tune.h"

#include "KernelRevision.inc"
#include "blocksparse/Compiler/Registration.h"
#include "blocksparse/IR/ScheduleText.h"
#include "blocksparse/Support/Version.h"
#include "blocksparse/Transforms/Schedule.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <ctime>
#include <thread>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::TargetInfo;

/// Identifies this version in the database, because kernels of another version may have another
/// speed.
static const std::string toolName =
    std::string("blocksparse ") + ::blocksparse::getVersion() + "+" BLOCKSPARSE_KERNEL_REVISION;

static std::string getToday() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[16];
  return std::string(text, std::strftime(text, sizeof(text), "%Y-%m-%d", &parts));
}

Tuner::Tuner(const TuneOptions &options, RunPlace place, llvm::raw_ostream &os)
    : options(options), place(std::move(place)), os(os) {
  mlir::blocksparse::registerAllDialects(registry);
}

bool Tuner::isDone() const {
  double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return (options.isInterrupted && options.isInterrupted()) ||
         (options.seconds > 0 && elapsed > options.seconds);
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

std::unique_ptr<BenchProgram> Tuner::compile(const BenchPoint &point, const Assignment &assignment,
                                             std::vector<TunableOp> *ops) const {
  CompileOptions compileOptions;
  compileOptions.target = place.target;
  compileOptions.cpu = {"native", "", 3};
  compileOptions.chooseSchedule = [&](Operation *op, const TargetInfo &target) -> ScheduleAttr {
    std::string key = getTuningKey(op, target);
    bool known =
        ops && llvm::any_of(*ops, [&](const TunableOp &other) { return other.key == key; });
    if (ops && !known) {
      TunableOp &tunable = ops->emplace_back();
      tunable.name = op->getName().stripDialect();
      tunable.key = key;
      for (ScheduleAttr schedule : enumerateSchedules(op, target))
        llvm::raw_string_ostream(tunable.schedules.emplace_back()) << schedule;
    }
    auto assigned = assignment.find(key);
    if (assigned == assignment.end())
      return {};
    std::string fault;
    return parseSchedule(assigned->second, op->getContext(), fault);
  };
  return BenchProgram::create(point, compileOptions, registry, options.measure.dataSeed,
                              ops || options.compileOnly);
}

std::vector<std::unique_ptr<BenchProgram>> Tuner::compileAll(const BenchPoint &point,
                                                             const TunableOp &op,
                                                             const Assignment &assignment) const {
  std::vector<std::unique_ptr<BenchProgram>> programs(op.schedules.size());
  size_t jobs =
      options.compileJobs ? options.compileJobs : std::max(1u, std::thread::hardware_concurrency());
  std::atomic<size_t> next = 0;
  std::vector<std::thread> workers;
  for (size_t i = 0; i < std::min(jobs, programs.size()); ++i)
    workers.emplace_back([&] {
      for (size_t index = next++; index < programs.size() && !isDone(); index = next++) {
        Assignment mine = assignment;
        mine[op.key] = op.schedules[index];
        programs[index] = compile(point, mine, nullptr);
      }
    });
  for (std::thread &worker : workers)
    worker.join();
  return programs;
}

//===----------------------------------------------------------------------===//
// Trials
//===----------------------------------------------------------------------===//

double Tuner::tryProgram(BenchProgram &program, std::string &verdict) {
  BenchTimes times;
  BenchCheck check;
  if (program.error().empty() && options.compileOnly) {
    verdict = "compiled";
    return 0;
  }
  if (program.error().empty())
    runWithinMemory(program, [&] {
      return program.source() ? source.measure(program, place, options.measure, times, check)
                              : measureBenchPoint(program, place, options.measure, times, check);
    });
  if (!program.error().empty()) {
    verdict = "ERROR: " + program.error();
    return 0;
  }
  llvm::raw_string_ostream(verdict) << llvm::format("%.4g ms ", times.median) << check.describe();
  return check.ok() ? times.median : 0;
}

LogicalResult Tuner::save(const TunableOp &op, StringRef schedule, double milliseconds,
                          bool complete, std::string &error) const {
  if (options.database.empty())
    return success();
  TuningDatabase database;
  database.insert(op.key, {schedule.str(), milliseconds, toolName, getToday(), complete});
  return success(database.mergeInto(options.database, error));
}

LogicalResult Tuner::tryOnce(const TunableOp &op, size_t index, BenchProgram &program,
                             Assignment &assignment, TuneResult &result, std::string &error) {
  std::string verdict;
  double time = tryProgram(program, verdict);
  os << "[" << index + 1 << "/" << op.schedules.size() << "] " << program.schedule() << ": "
     << verdict << "\n";
  os.flush();
  if (options.afterTrial)
    options.afterTrial();
  auto isFaster = [&](double than) { return time > 0 && (than == 0 || time < than); };
  if (index == 0) {
    result.choice = program.schedule();
    if (isFaster(result.choiceMilliseconds))
      result.choiceMilliseconds = time;
  }
  result.failures += time == 0 && !options.compileOnly;
  if (!isFaster(result.bestMilliseconds))
    return success();
  result.best = program.schedule();
  result.bestMilliseconds = time;
  assignment[op.key] = op.schedules[index];
  return save(op, op.schedules[index], time, /*complete=*/false, error);
}

std::string Tuner::findComplete(const TunableOp &op) const {
  std::string error;
  std::optional<TuningDatabase> database;
  if (options.resume)
    database = TuningDatabase::load(options.database, error);
  const TuningEntry *entry = database ? database->lookup(op.key) : nullptr;
  return entry && entry->complete && entry->tool == toolName ? entry->schedule : "";
}

LogicalResult Tuner::tuneOp(const TunableOp &op, Assignment &assignment, TuneResult &result,
                            std::string &error) {
  std::vector<std::unique_ptr<BenchProgram>> programs = compileAll(result.point, op, assignment);
  size_t fastest = 0;
  for (auto [index, program] : llvm::enumerate(programs)) {
    if (!program || isDone())
      return success();
    double before = result.bestMilliseconds;
    if (failed(tryOnce(op, index, *program, assignment, result, error)))
      return failure();
    ++result.tried;
    if (result.bestMilliseconds != before) {
      std::swap(fastest, index);
      // Only the cost model's choice and the fastest schedule are called again.
      if (index != 0)
        programs[index].reset();
    } else if (index != 0) {
      program.reset();
    }
  }
  // The first trial may have run at a low clock rate, and the fastest of many trials may have been
  // lucky, so both are measured again.
  for (size_t index : {size_t(0), fastest})
    if (fastest != 0 && !isDone() && programs[index]->error().empty() &&
        failed(tryOnce(op, index, *programs[index], assignment, result, error)))
      return failure();
  if (result.bestMilliseconds == 0)
    return success();
  return save(op, assignment[op.key], result.bestMilliseconds, /*complete=*/true, error);
}

LogicalResult Tuner::tune(const BenchPoint &point, std::string &error) {
  std::vector<TunableOp> ops;
  std::unique_ptr<BenchProgram> program = compile(point, {}, &ops);
  error = program->error();
  if (error.empty() && ops.empty() && !point.schedule.empty())
    error = "expects a point without a schedule, but got " + point.schedule;
  if (!error.empty())
    return failure();
  if (ops.empty())
    os << "# @" << point.function << ": no operation without a schedule\n";
  source = SourceData();
  Assignment assignment;
  for (const TunableOp &op : ops) {
    if (isDone())
      break;
    os << "# " << op.key << "\n";
    if (std::string known = findComplete(op); !known.empty()) {
      os << "known: " << known << "\n";
      assignment[op.key] = known;
      continue;
    }
    TuneResult &result = found.emplace_back();
    result.point = point;
    result.op = op.name;
    result.key = op.key;
    result.candidates = op.schedules.size();
    if (failed(tuneOp(op, assignment, result, error)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

void Tuner::printTable() const {
  auto number = [](double value) {
    std::string text = "-";
    if (value > 0)
      llvm::raw_string_ostream(text = "") << llvm::format("%.4g", value);
    return text;
  };
  SmallVector<SmallVector<std::string>> rows{{"op", "shape", "block", "density", "layout", "type",
                                              "choice", "ms", "best", "ms", "choice/best",
                                              "tried"}};
  for (const TuneResult &result : found) {
    const BenchPoint &point = result.point;
    double ratio =
        result.bestMilliseconds > 0 ? result.choiceMilliseconds / result.bestMilliseconds : 0;
    bool text = !point.sourceText.empty(), sparse = !text && point.hasLayout();
    rows.push_back({result.op, text ? "@" + point.function : point.formatShape(),
                    sparse ? point.formatBlock() : "-", sparse ? number(point.density) : "-",
                    sparse ? point.layout : "-",
                    text ? "-" : std::string(::blocksparse::elementName(point.type)), result.choice,
                    number(result.choiceMilliseconds), result.best, number(result.bestMilliseconds),
                    number(ratio),
                    std::to_string(result.tried) + "/" + std::to_string(result.candidates)});
  }
  SmallVector<size_t> widths(rows.front().size(), 1);
  for (const auto &row : rows)
    for (auto [width, cell] : llvm::zip_equal(widths, row))
      width = std::max(width, cell.size());
  for (const auto &row : rows) {
    for (auto [width, cell] : llvm::zip_equal(widths, row))
      os << llvm::left_justify(cell.empty() ? "-" : cell, width) << "  ";
    os << "\n";
  }
  os.flush();
}
