// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Interpreter/ReferenceInterpreter.h"
#include "Interpreter.h"
#include "ReferenceOps.h"
#include "blocksparse/Execution/HostProgram.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/IR/UpstreamBsr.h"
#include "blocksparse/Reference/Conversions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::HostTensor;
namespace ref = ::blocksparse::ref;

double mlir::blocksparse::getFactor(const llvm::APFloat &value, Value operand,
                                    ReferenceLookup lookup) {
  return operand ? lookup(operand).tensor.at({}) : value.convertToDouble();
}

ref::ErrorModel mlir::blocksparse::getErrorModel(Type type) {
  return ref::ErrorModel::forOperands(
      *getHostElementType(cast<RankedTensorType>(type).getElementType()));
}

FailureOr<ReferenceValue> mlir::blocksparse::makePattern(Operation *op, Type type,
                                                         const ReferenceValue *like) {
  SparseTensor sparse = *SparseTensor::get(type);
  ReferenceValue value;
  if (like) {
    value.copyPattern(*like);
    return value;
  }
  std::string error;
  LayoutAttrInterface layout = sparse.getLayout();
  const ::blocksparse::BlockLayout *resolved = layout ? layout.resolve() : nullptr;
  if (!resolved)
    return op->emitOpError("expects a pattern that is known, but got ") << type;
  if (ShapedType::isDynamic(sparse.getHeads()))
    return op->emitOpError("expects a static number of heads to be checked, but got ") << type;
  std::optional<ref::Pattern> pattern =
      ref::Pattern::fromLayout(*resolved, sparse.getHeads(), error);
  if (!pattern)
    return op->emitOpError() << error;
  value.pattern = std::make_shared<ref::Pattern>(std::move(*pattern));
  value.rows = sparse.getRows();
  value.cols = sparse.getCols();
  return value;
}

/// Returns a reference result without the leading axes of extent 1 that `shape` lacks, repeated to
/// the static extents of `shape`.
static std::optional<HostTensor> fitShape(const HostTensor &tensor, ArrayRef<int64_t> shape,
                                          std::string &error) {
  HostTensor fitted = tensor;
  while (fitted.rank() > int64_t(shape.size()) && fitted.dim(0) == 1)
    fitted = fitted.select(0, 0);
  SmallVector<int64_t> target(shape);
  if (fitted.rank() == int64_t(shape.size()))
    for (size_t axis = 0; axis < target.size(); ++axis)
      if (ShapedType::isDynamic(target[axis]))
        target[axis] = fitted.dim(axis);
  std::optional<HostTensor> result = fitted.broadcastTo(target, error);
  return result ? std::optional(result->contiguous()) : std::nullopt;
}

FailureOr<ReferenceValue> mlir::blocksparse::makeResult(Operation *op, Type type,
                                                        const HostTensor &tensor,
                                                        std::optional<ref::ErrorScale> scale,
                                                        ref::ErrorModel model,
                                                        const ReferenceValue *like) {
  ReferenceValue value;
  std::optional<SparseTensor> sparse = SparseTensor::get(type);
  RankedTensorType storage = cast<RankedTensorType>(type);
  if (sparse) {
    FailureOr<ReferenceValue> pattern = makePattern(op, type, like);
    if (failed(pattern))
      return failure();
    value = *pattern;
    storage = sparse->getValuesType();
  }
  std::string error;
  std::optional<HostTensor> fitted = fitShape(tensor, storage.getShape(), error);
  if (!fitted)
    return op->emitOpError() << error;
  value.tensor = *fitted;
  value.type = *getHostElementType(storage.getElementType());
  value.model = model;
  if (sparse && !sparse->isStatic())
    value.markUnspecified(/*padding=*/false);
  // Integer results are exact.
  if (!scale || !::blocksparse::isFloatType(value.type))
    return value;
  value.scale = *scale;
  if (scale->magnitude.numElements() != 0) {
    std::optional<HostTensor> magnitude = fitShape(scale->magnitude, storage.getShape(), error);
    if (!magnitude)
      return op->emitOpError() << error;
    value.scale->magnitude = *magnitude;
  } else {
    value.scale->magnitude = mapTensor(value.tensor, [](double) { return 0.0; });
  }
  return value;
}

FailureOr<std::vector<ReferenceValue>>
mlir::blocksparse::evaluateReference(Operation *op, ReferenceLookup lookup) {
  for (auto evaluate : {evaluateProduct, evaluateSoftmax, evaluateConversion})
    if (auto results = evaluate(op, lookup))
      return *results;
  return op->emitOpError("expects an operation that the reference knows, but got ")
         << op->getName();
}

