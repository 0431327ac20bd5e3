// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Execution/HostProgram.h"
#include "HostMemory.h"
#include "blocksparse-c/Runtime.h"
#include "blocksparse/Target/ArtifactSlot.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::ElementType;
using ::blocksparse::HostTensor;

std::optional<ElementType> mlir::blocksparse::getHostElementType(Type type) {
  if (type.isIndex())
    return ElementType::i64;
  if (type.isInteger(1))
    return ElementType::i8;
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return ::blocksparse::parseElementType(text);
}

/// Returns the words of a memref descriptor, all of whose members are 64 bits wide.
static std::vector<int64_t> makeDescriptor(const HostTensor &tensor) {
  auto address = reinterpret_cast<int64_t>(tensor.data());
  int64_t base = address - tensor.offset() * ::blocksparse::elementSize(tensor.type());
  std::vector<int64_t> words = {base, base, tensor.offset()};
  words.insert(words.end(), tensor.shape().begin(), tensor.shape().end());
  words.insert(words.end(), tensor.strides().begin(), tensor.strides().end());
  return words;
}

HostCall::HostCall(PackedFunction function, const FunctionSignature &signature,
                   ArrayRef<HostTensor> arguments, ArrayRef<HostTensor> results)
    : function(function), tensors(arguments.begin(), arguments.end()) {
  tensors.insert(tensors.end(), results.begin(), results.end());
  for (const HostTensor &tensor : tensors)
    descriptors.push_back(makeDescriptor(tensor));
  for (std::vector<int64_t> &descriptor : descriptors)
    pointers.push_back(descriptor.data());
  for (size_t i = 0; i < tensors.size(); ++i) {
    bool number = i < arguments.size() && !signature.arguments[i].isTensor();
    addresses.push_back(number ? tensors[i].data() : static_cast<void *>(&pointers[i]));
  }
}

ArrayRef<JITSymbol> mlir::blocksparse::getRuntimeSymbols() {
  static const JITSymbol symbols[] = {
      {"blocksparseRtRefuse", reinterpret_cast<void *>(&blocksparseRtRefuse)},
      {"blocksparseRtCallBegin", reinterpret_cast<void *>(&blocksparseRtCallBegin)},
      {"blocksparseRtCallRefuse", reinterpret_cast<void *>(&blocksparseRtCallRefuse)},
      {"blocksparseRtCallRecord", reinterpret_cast<void *>(&blocksparseRtCallRecord)},
      {"blocksparseRtCallLut", reinterpret_cast<void *>(&blocksparseRtCallLut)},
      {"blocksparseRtCallAlloc", reinterpret_cast<void *>(&blocksparseRtCallAlloc)},
      {"blocksparseRtCallFree", reinterpret_cast<void *>(&blocksparseRtCallFree)},
      {"blocksparseRtCallLaunch", reinterpret_cast<void *>(&blocksparseRtCallLaunch)},
      {"blocksparseRtCallTensorMap", reinterpret_cast<void *>(&blocksparseRtCallTensorMap)},
      {"blocksparseRtCallEnd", reinterpret_cast<void *>(&blocksparseRtCallEnd)},
      {"blocksparseRtArtifactCloseSlot", reinterpret_cast<void *>(&blocksparseRtArtifactCloseSlot)},
      {"blocksparseRtCallSelect", reinterpret_cast<void *>(&blocksparseRtCallSelect)},
      {"blocksparseRtGetStream", reinterpret_cast<void *>(&blocksparseRtGetStream)},
      {"blocksparseRtSetStream", reinterpret_cast<void *>(&blocksparseRtSetStream)},
  };
  return symbols;
}

void HostProgram::CloseArtifact::operator()(void **slot) const {
  // Nobody is left to be told of a failure: a call that failed has told its own.
  blocksparseRtArtifactClose(static_cast<blocksparseRtArtifact>(*slot));
}

HostProgram::HostProgram(JIT jit) : jit(std::move(jit)) {
  artifactSlot.reset(static_cast<void **>(this->jit.findSymbol(artifactSlotSymbol)));
}

FailureOr<HostProgram> HostProgram::create(ModuleOp module, const CompileOptions &options) {
  FailureOr<Code> code = compileToCode(module, options, EntryPoints::InMemory);
  if (failed(code))
    return failure();
  FailureOr<JIT> jit =
      JIT::create(std::move(*code), [&] { return module.emitError(); }, getRuntimeSymbols());
  if (failed(jit))
    return failure();
  return HostProgram(std::move(*jit));
}

