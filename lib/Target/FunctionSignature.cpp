// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/FunctionSignature.h"
#include "blocksparse/IR/SparseTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// Makes C identifiers that are no keywords and differ from each other.
class NameSet {
public:
  std::string unique(StringRef wanted) {
    std::string base;
    for (char c : wanted)
      base += llvm::isAlnum(c) ? c : '_';
    if (base.empty() || llvm::isDigit(base.front()))
      base = "arg" + base;
    if (isKeyword(base))
      base += '_';
    std::string name = base;
    for (unsigned count = 2; !used.insert(name).second; ++count)
      name = base + "_" + llvm::utostr(count);
    return name;
  }

private:
  static bool isKeyword(StringRef name) {
    static const llvm::StringSet<> words = {
        "auto",    "break",  "case",    "char",   "class",    "const",    "continue", "default",
        "delete",  "do",     "double",  "else",   "enum",     "export",   "extern",   "false",
        "float",   "for",    "goto",    "if",     "inline",   "int",      "long",     "namespace",
        "new",     "this",   "private", "public", "operator", "register", "restrict", "return",
        "short",   "signed", "sizeof",  "static", "struct",   "switch",   "template", "true",
        "typedef", "union",  "using",   "void",   "unsigned", "virtual",  "volatile", "while",
        "friend",  "bool",   "catch",   "throw",  "try",      "typename", "and",      "or",
        "not",     "xor"};
    return words.contains(name);
  }

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

/// Appends what the tensor becomes; gives false for a type that can't be passed.
static bool appendTensor(Type type, unsigned source, StringRef name, NameSet &names,
                         SmallVectorImpl<Parameter> &parameters) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !isSupportedElement(tensor.getElementType()) || tensor.getRank() > 5)
    return false;
  std::optional<SparseTensor> sparse = SparseTensor::get(type);
  if (sparse ? tensor.getElementType().isInteger(1) : bool(tensor.getEncoding()))
    return false;
  if (!sparse) {
    Type storage = tensor;
    if (tensor.getElementType().isInteger(1))
      storage = tensor.clone(IntegerType::get(type.getContext(), 8));
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

FailureOr<FunctionSignature> FunctionSignature::get(func::FuncOp function,
                                                    ArrayRef<std::string> argumentNames) {
  FunctionSignature signature;
  signature.name = function.getName().str();
  NameSet names;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    std::string name = index < argumentNames.size() ? argumentNames[index] : "";
    if (name.empty())
      name = "arg" + llvm::utostr(index);
    if (isSupportedNumber(type))
      signature.arguments.push_back(
          {names.unique(name), Parameter::Role::Number, unsigned(index), type, type});
    else if (!appendTensor(type, index, name, names, signature.arguments))
      return function.emitError("expects arguments that are tensors of rank 0 to 5 or numbers, "
                                "but got ")
             << type << " as argument " << index << " of '" << signature.name << "'";
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

std::optional<FunctionSignature> FunctionSignature::getSizeFunction() const {
  int64_t count = 0;
  for (const Parameter &result : results)
    count += result.getTensor().getNumDynamicDims();
  if (count == 0)
    return std::nullopt;
  FunctionSignature sizes;
  sizes.name = name + "_result_sizes";
  sizes.arguments = arguments;
  MLIRContext *context = results.front().type.getContext();
  auto type = RankedTensorType::get({count}, IntegerType::get(context, 64));
  sizes.results.push_back({"sizes", Parameter::Role::Dense, 0, type, type});
  return sizes;
}