/// Assembles the value of one source argument from its tensors.
static FailureOr<ReferenceValue> makeArgument(func::FuncOp function, ArrayRef<Parameter> parameters,
                                              ArrayRef<HostTensor> tensors) {
  ReferenceValue value;
  value.tensor = tensors.back();
  value.type = value.tensor.type();
  std::optional<SparseTensor> sparse = SparseTensor::get(parameters.front().type);
  if (!sparse)
    return value;
  FailureOr<ReferenceValue> result = value;
  if (sparse->isStatic()) {
    result = makePattern(function, parameters.front().type, nullptr);
  } else {
    std::string error;
    const HostTensor &crow = tensors[0], &col = tensors[1];
    ::blocksparse::BlockGrid grid{sparse->getHeads(), crow.dim(crow.rank() - 1) - 1,
                                  sparse->getBlockCols()};
    if (ShapedType::isDynamic(sparse->getCols()) || ShapedType::isDynamic(grid.heads))
      return function.emitOpError("expects a static number of columns and heads of the argument '")
             << parameters.back().name << "' to be checked, but got " << parameters.back().type;
    auto pattern = ref::Pattern::fromCsr(sparse->getBlock(), grid, crow, col, error);
    if (!pattern)
      return function.emitOpError() << "expects valid indices of the argument '"
                                    << parameters.back().name << "', but got: " << error;
    result->pattern = std::make_shared<ref::Pattern>(std::move(*pattern));
    result->rows = ShapedType::isDynamic(sparse->getRows()) ? grid.rows * sparse->getBlock().rows
                                                            : sparse->getRows();
    result->cols = sparse->getCols();
    result->crowIndices = crow;
    result->colIndices = col;
  }
  if (failed(result))
    return failure();
  result->tensor = value.tensor;
  result->type = value.type;
  // The reference has matrices of sparse_tensor as the dense ones that they stand for.
  if (!getUpstreamBsr(function.getArgument(parameters.front().source).getType()))
    return result;
  std::string error;
  std::optional<HostTensor> dense = ref::toDense(result->getSparse(), error);
  if (!dense)
    return function.emitOpError() << error;
  value.tensor = dense->select(0, 0).select(0, 0).contiguous();
  return value;
}

static FailureOr<std::vector<ReferenceValue>> makeArguments(func::FuncOp function,
                                                            const FunctionSignature &signature,
                                                            ArrayRef<HostTensor> arguments) {
  std::vector<ReferenceValue> values;
  for (size_t i = 0; i < arguments.size();) {
    unsigned source = signature.arguments[i].source;
    size_t count = 1;
    while (i + count < arguments.size() && signature.arguments[i + count].source == source)
      ++count;
    FailureOr<ReferenceValue> value = makeArgument(
        function, ArrayRef(signature.arguments).slice(i, count), arguments.slice(i, count));
    if (failed(value))
      return failure();
    values.push_back(*value);
    i += count;
  }
  return values;
}

static ReferenceResult getPart(const Parameter &parameter, const ReferenceValue &value) {
  if (parameter.role == Parameter::Role::CrowIndices)
    return {*value.crowIndices, {}, {}, {}};
  if (parameter.role == Parameter::Role::ColIndices)
    return {*value.colIndices, {}, {}, {}};
  return {value.tensor, value.scale.value_or(ref::ErrorScale{}), value.model, value.unspecified};
}

FailureOr<std::vector<ReferenceResult>>
mlir::blocksparse::interpretWithReference(func::FuncOp function, const FunctionSignature &signature,
                                          ArrayRef<HostTensor> arguments) {
  FailureOr<std::vector<ReferenceValue>> values = makeArguments(function, signature, arguments);
  if (failed(values))
    return failure();
  FailureOr<std::vector<ReferenceValue>> outputs = Interpreter().run(function, *values);
  if (failed(outputs))
    return failure();
  std::vector<ReferenceResult> results;
  for (const Parameter &parameter : signature.results)
    results.push_back(getPart(parameter, (*outputs)[parameter.source]));
  return results;
}

FailureOr<std::vector<ReferenceResult>> mlir::blocksparse::interpretEachWithReference(
    func::FuncOp function, const FunctionSignature &signature, ArrayRef<HostTensor> arguments,
    ArrayRef<HostTensor> results) {
  FailureOr<std::vector<ReferenceValue>> values = makeArguments(function, signature, arguments);
  if (failed(values))
    return failure();
  Operation *returned = function.getBody().front().getTerminator();
  std::vector<std::optional<ReferenceResult>> references(results.size());
  auto observe = [&](Value value, ReferenceValue &reference) {
    ReferenceValue computed = reference;
    for (auto [index, parameter] : llvm::enumerate(signature.results)) {
      if (returned->getOperand(parameter.source) != value)
        continue;
      references[index] = getPart(parameter, reference);
      if (parameter.role != Parameter::Role::Dense && parameter.role != Parameter::Role::Values)
        continue;
      // Later operations start from the result of the program, which is exact by definition.
      computed.tensor = results[index];
      computed.scale = std::nullopt;
    }
    reference = std::move(computed);
  };
  FailureOr<std::vector<ReferenceValue>> outputs = Interpreter(observe).run(function, *values);
  if (failed(outputs))
    return failure();
  std::vector<ReferenceResult> all;
  for (auto [index, parameter] : llvm::enumerate(signature.results))
    all.push_back(references[index] ? *references[index]
                                    : getPart(parameter, (*outputs)[parameter.source]));
  return all;
}
