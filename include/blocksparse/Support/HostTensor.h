// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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

/// A tensor in host memory, or a view of one: element type, shape, strides and
/// offset in elements, and shared ownership of the bytes. Copying a HostTensor
/// copies the view, not the elements; clone() copies those. The const
/// qualifier protects the view, not the elements: like a pointer, a const
/// HostTensor can be written through.
///
/// Strides may be 0 (broadcast) or negative. Allocated storage is 64-byte
/// aligned and row-major.
class HostTensor {
public:
  static constexpr int64_t maxRank = 5;
  static constexpr size_t alignment = 64;

  /// A rank-1 f32 tensor of zero elements.
  HostTensor() = default;

  /// Row-major tensor of zeros. Fails with `error` on rank > maxRank, on a
  /// negative extent, and when the size overflows or memory runs out.
  static std::optional<HostTensor> allocate(ElementType type, std::span<const int64_t> shape,
                                            std::string &error);

  /// Like allocate, for shapes that the program itself chose: throws
  /// std::length_error where allocate fails, as a standard container would.
  static HostTensor zeros(ElementType type, std::span<const int64_t> shape);
  static HostTensor zeros(ElementType type, std::initializer_list<int64_t> shape) {
    return zeros(type, std::span(shape.begin(), shape.size()));
  }

  /// Row-major tensor of the given values, each rounded to `type`; values that
  /// are missing are 0, surplus ones are ignored.
  static HostTensor of(ElementType type, std::initializer_list<int64_t> shape,
                       std::initializer_list<double> values);

  /// A view of memory that somebody else allocated; `owner` (may be null) keeps
  /// it alive. Strides are in elements, one per extent; the span must cover
  /// every element, which can't be checked here. Fails with `error` on a bad
  /// rank, a negative extent or a wrong number of strides.
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
  /// Distance of element (0, ..., 0) from the start of the storage, in elements.
  int64_t offset() const { return offset_; }
  /// Product of the extents; 1 for rank 0.
  int64_t numElements() const;

  /// Address of element (0, ..., 0).
  void *data() const { return storage_.get() + offset_ * elementSize(type_); }
  template <typename T>
  T *dataAs() const {
    return static_cast<T *>(data());
  }

  /// Element at `index` (rank() numbers, each in range: the caller's duty).
  double at(std::span<const int64_t> index) const { return decodeElement(type_, address(index)); }
  double at(std::initializer_list<int64_t> index) const {
    return at(std::span(index.begin(), index.size()));
  }
  /// Element of an integer tensor, exact over the whole range of i64. Elements
  /// of floating-point tensors are rounded to the nearest integer.
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

  /// Views that share the elements.
  ///
  /// Indices begin, begin + step, ... below `end` of one axis. Bounds are
  /// clamped to the extent as Python does; step >= 1.
  HostTensor slice(int64_t axis, int64_t begin, int64_t end, int64_t step = 1) const;
  /// Index `index` (in range) of one axis, which is dropped.
  HostTensor select(int64_t axis, int64_t index) const;
  /// Exchanges two axes.
  HostTensor transpose(int64_t axisA, int64_t axisB) const;
  /// Inserts an axis of extent 1 before `axis` (0..rank()); rank() < maxRank.
  HostTensor unsqueeze(int64_t axis) const;
  /// Aligns shapes at their last axis and gives extents of 1, and missing
  /// leading ones, stride 0. Fails with `error` when a shape can't be reached.
  std::optional<HostTensor> broadcastTo(std::span<const int64_t> shape, std::string &error) const;
  /// Same elements in row-major order under another shape. Fails with `error`
  /// unless isContiguous() and the number of elements agrees.
  std::optional<HostTensor> reshape(std::span<const int64_t> shape, std::string &error) const;

  /// Whether elements lie in row-major order without gaps.
  bool isContiguous() const;
  /// This tensor if isContiguous(), else a row-major copy.
  HostTensor contiguous() const;
  /// A row-major copy, always.
  HostTensor clone() const;
  /// A row-major copy with every element rounded to `type`.
  HostTensor cast(ElementType type) const;

  void fill(double value) const;
  /// Copies elements, rounding when types differ. Shapes must agree (checked:
  /// returns false and changes nothing). The two must not overlap.
  bool copyFrom(const HostTensor &other) const;

  /// "f32[2, 3, 16]".
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

/// "[2, 3, 16]", for messages.
std::string formatShape(std::span<const int64_t> shape);

/// Whether two tensors have equal type, shape and element bytes. NaNs with equal
/// bits are equal; +0 and -0 are not.
bool bitwiseEqual(const HostTensor &a, const HostTensor &b);

/// Calls fn(std::span<const int64_t> index) for every index of `shape` in
/// row-major order: once for rank 0, never when an extent is 0.
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
