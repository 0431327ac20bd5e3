// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ServedFunction.h"

#include <algorithm>

using namespace blocksparse::torch_operators;

std::vector<int64_t> blocksparse::torch_operators::closeShape(std::vector<int64_t> shape,
                                                              std::span<const int64_t> sizes) {
  for (size_t back = 1; back <= shape.size(); ++back)
    if (int64_t &size = shape[shape.size() - back]; size < 0)
      size = sizes[sizes.size() - back];
  return shape;
}

/// Gives the strides of a view of another shape with as many elements. Returns false if the
/// elements of a dimension of the view are not equally far apart.
static bool getViewStrides(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                           std::span<const int64_t> view, std::vector<int64_t> &viewStrides) {
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

size_t ServedFunction::countRanks() const {
  size_t count = 0;
  for (const ArgumentSource &argument : arguments)
    count += argument.shape.size();
  for (const ResultShape &result : results)
    count += result.inner.size();
  return count;
}

size_t ServedFunction::countOpenSizes() const {
  size_t count = 0;
  for (const ResultShape &result : results)
    count += std::count(result.inner.begin(), result.inner.end(), -1);
  return count;
}

bool ServedFunction::accepts(const std::vector<DLTensor> &found) const {
  if (found.size() != tensors.size())
    return false;
  for (size_t i = 0; i < found.size(); ++i) {
    const auto &[isPresent, type, shape] = tensors[i];
    const DLTensor &tensor = found[i];
    if (isPresent != (tensor.ndim >= 0))
      return false;
    if (!isPresent)
      continue;
    if (tensor.dtype.code != type.code || tensor.dtype.bits != type.bits ||
        tensor.device.device_type != device.device_type ||
        (device.device_type != kDLCPU && tensor.device.device_id != device.device_id) ||
        tensor.ndim != static_cast<int32_t>(shape.size()))
      return false;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] >= 0 && shape[axis] != tensor.shape[axis])
        return false;
  }
  return true;
}

bool ServedFunction::addArguments(CallFrame &frame, const std::vector<DLTensor> &found) const {
  for (const ArgumentSource &argument : arguments) {
    const DLTensor &tensor = found[argument.position];
    size_t rank = static_cast<size_t>(tensor.ndim);
    std::span<const int64_t> sizes(tensor.shape, rank), strides(tensor.strides, rank);
    const char *address = static_cast<const char *>(tensor.data) + tensor.byte_offset;
    if (argument.strides) {
      if (!std::equal(strides.begin(), strides.end(), argument.wholeStrides.begin(),
                      argument.wholeStrides.end()))
        return false;
      frame.add(address + argument.offset, argument.shape, *argument.strides);
      continue;
    }
    const std::vector<int64_t> &outer = tensors[argument.position].shape;
    if (outer == argument.shape) {
      frame.add(address, sizes, strides);
      continue;
    }
    std::vector<int64_t> view = closeShape(argument.shape, sizes), viewStrides(view.size(), 1);
    bool isEmpty = std::find(view.begin(), view.end(), 0) != view.end();
    if (!isEmpty && !getViewStrides(sizes, strides, view, viewStrides))
      return false;
    frame.add(address, view, viewStrides);
  }
  return true;
}