FailureOr<HostProgram> HostProgram::load(StringRef object, EmitErrorFn emitError) {
  FailureOr<JIT> jit = JIT::create(object, emitError, getRuntimeSymbols());
  if (failed(jit))
    return failure();
  return HostProgram(std::move(*jit));
}

LogicalResult mlir::blocksparse::checkStatus(int32_t status, EmitErrorFn emitError) {
  if (status == BLOCKSPARSE_RT_SUCCESS)
    return success();
  return emitError() << "expects the call to succeed, but got " << blocksparseRtStatusName(status)
                     << ": " << blocksparseRtLastError();
}

static LogicalResult checkTensors(ArrayRef<Parameter> parameters, ArrayRef<HostTensor> tensors,
                                  EmitErrorFn emitError) {
  if (parameters.size() != tensors.size())
    return emitError() << "expects " << parameters.size() << " tensors, but got " << tensors.size();
  for (auto [parameter, tensor] : llvm::zip_equal(parameters, tensors)) {
    Type element = parameter.isTensor() ? parameter.getTensor().getElementType() : parameter.type;
    ArrayRef<int64_t> shape =
        parameter.isTensor() ? parameter.getTensor().getShape() : ArrayRef<int64_t>();
    bool fits =
        getHostElementType(element) == tensor.type() && int64_t(shape.size()) == tensor.rank();
    for (size_t axis = 0; fits && axis < shape.size(); ++axis)
      fits = ShapedType::isDynamic(shape[axis]) || shape[axis] == tensor.dim(axis);
    if (!fits)
      return emitError() << "expects '" << parameter.name << "' to be " << parameter.storage
                         << ", but got " << tensor.describe();
  }
  return success();
}

FailureOr<HostCall> HostProgram::prepare(const FunctionSignature &signature,
                                         ArrayRef<HostTensor> arguments,
                                         ArrayRef<HostTensor> results, EmitErrorFn emitError) {
  FailureOr<PackedFunction> function = jit.lookup(signature.name, emitError);
  if (failed(function) || failed(checkTensors(signature.arguments, arguments, emitError)) ||
      failed(checkTensors(signature.results, results, emitError)))
    return failure();
  return HostCall(*function, signature, arguments, results);
}

/// Calls the program's size function; returns no sizes if all results are static.
static FailureOr<std::vector<int64_t>> computeSizes(HostProgram &program,
                                                    const FunctionSignature &signature,
                                                    ArrayRef<HostTensor> arguments,
                                                    EmitErrorFn emitError) {
  std::vector<int64_t> sizes;
  std::optional<FunctionSignature> sizeFunction = signature.getSizeFunction();
  if (!sizeFunction)
    return sizes;
  std::string error;
  const Parameter &result = sizeFunction->results.front();
  std::optional<HostTensor> buffer =
      HostTensor::allocate(ElementType::i64, result.getTensor().getShape(), error);
  if (!buffer)
    return emitError() << error;
  FailureOr<HostCall> call = program.prepare(*sizeFunction, arguments, {*buffer}, emitError);
  if (failed(call))
    return failure();
  if (failed(checkStatus((*call)(), emitError)))
    return failure();
  for (int64_t i = 0; i < buffer->dim(0); ++i)
    sizes.push_back(buffer->intAt({i}));
  return sizes;
}

FailureOr<std::vector<HostTensor>>
mlir::blocksparse::allocateResults(HostProgram &program, const FunctionSignature &signature,
                                   ArrayRef<HostTensor> arguments, EmitErrorFn emitError) {
  if (failed(checkTensors(signature.arguments, arguments, emitError)))
    return failure();
  FailureOr<std::vector<int64_t>> sizes = computeSizes(program, signature, arguments, emitError);
  if (failed(sizes))
    return failure();
  std::vector<HostTensor> results;
  auto next = sizes->begin();
  for (const Parameter &parameter : signature.results) {
    SmallVector<int64_t> shape(parameter.getTensor().getShape());
    for (int64_t &extent : shape)
      if (ShapedType::isDynamic(extent))
        extent = *next++;
    std::string error;
    std::optional<HostTensor> tensor =
        allocateTensor(*getHostElementType(parameter.getTensor().getElementType()), shape, error);
    if (!tensor)
      return emitError() << error << " for the result '" << parameter.name << "'";
    results.push_back(*tensor);
  }
  return results;
}
