// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Support/HostTensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <stdexcept>

using namespace blocksparse;

/// Returns the size in bytes of a row-major tensor; nullopt if it exceeds int64_t.
static std::optional<int64_t> countBytes(ElementType type, std::span<const int64_t> shape) {
  int64_t bytes = elementSize(type);
  bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (empty)
    return 0;
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      return std::nullopt;
  return bytes;
}

/// Checks the invariant of tensors and views: the numbers of elements and bytes fit in int64_t.
static bool checkShape(ElementType type, std::span<const int64_t> shape, std::string &error) {
  if (static_cast<int64_t>(shape.size()) > HostTensor::maxRank) {
    error = "expects rank at most " + std::to_string(HostTensor::maxRank) + ", but got " +
            std::to_string(shape.size());
    return false;
  }
  for (int64_t extent : shape)
    if (extent < 0) {
      error = "expects non-negative extents, but got " + formatShape(shape);
      return false;
    }
  if (!countBytes(type, shape)) {
    error = "expects a size below 2^63 bytes, but got " + std::string(elementName(type)) +
            formatShape(shape);
    return false;
  }
  return true;
}

std::optional<HostTensor> HostTensor::allocate(ElementType type, std::span<const int64_t> shape,
                                               std::string &error) {
  if (!checkShape(type, shape, error))
    return std::nullopt;
  // Even an empty tensor gets `alignment` bytes, so that data() is never null.
  size_t size = std::max<size_t>(*countBytes(type, shape), alignment);
  void *memory = ::operator new(size, std::align_val_t(alignment), std::nothrow);
  if (!memory) {
    error = "expects " + std::to_string(size) + " bytes of free memory for " +
            std::string(elementName(type)) + formatShape(shape) + ", but got none";
    return std::nullopt;
  }
  std::memset(memory, 0, size);
  HostTensor result;
  result.type_ = type;
  result.setRowMajor(shape);
  result.storage_ =
      std::shared_ptr<std::byte>(static_cast<std::byte *>(memory), [](std::byte *bytes) {
        ::operator delete(bytes, std::align_val_t(alignment));
      });
  return result;
}

HostTensor HostTensor::zeros(ElementType type, std::span<const int64_t> shape) {
  std::string error;
  std::optional<HostTensor> result = allocate(type, shape, error);
  if (!result)
    throw std::length_error(error);
  return *result;
}

HostTensor HostTensor::of(ElementType type, std::initializer_list<int64_t> shape,
                          std::initializer_list<double> values) {
  HostTensor result = zeros(type, shape);
  const double *next = values.begin();
  forEachIndex(result.shape(), [&](std::span<const int64_t> index) {
    if (next != values.end())
      result.set(index, *next++);
  });
  return result;
}

std::optional<HostTensor> HostTensor::wrap(ElementType type, void *data,
                                           std::span<const int64_t> shape,
                                           std::span<const int64_t> strides,
                                           std::shared_ptr<void> owner, std::string &error) {
  if (!checkShape(type, shape, error))
    return std::nullopt;
  if (strides.size() != shape.size()) {
    error = "expects " + std::to_string(shape.size()) + " strides, but got " +
            std::to_string(strides.size());
    return std::nullopt;
  }
  HostTensor result;
  result.type_ = type;
  result.setRowMajor(shape);
  std::copy(strides.begin(), strides.end(), result.strides_.begin());
  result.storage_ = std::shared_ptr<std::byte>(std::move(owner), static_cast<std::byte *>(data));
  return result;
}

void HostTensor::setRowMajor(std::span<const int64_t> shape) {
  rank_ = static_cast<int64_t>(shape.size());
  std::copy(shape.begin(), shape.end(), shape_.begin());
  int64_t stride = 1;
  for (int64_t axis = rank_ - 1; axis >= 0; --axis) {
    strides_[axis] = stride;
    // The stride can overflow only if another extent is 0; no element needs it then.
    if (__builtin_mul_overflow(stride, std::max<int64_t>(shape_[axis], 1), &stride))
      stride = 0;
  }
}

int64_t HostTensor::numElements() const {
  // Unsigned, because the other extents may have any size if one extent is 0.
  uint64_t count = 1;
  for (int64_t extent : shape())
    count *= static_cast<uint64_t>(extent);
  return static_cast<int64_t>(count);
}

int64_t HostTensor::intAt(std::span<const int64_t> index) const {
  if (type_ == ElementType::i64) {
    int64_t value;
    std::memcpy(&value, address(index), sizeof(value));
    return value;
  }
  return std::llrint(at(index));
}

HostTensor HostTensor::slice(int64_t axis, int64_t begin, int64_t end, int64_t step) const {
  HostTensor view = *this;
  int64_t extent = shape_[axis];
  step = std::max<int64_t>(step, 1);
  begin = std::clamp<int64_t>(begin, 0, extent);
  end = std::clamp<int64_t>(end, begin, extent);
  view.shape_[axis] = (end - begin + step - 1) / step;
  view.strides_[axis] = strides_[axis] * step;
  view.offset_ = offset_ + begin * strides_[axis];
  return view;
}

