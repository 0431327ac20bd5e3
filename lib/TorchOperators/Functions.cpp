// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Functions.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <span>
#include <string_view>

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

/// Returns a shape whose open sizes are those of another one, counted from behind.
std::vector<int64_t> close(std::vector<int64_t> shape, std::span<const int64_t> sizes) {
  for (size_t back = 1; back <= shape.size(); ++back)
    if (int64_t &size = shape[shape.size() - back]; size < 0)
      size = sizes[sizes.size() - back];
  return shape;
}

/// Gives the strides of a view of another shape with as many elements. Returns false if the
/// elements of a dimension of the view are not equally far apart.
bool getViewStrides(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                    std::span<const int64_t> view, int64_t *viewStrides) {
  // Dimensions are joined from behind: `room` elements of the tensor that lie `stride` apart are
  // still to be given to dimensions of the view.
  size_t axis = sizes.size();
  int64_t room = 1, stride = 1;
  for (size_t i = view.size(); i-- > 0;) {
    if (view[i] == 1) {
      viewStrides[i] = stride;
      continue;
    }
    while (room == 1 && axis > 0) {
      --axis;
      room = sizes[axis];
      stride = room == 1 ? stride : strides[axis];
    }
    // Join further dimensions in front while they continue this one.
    while (room % view[i] != 0 && axis > 0 &&
           (sizes[axis - 1] == 1 || strides[axis - 1] == stride * room))
      room *= sizes[--axis];
    if (room % view[i] != 0)
      return false;
    viewStrides[i] = stride;
    stride *= view[i];
    room /= view[i];
  }
  return true;
}

/// Appends the descriptor of a tensor as compiled code reads it: twice the address, the offset 0,
/// the sizes and the strides. Returns false if the tensor has no view of the function's shape.
bool appendDescriptor(std::vector<int64_t> &words, const Tensor &tensor, const TensorType &type) {
  size_t rank = static_cast<size_t>(tensor.dim());
  int64_t *sizes = nullptr, *strides = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_sizes(tensor.get(), &sizes));
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_strides(tensor.get(), &strides));
  int64_t address = reinterpret_cast<int64_t>(tensor.data_ptr());
  words.insert(words.end(), {address, address, 0});
  if (type.shape == type.outer) {
    words.insert(words.end(), sizes, sizes + rank);
    words.insert(words.end(), strides, strides + rank);
    return true;
  }
  std::vector<int64_t> view = close(type.shape, {sizes, rank}), viewStrides(view.size(), 1);
  bool isEmpty = std::find(view.begin(), view.end(), 0) != view.end();
  if (!isEmpty && !getViewStrides({sizes, rank}, {strides, rank}, view, viewStrides.data()))
    return false;
  words.insert(words.end(), view.begin(), view.end());
  words.insert(words.end(), viewStrides.begin(), viewStrides.end());
  return true;
}

/// Returns a hash of bytes.
uint64_t hash(const std::vector<char> &bytes, uint64_t seed) {
  return std::hash<std::string_view>()({bytes.data(), bytes.size()}) + 31 * seed;
}

/// Tells whether a contiguous tensor of int32 or int64 has elements of these bytes.
bool holds(const Tensor &tensor, const std::vector<char> &bytes) {
  int32_t dtype = 0;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(tensor.get(), &dtype));
  int64_t bytesOfElement = dtype == aoti_torch_dtype_int64() ? 8 : 4;
  return static_cast<size_t>(tensor.numel() * bytesOfElement) == bytes.size() &&
         tensor.is_contiguous() && std::memcmp(tensor.data_ptr(), bytes.data(), bytes.size()) == 0;
}

/// Returns the bytes of a contiguous tensor of int32 or int64 on the CPU.
std::optional<std::vector<char>> getBytes(const Tensor &tensor) {
  int32_t dtype = 0, device = 0;
  if (aoti_torch_get_dtype(tensor.get(), &dtype) ||
      aoti_torch_get_device_type(tensor.get(), &device) || device != aoti_torch_device_type_cpu() ||
      !tensor.is_contiguous() ||
      (dtype != aoti_torch_dtype_int64() && dtype != aoti_torch_dtype_int32()))
    return std::nullopt;
  const char *begin = static_cast<const char *>(tensor.data_ptr());
  return std::vector<char>(begin,
                           begin + tensor.numel() * (dtype == aoti_torch_dtype_int64() ? 8 : 4));
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
    types.push_back({*dtype,
                     {tensor.shape, tensor.shape + tensor.rank},
                     {tensor.outerShape, tensor.outerShape + tensor.outerRank}});
  }
  return function;
}

