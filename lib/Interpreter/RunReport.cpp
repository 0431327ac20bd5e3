// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RunReport.h"
#include "../Execution/AttributeTensor.h"
#include "ReferenceValue.h"
#include "blocksparse/IR/DialectAttributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::HostTensor;
namespace ref = ::blocksparse::ref;

RunVerdicts &RunVerdicts::operator+=(const RunVerdicts &other) {
  failures += other.failures;
  inconclusive += other.inconclusive;
  comparisons += other.comparisons;
  return *this;
}

StringRef RunVerdicts::describe() const {
  return failures ? "FAIL" : inconclusive ? "INCONCLUSIVE" : "PASS";
}

bool mlir::blocksparse::hasExpectations(func::FuncOp function) {
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    if (function.getResultAttr(index, expectAttr) ||
        function.getResultAttr(index, expectArgumentAttr))
      return true;
  return false;
}

FailureOr<std::vector<ReferenceResult>>
mlir::blocksparse::interpretForExpectations(func::FuncOp function,
                                            const FunctionSignature &signature,
                                            ArrayRef<HostTensor> arguments, bool isChecked) {
  if (isChecked && !findUnknownOperation(function))
    return interpretWithReference(function, signature, arguments);
  std::string reason;
  FailureOr<std::vector<ReferenceResult>> references;
  {
    ScopedDiagnosticHandler handler(function.getContext(), [&](Diagnostic &diagnostic) {
      if (reason.empty())
        reason = diagnostic.str();
      return success();
    });
    references = interpretWithReference(function, signature, arguments);
  }
  if (succeeded(references))
    return references;
  function.emitRemark("only expected numbers are compared, within the bound of one operation, "
                      "because the reference cannot evaluate the function: ")
      << reason;
  return std::vector<ReferenceResult>();
}

/// Prints one line about a comparison and returns its verdict.
static RunVerdicts report(const Parameter &parameter, StringRef against, const HostTensor &result,
                          const ref::ErrorReport &errors) {
  llvm::raw_ostream &os = llvm::outs();
  os << "  " << parameter.name << ' ' << result.describe() << " against " << against;
  if (!::blocksparse::isFloatType(result.type()))
    os << ": " << errors.failures << " of " << errors.count << " differ";
  else
    os << llvm::format(": max error/bound %.3g", errors.worstRatio);
  if (errors.nanMatches)
    os << ", " << errors.nanMatches << " NaN in both";
  if (!errors.ok() && errors.count != 0)
    os << ", " << errors.failures << " of " << errors.count << " above, worst at "
       << ::blocksparse::formatShape(errors.worstIndex)
       << llvm::format(": got %.9g, expected %.9g, bound %.3g", errors.worstResult,
                       errors.worstReference, errors.worstBound);
  if (errors.voids)
    os << ", the bound of " << errors.voids << " of " << errors.count
       << llvm::format(" exceeds the range of the result, %.3g, and compares nothing",
                       errors.range);
  RunVerdicts verdict{!errors.ok(), errors.inconclusive(), 1};
  os << "  " << verdict.describe() << "\n";
  return verdict;
}

namespace {

/// Describes one comparison of a result.
struct Comparison {
  StringRef against;
  HostTensor reference;
};

} // namespace

/// Returns the comparisons of a result with the numbers of its attributes.
static FailureOr<SmallVector<Comparison>> collectExpectations(func::FuncOp function,
                                                              const FunctionSignature &signature,
                                                              const Parameter &parameter,
                                                              ArrayRef<HostTensor> arguments,
                                                              const HostTensor &result) {
  SmallVector<Comparison> comparisons;
  if (parameter.role != Parameter::Role::Dense && parameter.role != Parameter::Role::Values)
    return comparisons;
  std::string error;
  if (Attribute expect = function.getResultAttr(parameter.source, expectAttr)) {
    std::optional<HostTensor> tensor = tensorFromAttribute(expect, error);
    if (tensor)
      tensor = tensor->broadcastTo(result.shape(), error);
    if (!tensor)
      return function.emitError() << expectAttr << " of '" << parameter.name << "': " << error;
    comparisons.push_back({"the expected numbers", *tensor});
  }
  auto argument = function.getResultAttrOfType<IntegerAttr>(parameter.source, expectArgumentAttr);
  if (!argument)
    return comparisons;
  for (auto [given, tensor] : llvm::zip_equal(signature.arguments, arguments))
    if (given.source == argument.getInt() &&
        (given.role == Parameter::Role::Dense || given.role == Parameter::Role::Values)) {
      if (!llvm::equal(tensor.shape(), result.shape()))
        return function.emitError()
               << expectArgumentAttr << " of '" << parameter.name
               << "': expects an argument of shape " << ::blocksparse::formatShape(result.shape())
               << ", but got " << tensor.describe();
      comparisons.push_back({"the argument", tensor});
      return comparisons;
    }
  return function.emitError() << expectArgumentAttr << " of '" << parameter.name
                              << "': expects the number of a tensor argument, but got "
                              << argument.getInt();
}

HostTensor mlir::blocksparse::withoutUnspecified(const HostTensor &result,
                                                 const ReferenceResult &reference) {
  if (!reference.unspecified)
    return result;
  HostTensor compared = result.clone();
  ::blocksparse::forEachIndex(result.shape(), [&](std::span<const int64_t> index) {
    if (reference.unspecified->at(index) != 0)
      compared.set(index, reference.tensor.at(index));
  });
  return compared;
}

/// Compares a result with `comparison`. Without a reference the bound is that of one operation.
static RunVerdicts compare(const Parameter &parameter, const HostTensor &result,
                           const Comparison &comparison, const ReferenceResult *reference) {
  ref::ErrorScale scale;
  ref::ErrorModel model = ref::ErrorModel::forOperands(result.type());
  if (reference) {
    scale = reference->scale;
    model = reference->model;
  } else {
    scale.magnitude = mapTensor(comparison.reference, [](double x) { return std::fabs(x); });
  }
  std::string error;
  std::optional<ref::ErrorReport> errors =
      ref::compareToReference(result, comparison.reference, scale, model, error);
  if (errors)
    return report(parameter, comparison.against, result, *errors);
  llvm::outs() << "  " << parameter.name << ": " << error << "  FAIL\n";
  return {1, 0, 1};
}

FailureOr<RunVerdicts>
mlir::blocksparse::reportComparisons(func::FuncOp function, const FunctionSignature &signature,
                                     ArrayRef<HostTensor> arguments, ArrayRef<HostTensor> results,
                                     ArrayRef<ReferenceResult> references, bool isChecked) {
  RunVerdicts verdicts;
  for (auto [index, parameter] : llvm::enumerate(signature.results)) {
    const ReferenceResult *reference = references.empty() ? nullptr : &references[index];
    FailureOr<SmallVector<Comparison>> comparisons =
        collectExpectations(function, signature, parameter, arguments, results[index]);
    if (failed(comparisons))
      return failure();
    if (isChecked && reference)
      comparisons->insert(comparisons->begin(), {"the reference", reference->tensor});
    HostTensor result = reference ? withoutUnspecified(results[index], *reference) : results[index];
    for (const Comparison &comparison : *comparisons)
      verdicts += compare(parameter, result, comparison, reference);
    if (!comparisons->empty())
      continue;
    llvm::outs() << "  " << parameter.name << ' ' << result.describe();
    if (isChecked) {
      llvm::outs() << " is compared with nothing  INCONCLUSIVE";
      ++verdicts.inconclusive;
    }
    llvm::outs() << "\n";
  }
  return verdicts;
}
