// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/GPU/LaunchDescription.h"
#include "HostSteps.h"
#include "ProgramSymbols.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::blocksparse;
namespace json = llvm::json;

static std::string printType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static json::Array describeShape(ArrayRef<int64_t> shape) {
  json::Array extents;
  for (int64_t extent : shape)
    extents.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
  return extents;
}

static json::Object describeParameter(const Parameter &parameter, bool isResult) {
  json::Object object{{"name", parameter.name}, {"result", isResult}};
  if (!parameter.isTensor()) {
    object["kind"] = "number";
    object["element"] = printType(parameter.type);
    return object;
  }
  RankedTensorType tensor = parameter.getTensor();
  object["kind"] = "tensor";
  object["element"] = printType(tensor.getElementType());
  object["shape"] = describeShape(tensor.getShape());
  return object;
}

/// Returns the constants that launches read, by name.
static FailureOr<json::Object> describeTables(ModuleOp module, const llvm::StringSet<> &used) {
  json::Object tables;
  for (auto global : module.getOps<memref::GlobalOp>()) {
    if (!used.contains(global.getName()))
      continue;
    auto value = dyn_cast_or_null<ElementsAttr>(global.getInitialValue().value_or(Attribute()));
    SmallVector<char> bytes;
    if (!global.getConstant() || !value || !copyElementBytes(value, bytes))
      return global.emitOpError("expects a constant of numbers for the description of launches, "
                                "but got a variable");
    MemRefType type = global.getType();
    tables[global.getName()] = json::Object{{"element", printType(type.getElementType())},
                                            {"shape", describeShape(type.getShape())},
                                            {"base64", llvm::encodeBase64(bytes)}};
  }
  return tables;
}

/// Leaves views of buffers as memref.reinterpret_cast alone, and computations as arith alone.
static LogicalResult simplifyHostCode(ModuleOp module) {
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(memref::createExpandStridedMetadataPass());
  functions.addPass(createLowerAffinePass());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  return pm.run(module);
}

FailureOr<std::string>
mlir::blocksparse::describeLaunches(ModuleOp module, ArrayRef<FunctionSignature> signatures,
                                    const ::blocksparse::TargetInfo &target) {
  if (failed(simplifyHostCode(module)))
    return failure();
  json::Array functions;
  json::Object kernels;
  llvm::StringSet<> tables;
  for (const FunctionSignature &signature : signatures) {
    auto function = module.lookupSymbol<func::FuncOp>(signature.name);
    if (!function || signature.onHost)
      continue;
    json::Array parameters;
    SmallVector<std::string> names;
    for (const auto *list : {&signature.arguments, &signature.results})
      for (const Parameter &parameter : *list) {
        parameters.push_back(describeParameter(parameter, list == &signature.results));
        names.push_back(parameter.name);
      }
    FailureOr<json::Array> steps = describeHostSteps(function, names, kernels, tables);
    if (failed(steps))
      return failure();
    functions.push_back(json::Object{{"name", signature.name},
                                     {"parameters", std::move(parameters)},
                                     {"steps", std::move(*steps)}});
  }
  FailureOr<json::Object> constants = describeTables(module, tables);
  if (failed(constants))
    return failure();
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv(
      "{0:2}\n", json::Value(json::Object{{"version", launchDescriptionVersion},
                                          {"target", target.chip()},
                                          {"kernels", std::move(kernels)},
                                          {"tables", std::move(*constants)},
                                          {"functions", std::move(functions)}}));
  return text;
}
