// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A strided tensor in host memory. It depends on neither MLIR nor LLVM, so the reference and the
// tools can use it.

#ifndef BLOCKSPARSE_SUPPORT_HOSTTENSOR_H
#define BLOCKSPARSE_SUPPORT_HOSTTENSOR_H

#include "blocksparse/Support/ElementType.h"

#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace blocksparse {

/// Describes a tensor in host memory, or a view of one: element type, shape, strides and offset in
/// elements, and shared ownership of the bytes. Copying a HostTensor copies the view, not the
/// elements; clone() copies the elements. The const qualifier protects the view, not the elements:
/// like a pointer, a const HostTensor can be written through.
///
/// Strides may be 0 (broadcast) or negative. Allocated storage is 64-byte aligned and row-major.
class HostTensor {
public:
  static constexpr int64_t maxRank = 5;
  static constexpr size_t alignment = 64;

  /// Makes a rank-1 f32 tensor of zero elements.
  HostTensor() = default;

  /// Allocates a row-major tensor of zeros. Returns nullopt and sets `error` if rank > maxRank, if
  /// an extent is negative, if the size overflows, or if there is not enough memory.
  static std::optional<HostTensor> allocate(ElementType type, std::span<const int64_t> shape,
                                            std::string &error);

  /// Allocates a row-major tensor of zeros, for shapes that the program itself chose: throws
  /// std::length_error if allocate would fail, as a standard container would.
  static HostTensor zeros(ElementType type, std::span<const int64_t> shape);
  static HostTensor zeros(ElementType type, std::initializer_list<int64_t> shape) {
    return zeros(type, std::span(shape.begin(), shape.size()));
  }

  /// Returns a row-major tensor of the given values, each rounded to `type`; missing values are 0,
  /// and surplus values are ignored.
  static HostTensor of(ElementType type, std::initializer_list<int64_t> shape,
                       std::initializer_list<double> values);

  /// Returns a view of memory that the caller allocated; `owner` (may be null) keeps it alive.
  /// `strides` are in elements, one for each extent. The memory must contain every element, which
  /// this function cannot check. Returns nullopt and sets `error` if the rank exceeds maxRank, an
  /// extent is negative, or the number of strides differs from the rank.
  static std::optional<HostTensor> wrap(ElementType type, void *data,
                                        std::span<const int64_t> shape,
                                        std::span<const int64_t> strides,
                                        std::shared_ptr<void> owner, std::string &error);

  ElementType type() const { return type_; }
  int64_t rank() const { return rank_; }
  std::span<const int64_t> shape() const { return {shape_.data(), static_cast<size_t>(rank_)}; }
  std::span<const int64_t> strides() const { return {strides_.data(), static_cast<size_t>(rank_)}; }
  int64_t dim(int64_t axis) const { return shape_[axis]; }
  int64_t stride(int64_t axis) const { return strides_[axis]; }
  /// Returns the distance of element (0, ..., 0) from the start of the storage, in elements.
  int64_t offset() const { return offset_; }
  /// Returns the product of the extents; 1 for rank 0.
  int64_t numElements() const;

  /// Returns the address of element (0, ..., 0).
  void *data() const { return storage_.get() + offset_ * elementSize(type_); }
  /// Returns the address of element (0, ..., 0) as a pointer to `T`, which must be the C++ type of
  /// the elements.
  template <typename T>
  T *dataAs() const {
    return static_cast<T *>(data());
  }

  /// Returns the element at `index`, which must have rank() numbers, each in range (not checked).
  double at(std::span<const int64_t> index) const { return decodeElement(type_, address(index)); }
  double at(std::initializer_list<int64_t> index) const {
    return at(std::span(index.begin(), index.size()));
  }
  /// Returns the element of an integer tensor, exact over the complete range of i64. Elements of
  /// floating-point tensors are rounded to the nearest integer.
  int64_t intAt(std::span<const int64_t> index) const;
  int64_t intAt(std::initializer_list<int64_t> index) const {
    return intAt(std::span(index.begin(), index.size()));
  }
  /// Stores `value` rounded to type() (see encodeElement).
  void set(std::span<const int64_t> index, double value) const {
    encodeElement(type_, value, address(index));
  }
  void set(std::initializer_list<int64_t> index, double value) const {
    set(std::span(index.begin(), index.size()), value);
  }