bool Function::accepts(const Tensors &tensors) const {
  if (tensors.size() != arguments.size())
    return false;
  int32_t deviceType = device < 0 ? aoti_torch_device_type_cpu() : aoti_torch_device_type_cuda();
  for (size_t i = 0; i < tensors.size(); ++i) {
    AtenTensorHandle tensor = tensors[i].get();
    const auto &[dtype, inner, shape] = arguments[i];
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
  auto append = [&](const Tensor &tensor, const TensorType &type) {
    descriptors.push_back(words.data() + words.size());
    return appendDescriptor(words, tensor, type);
  };
  descriptors.reserve(arguments.size() + results.size() + 1);
  for (size_t i = 0; i < tensors.size(); ++i)
    if (!append(tensors[i], arguments[i]))
      return std::nullopt;
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
    made.push_back(makeTensor(type, close(type.outer, shape), device >= 0, device));
    append(made.back(), type);
  }
  if (!invoke(entry, device >= 0))
    return std::nullopt;
  return made;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

std::optional<Indices> Indices::get(const Tensor &crow, const Tensor &col) {
  std::optional<std::vector<char>> first = getBytes(crow), second = getBytes(col);
  if (!first || !second)
    return std::nullopt;
  return Indices{std::move(*first), std::move(*second)};
}

/// Adds a function unless it is there.
static void addOnce(std::vector<Function> &functions, Function function) {
  if (std::find(functions.begin(), functions.end(), function) == functions.end())
    functions.push_back(std::move(function));
}

/// Is the number of patterns of one operation that have functions of their own.
static constexpr size_t maxPatterns = 64;

static uint64_t getHash(const Indices &indices) { return hash(indices.col, hash(indices.crow, 1)); }

Patterns::Choice Patterns::choose(const Tensor &crow, const Tensor &col,
                                  const std::vector<Function> *&functions) {
  // The latest patterns are the likeliest.
  for (size_t i = known.size(); i-- > 0;)
    if (holds(crow, known[i].indices.crow) && holds(col, known[i].indices.col)) {
      functions = &known[i].functions;
      return functions->empty() ? Choice::Any : Choice::Own;
    }
  std::optional<Indices> indices = Indices::get(crow, col);
  if (!indices)
    return Choice::Any;
  uint64_t key = getHash(*indices);
  std::unique_lock<std::mutex> lock(mutex);
  if (std::find(seen.begin(), seen.end(), key) != seen.end())
    return Choice::Show;
  seen[next++ % seen.size()] = key;
  return Choice::Any;
}

void Patterns::see(const Indices &indices) {
  std::unique_lock<std::mutex> lock(mutex);
  seen[next++ % seen.size()] = getHash(indices);
}

void Patterns::add(Indices indices, std::optional<Function> function) {
  auto found = std::find_if(known.begin(), known.end(),
                            [&](const Known &one) { return one.indices == indices; });
  if (found == known.end()) {
    if (known.size() == maxPatterns)
      known.erase(known.begin());
    found = known.insert(known.end(), {std::move(indices), {}});
  }
  if (function)
    addOnce(found->functions, std::move(*function));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void Functions::add(int64_t operation, Function function) {
  std::unique_lock<std::shared_mutex> lock(mutex);
  addOnce(functions[operation], std::move(function));
}

void Functions::name(int64_t operation, std::string text) {
  std::unique_lock<std::shared_mutex> lock(mutex);
  operations[std::move(text)] = operation;
}

void Functions::seePattern(int64_t operation, const Indices &indices) {
  std::unique_lock<std::shared_mutex> lock(mutex);
  std::unique_ptr<Patterns> &found = patterns[operation];
  if (!found)
    found = std::make_unique<Patterns>();
  found->see(indices);
}

void Functions::addPattern(int64_t operation, Indices indices, std::optional<Function> function) {
  std::unique_lock<std::shared_mutex> lock(mutex);
  std::unique_ptr<Patterns> &found = patterns[operation];
  if (!found)
    found = std::make_unique<Patterns>();
  found->add(std::move(indices), std::move(function));
}

void Functions::clear() {
  std::unique_lock<std::shared_mutex> lock(mutex);
  functions.clear();
  patterns.clear();
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

std::optional<Tensors> Functions::callBsr(int64_t operation, const Tensors &tensors) {
  std::shared_lock<std::shared_mutex> lock(mutex);
  auto found = patterns.find(operation);
  const std::vector<Function> *own = nullptr;
  int32_t device = 0;
  // Neither indices on a GPU nor those of batches are looked at.
  if (found == patterns.end() || tensors[0].dim() != 1 ||
      aoti_torch_get_device_type(tensors[0].get(), &device) ||
      device != aoti_torch_device_type_cpu())
    return callAny(operation, tensors);
  switch (found->second->choose(tensors[0], tensors[1], own)) {
  case Patterns::Choice::Any:
    return callAny(operation, tensors);
  case Patterns::Choice::Show:
    return std::nullopt;
  case Patterns::Choice::Own:
    Tensors others(tensors.begin() + 2, tensors.end());
    for (const Function &function : *own)
      if (function.accepts(others))
        return function.call(others);
  }
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
