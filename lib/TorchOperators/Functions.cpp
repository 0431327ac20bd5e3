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
  size_t ranks = 0, openSizes = 0;
  for (const auto *types : {&arguments, &results})
    for (const TensorType &type : *types)
      ranks += type.shape.size();
  for (const TensorType &type : results)
    openSizes += std::count(type.shape.begin(), type.shape.end(), -1);
  CallFrame frame(arguments.size() + results.size(), ranks);
  for (const Tensor &tensor : tensors) {
    size_t rank = static_cast<size_t>(tensor.dim());
    int64_t *sizes = nullptr, *strides = nullptr;
    STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_sizes(tensor.get(), &sizes));
    STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_strides(tensor.get(), &strides));
    frame.add(tensor.data_ptr(), {sizes, rank}, {strides, rank});
  }
  std::vector<int64_t> sizes(openSizes);
  if (openSizes > 0 && (!sizeEntry || !frame.computeSizes(sizeEntry, sizes)))
    return std::nullopt;
  Tensors made;
  auto size = sizes.begin();
  for (const TensorType &type : results) {
    std::vector<int64_t> shape = type.shape;
    for (int64_t &one : shape)
      if (one < 0)
        one = *size++;
    made.push_back(makeTensor(type, shape, device >= 0, device));
    frame.addContiguous(made.back().data_ptr(), shape);
  }
  if (!frame.call(entry, device >= 0 ? &stream : nullptr))
    return std::nullopt;
  return made;
}

void Functions::add(int64_t operation, Function function) {
  std::unique_lock<std::shared_mutex> lock(mutex);
  std::vector<Function> &known = functions[operation];
  if (std::find(known.begin(), known.end(), function) == known.end())
    known.push_back(std::move(function));
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

std::optional<Tensors> Functions::call(const std::string &text, const Tensors &tensors) const {
  std::shared_lock<std::shared_mutex> lock(mutex);
  auto named = operations.find(text);
  auto found = named == operations.end() ? functions.end() : functions.find(named->second);
  if (found != functions.end())
    for (const Function &function : found->second)
      if (function.accepts(tensors))
        return function.call(tensors);
  return std::nullopt;
}

Functions &blocksparse::torch_operators::getFunctions() {
  static Functions functions;
  return functions;
}
