// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Functions.h"

#include <algorithm>
#include <dlfcn.h>

using namespace blocksparse::torch_operators;
using torch::stable::Tensor;

namespace {

/// Returns torch's number of an element type.
std::optional<int32_t> getDtype(const std::string &element) {
  static const std::unordered_map<std::string, int32_t> dtypes = {
      {"f16", aoti_torch_dtype_float16()},
      {"bf16", aoti_torch_dtype_bfloat16()},
      {"f32", aoti_torch_dtype_float32()},
      {"f64", aoti_torch_dtype_float64()},
      {"i8", aoti_torch_dtype_int8()},
      {"i32", aoti_torch_dtype_int32()},
      {"i64", aoti_torch_dtype_int64()},
      {"i1", aoti_torch_dtype_bool()},
      {"f8E4M3FN", aoti_torch_dtype_float8_e4m3fn()},
      {"f8E5M2", aoti_torch_dtype_float8_e5m2()}};
  auto found = dtypes.find(element);
  if (found == dtypes.end())
    return std::nullopt;
  return found->second;
}

/// Gives the stream on which torch puts its work for a device, and returns whether that worked.
/// The function that knows it is in a library that a torch without CUDA lacks, and whose symbols
/// are not global.
bool getStream(int32_t device, void *&stream) {
  using GetStream = AOTITorchError (*)(int32_t, void **);
  static const GetStream get = [] {
    void *library = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
    void *found = library ? dlsym(library, "aoti_torch_get_current_cuda_stream") : nullptr;
    return reinterpret_cast<GetStream>(found);
  }();
  return get && get(device, &stream) == TORCH_SUCCESS;
}

/// Appends the descriptor of a tensor as compiled code reads it: twice the address, the offset 0,
/// the sizes and the strides.
void appendDescriptor(std::vector<int64_t> &words, const Tensor &tensor) {
  int64_t rank = tensor.dim();
  int64_t *sizes = nullptr, *strides = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_sizes(tensor.get(), &sizes));
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_strides(tensor.get(), &strides));
  int64_t address = reinterpret_cast<int64_t>(tensor.data_ptr());
  words.insert(words.end(), {address, address, 0});
  words.insert(words.end(), sizes, sizes + rank);
  words.insert(words.end(), strides, strides + rank);
}

int64_t getDescriptorLength(size_t rank) { return static_cast<int64_t>(3 + 2 * rank); }

/// Returns a new contiguous tensor.
Tensor makeTensor(const TensorType &type, const std::vector<int64_t> &shape, bool isCuda,
                  int32_t device) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= std::max<int64_t>(shape[axis], 1);
  }
  AtenTensorHandle handle = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(
      static_cast<int64_t>(shape.size()), shape.data(), strides.data(), type.dtype,
      isCuda ? aoti_torch_device_type_cuda() : aoti_torch_device_type_cpu(), isCuda ? device : 0,
      &handle));
  return Tensor(handle);
}

} // namespace

std::optional<Function> Function::create(const BlocksparseTorchFunction &description) {
  Function function;
  function.entry = description.entry;
  function.sizeEntry = description.sizeEntry;
  function.device = description.device;
  for (int32_t i = 0; i < description.numArguments + description.numResults; ++i) {
    const BlocksparseTorchTensor &tensor = description.tensors[i];
    std::optional<int32_t> dtype = getDtype(tensor.element);
    if (!dtype)
      return std::nullopt;
    auto &types = i < description.numArguments ? function.arguments : function.results;
    types.push_back({*dtype, {tensor.shape, tensor.shape + tensor.rank}});
  }
  return function;
}