HostTensor HostTensor::select(int64_t axis, int64_t index) const {
  HostTensor view = *this;
  view.offset_ += index * strides_[axis];
  std::copy(shape_.begin() + axis + 1, shape_.end(), view.shape_.begin() + axis);
  std::copy(strides_.begin() + axis + 1, strides_.end(), view.strides_.begin() + axis);
  --view.rank_;
  return view;
}

HostTensor HostTensor::transpose(int64_t axisA, int64_t axisB) const {
  HostTensor view = *this;
  std::swap(view.shape_[axisA], view.shape_[axisB]);
  std::swap(view.strides_[axisA], view.strides_[axisB]);
  return view;
}

HostTensor HostTensor::unsqueeze(int64_t axis) const {
  HostTensor view = *this;
  std::copy(shape_.begin() + axis, shape_.begin() + rank_, view.shape_.begin() + axis + 1);
  std::copy(strides_.begin() + axis, strides_.begin() + rank_, view.strides_.begin() + axis + 1);
  view.shape_[axis] = 1;
  view.strides_[axis] = 0;
  ++view.rank_;
  return view;
}

std::optional<HostTensor> HostTensor::broadcastTo(std::span<const int64_t> shape,
                                                  std::string &error) const {
  if (!checkShape(type_, shape, error))
    return std::nullopt;
  int64_t missing = static_cast<int64_t>(shape.size()) - rank_;
  bool reachable = missing >= 0;
  for (int64_t axis = 0; reachable && axis < rank_; ++axis)
    reachable = shape_[axis] == 1 || shape_[axis] == shape[missing + axis];
  if (!reachable) {
    error = "expects a shape that broadcasts to " + formatShape(shape) + ", but got " +
            formatShape(this->shape());
    return std::nullopt;
  }
  HostTensor view = *this;
  view.rank_ = static_cast<int64_t>(shape.size());
  for (int64_t axis = 0; axis < view.rank_; ++axis) {
    bool stored = axis >= missing && shape_[axis - missing] != 1;
    view.shape_[axis] = shape[axis];
    view.strides_[axis] = stored ? strides_[axis - missing] : 0;
  }
  return view;
}

std::optional<HostTensor> HostTensor::reshape(std::span<const int64_t> shape,
                                              std::string &error) const {
  if (!checkShape(type_, shape, error))
    return std::nullopt;
  if (!isContiguous()) {
    error = "expects a contiguous tensor, but got strides " + formatShape(strides()) +
            " for shape " + formatShape(this->shape());
    return std::nullopt;
  }
  HostTensor view = *this;
  view.setRowMajor(shape);
  if (countBytes(type_, shape) != countBytes(type_, this->shape())) {
    error = "expects a shape of " + std::to_string(numElements()) + " elements, but got " +
            formatShape(shape);
    return std::nullopt;
  }
  return view;
}

bool HostTensor::isContiguous() const {
  if (numElements() == 0)
    return true;
  int64_t stride = 1;
  for (int64_t axis = rank_ - 1; axis >= 0; --axis) {
    // The stride of an axis with a single element is never used.
    if (shape_[axis] != 1 && strides_[axis] != stride)
      return false;
    stride *= shape_[axis];
  }
  return true;
}

HostTensor HostTensor::contiguous() const { return isContiguous() ? *this : clone(); }

HostTensor HostTensor::clone() const { return cast(type_); }

HostTensor HostTensor::cast(ElementType type) const {
  HostTensor result = zeros(type, shape());
  result.copyFrom(*this);
  return result;
}

void HostTensor::fill(double value) const {
  forEachIndex(shape(), [&](std::span<const int64_t> index) { set(index, value); });
}

bool HostTensor::copyFrom(const HostTensor &other) const {
  if (!std::equal(shape().begin(), shape().end(), other.shape().begin(), other.shape().end()))
    return false;
  bool sameType = type_ == other.type_;
  int64_t size = elementSize(type_);
  if (sameType && isContiguous() && other.isContiguous()) {
    if (numElements() != 0)
      std::memcpy(data(), other.data(), numElements() * size);
    return true;
  }
  forEachIndex(shape(), [&](std::span<const int64_t> index) {
    // Copying the bytes keeps NaN payloads and the complete range of i64.
    if (sameType)
      std::memcpy(address(index), other.address(index), size);
    else
      set(index, other.at(index));
  });
  return true;
}

std::string HostTensor::describe() const {
  return std::string(elementName(type_)) + formatShape(shape());
}

std::string blocksparse::formatShape(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t axis = 0; axis < shape.size(); ++axis)
    text += (axis ? ", " : "") + std::to_string(shape[axis]);
  return text + "]";
}

bool blocksparse::bitwiseEqual(const HostTensor &a, const HostTensor &b) {
  if (a.type() != b.type() ||
      !std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end()))
    return false;
  HostTensor left = a.contiguous(), right = b.contiguous();
  int64_t bytes = left.numElements() * elementSize(left.type());
  return bytes == 0 || std::memcmp(left.data(), right.data(), bytes) == 0;
}
