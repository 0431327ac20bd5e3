// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BenchMeasure.h"
#include "blocksparse/Execution/NativeTarget.h"
#include "blocksparse/Support/MemoryErrors.h"

#include <cstring>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::HostTensor;

static void damageResults(ArrayRef<HostTensor> results, BenchDamage damage) {
  const HostTensor &tensor = results.front();
  int64_t bytes = countBytes(tensor);
  if (bytes == 0)
    return;
  auto *data = static_cast<char *>(tensor.data());
  int64_t size = ::blocksparse::elementSize(tensor.type());
  if (damage == BenchDamage::Values)
    tensor.fill(1);
  else if (damage == BenchDamage::NaN)
    std::memset(data + bytes - size, 0xff, size);
  else if (damage == BenchDamage::Repeat)
    data[bytes / 2] ^= 1;
}

static bool equalBits(ArrayRef<HostTensor> a, ArrayRef<HostTensor> b) {
  return llvm::all_of(llvm::zip_equal(a, b), [](auto pair) {
    auto &[first, second] = pair;
    return std::memcmp(first.data(), second.data(), countBytes(first)) == 0;
  });
}

LogicalResult mlir::blocksparse::measureBenchCalls(BenchProgram &program, const RunPlace &place,
                                                   const BenchMeasure &measure,
                                                   ArrayRef<HostTensor> arguments,
                                                   CheckResultsFn checkResults, BenchTimes &times,
                                                   BenchCheck &check) {
  FailureOr<std::vector<HostTensor>> results =
      allocateResults(program.program(), program.signature(), arguments, program.emitErrorFn());
  if (failed(results))
    return failure();
  for (const HostTensor &tensor : *results)
    poisonTensor(tensor);
  FailureOr<std::unique_ptr<BenchCalls>> calls =
      BenchCalls::create(program, place, arguments, *results, measure.settings);
  if (failed(calls) || failed((*calls)->first(times)))
    return failure();
  std::vector<HostTensor> first;
  for (const HostTensor &tensor : (*calls)->results())
    first.push_back(tensor.clone());
  if (measure.damage == BenchDamage::Values || measure.damage == BenchDamage::NaN)
    damageResults(first, measure.damage);
  check = checkResults(first);
  if (failed((*calls)->measure(measure.settings, times)) || failed((*calls)->download()))
    return failure();
  if (measure.damage == BenchDamage::Repeat)
    damageResults((*calls)->lastResults(), measure.damage);
  check.repeatable =
      equalBits(first, (*calls)->results()) && equalBits(first, (*calls)->lastResults());
  return success();
}

LogicalResult mlir::blocksparse::measureBenchPoint(BenchProgram &program, const RunPlace &place,
                                                   const BenchMeasure &measure, BenchTimes &times,
                                                   BenchCheck &check) {
  const BenchPoint &point = program.point();
  std::string error;
  std::optional<BenchTensors> operands =
      makeBenchTensors(point, program.layout(), measure.dataSeed, error);
  if (!operands)
    return program.emitErrorFn()() << error;
  std::vector<HostTensor> arguments;
  for (const Parameter &parameter : program.signature().arguments)
    arguments.push_back(operands->find(parameter.name)->second);
  auto checkResults = [&](ArrayRef<HostTensor> results) {
    return checkBenchResult(point, program.layout(), *operands, results, measure.checks,
                            measure.dataSeed);
  };
  return measureBenchCalls(program, place, measure, arguments, checkResults, times, check);
}

void mlir::blocksparse::runWithinMemory(BenchProgram &program,
                                        llvm::function_ref<LogicalResult()> measure) {
  LogicalResult result = failure();
  if (std::string error; !::blocksparse::catchMemoryErrors([&] { result = measure(); }, error))
    program.setError(error);
  if (failed(result) && program.error().empty())
    program.setError("the run failed without a reason");
}

FailureOr<RunPlace> mlir::blocksparse::getBenchPlace(StringRef target, bool compileOnly,
                                                     EmitErrorFn emitError, StringRef device,
                                                     const SimulatorOptions &simulator) {
  if (compileOnly && device == "auto" && !simulator.seed && !simulator.report &&
      target != "native") {
    FailureOr<::blocksparse::Target> parsed = parseTarget(target, emitError);
    if (failed(parsed))
      return failure();
    RunPlace place;
    place.target = *parsed;
    return place;
  }
  if (target == "cpu" && device == "auto")
    return RunPlace::get("cpu", "", emitError, simulator);
  return RunPlace::get(device, target == "native" ? StringRef() : target, emitError, simulator);
}
