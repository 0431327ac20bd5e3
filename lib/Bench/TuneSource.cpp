// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../Interpreter/RunReport.h"
#include "Tune.h"
#include "blocksparse/Execution/HostArguments.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::HostTensor;
namespace ref = ::blocksparse::ref;

/// Compares all elements of all results with the reference.
static BenchCheck compareAll(ArrayRef<HostTensor> results, ArrayRef<ReferenceResult> references) {
  BenchCheck check;
  for (auto [result, reference] : llvm::zip_equal(results, references)) {
    std::optional<ref::ErrorReport> errors =
        ref::compareToReference(withoutUnspecified(result, reference), reference.tensor,
                                reference.scale, reference.model, check.error);
    if (!errors)
      return check;
    ++check.samples;
    check.elements += errors->count;
    check.failures += errors->ok() ? errors->voids : errors->failures;
    check.worstRatio = std::max(check.worstRatio, errors->worstRatio);
    if ((!errors->ok() || errors->inconclusive()) && check.detail.empty())
      check.detail = errors->describe();
  }
  return check;
}

LogicalResult SourceData::measure(BenchProgram &program, const RunPlace &place,
                                  const BenchMeasure &measure, BenchTimes &times,
                                  BenchCheck &check) {
  func::FuncOp function = program.source();
  if (references.empty()) {
    ArgumentOptions options;
    options.seed = measure.dataSeed;
    FailureOr<std::vector<HostTensor>> made = makeArguments(function, program.signature(), options);
    if (failed(made))
      return failure();
    FailureOr<std::vector<ReferenceResult>> computed =
        interpretWithReference(function, program.signature(), *made);
    if (failed(computed))
      return failure();
    arguments = std::move(*made);
    references = std::move(*computed);
  }
  auto checkResults = [&](ArrayRef<HostTensor> results) { return compareAll(results, references); };
  return measureBenchCalls(program, place, measure, arguments, checkResults, times, check);
}
