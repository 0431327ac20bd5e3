// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RunReport.h"
#include "../Execution/AttributeTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::HostTensor;
namespace ref = ::blocksparse::ref;

/// Prints one line and returns true if it says FAIL.
static bool report(const Parameter &parameter, StringRef against, const HostTensor &result,
                   const ref::ErrorReport &errors) {
  llvm::raw_ostream &os = llvm::outs();
  os << "  " << parameter.name << ' ' << result.describe() << " against " << against;
  if (!::blocksparse::isFloatType(result.type()))
    os << ": " << errors.failures << " of " << errors.count << " differ";
  else
    os << llvm::format(": max error/bound %.3g", errors.worstRatio);
  if (!errors.ok() && errors.count != 0)
    os << ", " << errors.failures << " of " << errors.count << " above, worst at "
       << ::blocksparse::formatShape(errors.worstIndex)
       << llvm::format(": got %.9g, expected %.9g, bound %.3g", errors.worstResult,
                       errors.worstReference, errors.worstBound);
  os << (errors.ok() ? "  PASS\n" : "  FAIL\n");
  return !errors.ok();
}

namespace {

/// Describes one comparison of a result.
struct Comparison {
  StringRef against;
  HostTensor reference;
};

} // namespace

static FailureOr<SmallVector<Comparison>>
collectComparisons(func::FuncOp function, const FunctionSignature &signature, size_t index,
                   ArrayRef<HostTensor> arguments, const ReferenceResult &reference) {
  const Parameter &parameter = signature.results[index];
  SmallVector<Comparison> comparisons = {{"the reference", reference.tensor}};
  bool isMain =
      parameter.role == Parameter::Role::Dense || parameter.role == Parameter::Role::Values;
  std::string error;
  auto expect = function.getResultAttr(parameter.source, "blocksparse.expect");
  if (isMain && expect) {
    std::optional<HostTensor> tensor = tensorFromAttribute(expect, error);
    if (tensor)
      tensor = tensor->broadcastTo(reference.tensor.shape(), error);
    if (!tensor)
      return function.emitError("blocksparse.expect of '") << parameter.name << "': " << error;
    comparisons.push_back({"the expected numbers", *tensor});
  }
  auto argument =
      function.getResultAttrOfType<IntegerAttr>(parameter.source, "blocksparse.expect_argument");
  if (!isMain || !argument)
    return comparisons;
  for (auto [given, tensor] : llvm::zip_equal(signature.arguments, arguments))
    if (given.source == argument.getInt() &&
        (given.role == Parameter::Role::Dense || given.role == Parameter::Role::Values)) {
      if (!llvm::equal(tensor.shape(), reference.tensor.shape()))
        return function.emitError("blocksparse.expect_argument of '")
               << parameter.name << "': expects an argument of shape "
               << ::blocksparse::formatShape(reference.tensor.shape()) << ", but got "
               << tensor.describe();
      comparisons.push_back({"the argument", tensor});
      return comparisons;
    }
  return function.emitError("blocksparse.expect_argument of '")
         << parameter.name << "': expects the number of a tensor argument, but got "
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

FailureOr<int> mlir::blocksparse::reportComparisons(func::FuncOp function,
                                                    const FunctionSignature &signature,
                                                    ArrayRef<HostTensor> arguments,
                                                    ArrayRef<HostTensor> results,
                                                    ArrayRef<ReferenceResult> references) {
  int failures = 0;
  for (auto [index, parameter] : llvm::enumerate(signature.results)) {
    const ReferenceResult &reference = references[index];
    FailureOr<SmallVector<Comparison>> comparisons =
        collectComparisons(function, signature, index, arguments, reference);
    if (failed(comparisons))
      return failure();
    HostTensor result = withoutUnspecified(results[index], reference);
    for (const Comparison &comparison : *comparisons) {
      std::string error;
      std::optional<ref::ErrorReport> errors = ref::compareToReference(
          result, comparison.reference, reference.scale, reference.model, error);
      if (!errors) {
        llvm::outs() << "  " << parameter.name << ": " << error << "  FAIL\n";
        ++failures;
      } else {
        failures += report(parameter, comparison.against, result, *errors);
      }
    }
  }
  return failures;
}