bool Function::accepts(const Tensors &tensors) const {
  if (tensors.size() != arguments.size())
    return false;
  int32_t deviceType = device < 0 ? aoti_torch_device_type_cpu() : aoti_torch_device_type_cuda();
  for (size_t i = 0; i < tensors.size(); ++i) {
    AtenTensorHandle tensor = tensors[i].get();
    const auto &[dtype, shape] = arguments[i];
    int32_t number = 0;
    int64_t rank = 0;
    int64_t *sizes = nullptr;
    if (aoti_torch_get_dtype(tensor, &number) || number != dtype ||
        aoti_torch_get_device_type(tensor, &number) || number != deviceType)
      return false;
    if (device >= 0 && (aoti_torch_get_device_index(tensor, &number) || number != device))
      return false;
    if (aoti_torch_get_dim(tensor, &rank) || rank != static_cast<int64_t>(shape.size()) ||
        aoti_torch_get_sizes(tensor, &sizes))
      return false;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] >= 0 && shape[axis] != sizes[axis])
        return false;
  }
  return true;
}

std::optional<Tensors> Function::call(const Tensors &tensors) const {
  void *stream = nullptr;
  if (device >= 0 && !getStream(device, stream))
    return std::nullopt;
  // Room for all words is reserved, so that their addresses stay.
  int64_t length = 0, openSizes = 0;
  for (const auto *types : {&arguments, &results})
    for (const TensorType &type : *types)
      length += getDescriptorLength(type.shape.size());
  for (const TensorType &type : results)
    openSizes +=
        std::count_if(type.shape.begin(), type.shape.end(), [](int64_t size) { return size < 0; });
  std::vector<int64_t> words;
  words.reserve(static_cast<size_t>(length));
  std::vector<int64_t *> descriptors;
  auto append = [&](const Tensor &tensor) {
    descriptors.push_back(words.data() + words.size());
    appendDescriptor(words, tensor);
  };
  descriptors.reserve(arguments.size() + results.size() + 1);
  for (const Tensor &tensor : tensors)
    append(tensor);
  auto invoke = [&](BlocksparseTorchEntry code, bool onStream) {
    std::vector<void *> addresses(descriptors.size() + 1);
    for (size_t i = 0; i < descriptors.size(); ++i)
      addresses[i] = &descriptors[i];
    if (onStream)
      addresses[descriptors.size()] = &stream;
    return code(addresses.data()) == 0;
  };
  std::vector<int64_t> sizes(static_cast<size_t>(openSizes));
  if (openSizes > 0) {
    int64_t address = reinterpret_cast<int64_t>(sizes.data());
    int64_t descriptor[] = {address, address, 0, openSizes, 1};
    descriptors.push_back(descriptor);
    if (!sizeEntry || !invoke(sizeEntry, false))
      return std::nullopt;
    descriptors.pop_back();
  }
  Tensors made;
  auto size = sizes.begin();
  for (const TensorType &type : results) {
    std::vector<int64_t> shape = type.shape;
    for (int64_t &one : shape)
      if (one < 0)
        one = *size++;
    made.push_back(makeTensor(type, shape, device >= 0, device));
    append(made.back());
  }
  if (!invoke(entry, device >= 0))
    return std::nullopt;
  return made;
}

void Functions::add(int64_t operation, Function function) {
  std::unique_lock<std::shared_mutex> lock(mutex);
  functions[operation].push_back(std::move(function));
}

void Functions::name(int64_t operation, std::string text) {
  std::unique_lock<std::shared_mutex> lock(mutex);
  operations[std::move(text)] = operation;
}

void Functions::clear() {
  std::unique_lock<std::shared_mutex> lock(mutex);
  functions.clear();
  operations.clear();
}

std::optional<Tensors> Functions::callAny(int64_t operation, const Tensors &tensors) const {
  auto found = functions.find(operation);
  if (found != functions.end())
    for (const Function &function : found->second)
      if (function.accepts(tensors))
        return function.call(tensors);
  return std::nullopt;
}

std::optional<Tensors> Functions::call(int64_t operation, const Tensors &tensors) const {
  std::shared_lock<std::shared_mutex> lock(mutex);
  return callAny(operation, tensors);
}

std::optional<Tensors> Functions::call(const std::string &text, const Tensors &tensors) const {
  std::shared_lock<std::shared_mutex> lock(mutex);
  auto found = operations.find(text);
  return found == operations.end() ? std::nullopt : callAny(found->second, tensors);
}

Functions &blocksparse::torch_operators::getFunctions() {
  static Functions functions;
  return functions;
}
