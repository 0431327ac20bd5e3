// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/FunctionSignature.h"
#include "blocksparse/IR/DialectAttributes.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/IR/UpstreamBsr.h"
#include "blocksparse/Target/Identifiers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// Makes C identifiers that are no reserved words and differ from each other.
class NameSet {
public:
  std::string unique(StringRef wanted) {
    std::string name = makeUnique(makeIdentifier(wanted, "arg"),
                                  [&](StringRef candidate) { return !used.contains(candidate); });
    used.insert(name);
    return name;
  }

private:
  llvm::StringSet<> used;
};

} // namespace

static bool isSupportedElement(Type type) {
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type, Float8E4M3FNType, Float8E5M2Type>(
             type) ||
         type.isInteger(1) || type.isInteger(8) || type.isInteger(32) || type.isInteger(64);
}

static bool isSupportedNumber(Type type) {
  return type.isIndex() || type.isInteger(1) || type.isInteger(8) || type.isInteger(32) ||
         type.isInteger(64) || type.isF32() || type.isF64();
}

static constexpr int64_t maxRank = 5;

/// Returns the type of the elements in memory: a byte for i1.
static Type getStoredElement(Type element) {
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8) : element;
}

/// Returns the name of an argument; "arg" and its index where it has none.
static std::string getName(ArrayRef<std::string> names, size_t index) {
  std::string name = index < names.size() ? names[index] : "";
  return name.empty() ? "arg" + llvm::utostr(index) : name;
}

/// Appends what the tensor becomes; gives false for a type that can't be passed.
static bool appendTensor(Type type, unsigned source, StringRef name, NameSet &names,
                         SmallVectorImpl<Parameter> &parameters) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !isSupportedElement(tensor.getElementType()) || tensor.getRank() > maxRank)
    return false;
  std::optional<SparseTensor> sparse = SparseTensor::get(type);
  if (sparse ? tensor.getElementType().isInteger(1) : bool(tensor.getEncoding()))
    return false;
  if (!sparse) {
    Type storage = tensor.clone(getStoredElement(tensor.getElementType()));
    parameters.push_back({names.unique(name), Parameter::Role::Dense, source, type, storage});
    return true;
  }
  if (!sparse->isStatic()) {
    parameters.push_back({names.unique((name + "_crow_indices").str()),
                          Parameter::Role::CrowIndices, source, type, sparse->getCrowType()});
    parameters.push_back({names.unique((name + "_col_indices").str()), Parameter::Role::ColIndices,
                          source, type, sparse->getColType()});
  }
  parameters.push_back(
      {names.unique(name), Parameter::Role::Values, source, type, sparse->getValuesType()});
  return true;
}

/// Appends a buffer; gives false for a type that can't be passed.
static bool appendBuffer(Type type, unsigned source, StringRef name, NameSet &names,
                         SmallVectorImpl<Parameter> &parameters) {
  auto buffer = dyn_cast<MemRefType>(type);
  if (!buffer || !isSupportedElement(buffer.getElementType()) || buffer.getRank() > maxRank ||
      buffer.getMemorySpace() || !buffer.isStrided())
    return false;
  parameters.push_back(
      {names.unique(name), Parameter::Role::Buffer, source, type,
       RankedTensorType::get(buffer.getShape(), getStoredElement(buffer.getElementType()))});
  return true;
}

/// Returns what to write in place of a tensor that upstream's sparse_tensor dialect encodes, in
/// brackets; empty for any other type.
static StringRef getAlternative(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  Attribute encoding = tensor ? tensor.getEncoding() : Attribute();
  if (!encoding || encoding.getDialect().getNamespace() != "sparse_tensor")
    return "";
  return " (of sparse_tensor, matrices in the BSR format are taken; pass the parts of another "
         "one, and assemble a block-sparse tensor of them)";
}

/// Appends the arguments of a function: numbers, and what `append` takes, which the error calls
/// `kinds`.
static LogicalResult appendArguments(func::FuncOp function, ArrayRef<std::string> argumentNames,
                                     decltype(appendTensor) append, StringRef kinds, NameSet &names,
                                     FunctionSignature &signature) {
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    std::string name = getName(argumentNames, index);
    if (isSupportedNumber(type))
      signature.arguments.push_back(
          {names.unique(name), Parameter::Role::Number, unsigned(index), type, type});
    else if (!append(replaceUpstreamBsr(type), index, name, names, signature.arguments))
      return function.emitError("expects arguments that are ")
             << kinds << " of rank 0 to 5 or numbers, but got " << type << " as argument " << index
             << " of '" << signature.name << "'" << getAlternative(type);
  }
  return success();
}

FailureOr<FunctionSignature>
FunctionSignature::get(func::FuncOp function, ArrayRef<std::string> argumentNames, bool onBuffers) {
  FunctionSignature signature;
  signature.name = signature.sourceName = function.getName().str();
  signature.onHost = function->hasAttr(hostFunctionAttr);
  NameSet names;
  if (failed(appendArguments(function, argumentNames, onBuffers ? appendBuffer : appendTensor,
                             onBuffers ? "strided buffers" : "tensors", names, signature)))
    return failure();
  if (onBuffers) {
    if (function.getNumResults() == 0)
      return signature;
    return function.emitError("expects results that are buffers among the arguments, but got ")
           << function.getNumResults() << " results of '" << signature.name << "'";
  }
  bool single = function.getNumResults() == 1;
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    std::string name = single ? "result" : "result" + llvm::utostr(index);
    if (!appendTensor(type, index, name, names, signature.results))
      return function.emitError("expects results that are tensors of rank 0 to 5, but got ")
             << type << " as result " << index << " of '" << signature.name << "'"
             << (isSupportedNumber(type) ? " (a number is returned as a tensor of rank 0)" : "");
  }
  return signature;
}

std::string mlir::blocksparse::getSizeFunctionName(StringRef name) {
  return (name + "_result_sizes").str();
}

std::string mlir::blocksparse::getStreamFunctionName(StringRef name) {
  return (name + "_on_stream").str();
}

std::optional<FunctionSignature> FunctionSignature::getSizeFunction() const {
  int64_t count = 0;
  for (const Parameter &result : results)
    count += result.getTensor().getNumDynamicDims();
  if (count == 0)
    return std::nullopt;
  FunctionSignature sizes;
  sizes.name = sizes.sourceName = getSizeFunctionName(name);
  sizes.onHost = true;
  sizes.arguments = arguments;
  MLIRContext *context = results.front().type.getContext();
  auto type = RankedTensorType::get({count}, IntegerType::get(context, 64));
  sizes.results.push_back({"sizes", Parameter::Role::Dense, 0, type, type});
  return sizes;
}

std::string FunctionSignature::getStreamParameter() const {
  return makeUnique("stream", [&](StringRef candidate) {
    auto hasName = [&](const Parameter &parameter) { return parameter.name == candidate; };
    return llvm::none_of(arguments, hasName) && llvm::none_of(results, hasName);
  });
}