  /// The following functions return views that share the elements.
  ///
  /// slice returns the indices begin, begin + step, ... below `end` of one axis. Bounds are clamped
  /// to the extent as in Python; step >= 1.
  HostTensor slice(int64_t axis, int64_t begin, int64_t end, int64_t step = 1) const;
  /// Returns the view with index `index` (in range) of one axis, which is dropped.
  HostTensor select(int64_t axis, int64_t index) const;
  /// Returns the view with two axes exchanged.
  HostTensor transpose(int64_t axisA, int64_t axisB) const;
  /// Returns the view with an axis of extent 1 inserted before `axis` (0..rank()). Requires rank()
  /// < maxRank.
  HostTensor unsqueeze(int64_t axis) const;
  /// Returns the view broadcast to `shape`: shapes are aligned at their last axis, and extents of 1
  /// and missing leading axes get stride 0. Returns nullopt and sets `error` if the shape cannot be
  /// reached.
  std::optional<HostTensor> broadcastTo(std::span<const int64_t> shape, std::string &error) const;
  /// Returns a view of the same elements, in row-major order, with another shape. Returns nullopt
  /// and sets `error` unless isContiguous() and the number of elements agrees.
  std::optional<HostTensor> reshape(std::span<const int64_t> shape, std::string &error) const;

  /// Returns true if the elements are in row-major order without gaps.
  bool isContiguous() const;
  /// Returns this tensor if isContiguous(), else a row-major copy.
  HostTensor contiguous() const;
  /// Returns a row-major copy.
  HostTensor clone() const;
  /// Returns a row-major copy with every element rounded to `type`.
  HostTensor cast(ElementType type) const;

  /// Stores `value`, rounded to type(), in every element.
  void fill(double value) const;
  /// Copies the elements of `other`, rounding them if the types differ. Returns false and changes
  /// nothing if the shapes differ. The two tensors must not overlap.
  bool copyFrom(const HostTensor &other) const;

  /// Returns a description for messages: "f32[2, 3, 16]".
  std::string describe() const;

private:
  std::byte *address(std::span<const int64_t> index) const {
    int64_t position = offset_;
    for (size_t axis = 0; axis < index.size(); ++axis)
      position += index[axis] * strides_[axis];
    return storage_.get() + position * elementSize(type_);
  }
  void setRowMajor(std::span<const int64_t> shape);

  ElementType type_ = ElementType::f32;
  int64_t rank_ = 1;
  std::array<int64_t, maxRank> shape_{};
  std::array<int64_t, maxRank> strides_{1};
  int64_t offset_ = 0;
  std::shared_ptr<std::byte> storage_;
};

/// Returns a shape for messages: "[2, 3, 16]".
std::string formatShape(std::span<const int64_t> shape);

/// Returns true if two tensors have equal type, shape and element bytes. NaNs with equal bits are
/// equal; +0 and -0 are not.
bool bitwiseEqual(const HostTensor &a, const HostTensor &b);

/// Calls fn(std::span<const int64_t> index) for every index of `shape` in row-major order: once for
/// rank 0, never if an extent is 0.
template <typename Fn>
void forEachIndex(std::span<const int64_t> shape, Fn &&fn) {
  std::array<int64_t, HostTensor::maxRank> index{};
  for (int64_t extent : shape)
    if (extent <= 0)
      return;
  for (;;) {
    fn(std::span<const int64_t>(index.data(), shape.size()));
    size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1])
      index[--axis] = 0;
    if (axis == 0)
      return;
  }
}

} // namespace blocksparse

#endif // BLOCKSPARSE_SUPPORT_HOSTTENSOR_H
