// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Describes the values that the reference interpreter computes with: a tensor, its pattern if it is
// sparse, and a bound of the compiled program's error.

#ifndef BLOCKSPARSE_LIB_INTERPRETER_REFERENCEVALUE_H
#define BLOCKSPARSE_LIB_INTERPRETER_REFERENCEVALUE_H

#include "blocksparse/Reference/ErrorBound.h"
#include "blocksparse/Reference/Pattern.h"
#include "blocksparse/Support/HostTensor.h"
#include "mlir/IR/BuiltinTypes.h"

#include <memory>
#include <optional>
#include <vector>

namespace mlir::blocksparse {

/// Holds the reference's value of an SSA value. Results of operations are not rounded to their
/// element type: the compiled program's rounding is part of its error.
struct ReferenceValue {
  /// The elements; for a sparse tensor the values, [S, bm, bn] or [B, S, bm, bn].
  ::blocksparse::HostTensor tensor;
  /// Element type of the value in the compiled program.
  ::blocksparse::ElementType type = ::blocksparse::ElementType::f32;
  /// Scale of the error bound of the compiled value (compareToReference). Absent if the compiled
  /// value equals `tensor` bit for bit, as arguments do.
  std::optional<::blocksparse::ref::ErrorScale> scale;
  ::blocksparse::ref::ErrorModel model;

  /// Pattern of a sparse tensor; null for a dense one.
  std::shared_ptr<const ::blocksparse::ref::Pattern> pattern;
  int64_t rows = 0, cols = 0;
  /// Indices of a sparse tensor with a run-time pattern.
  std::optional<::blocksparse::HostTensor> crowIndices, colIndices;
  /// Marks (i8, in the tensor's shape, not 0) elements of which the compiled value may be anything:
  /// value blocks that no index of their batch refers to, and padding that is moved along with its
  /// block.
  std::optional<::blocksparse::HostTensor> unspecified;

  /// Returns true if the value has no error. One of range 0 is 0 in any arithmetic.
  bool isExact() const { return !scale || scale->getRange() == 0; }
  /// Returns the sparse tensor in the form of ::blocksparse::ref. Requires a pattern.
  ::blocksparse::ref::SparseTensor getSparse() const { return {tensor, *pattern, rows, cols}; }

  /// Returns |x| of a floating-point value, and the value itself of an integer one.
  ReferenceValue getMagnitude() const;
  /// Returns |x| + the error bound: no compiled value has a larger magnitude.
  ReferenceValue getUpperMagnitude() const;
  /// Returns the error bound of each element in f64; 0 if the value is exact.
  ::blocksparse::HostTensor getErrorBound() const;

  /// Returns the largest absolute value that an element can have (ErrorScale::range).
  double getRange() const;

  /// Adds to the scale an error that is propagated from the operands (f64, one for each element of
  /// the tensor).
  void addError(const ::blocksparse::HostTensor &error);

  /// Adds to `unspecified` the blocks of a sparse value that no index refers to, with or without
  /// the padding of its edge blocks.
  void markUnspecified(bool padding);
  /// Gives the value the pattern of another one.
  void copyPattern(const ReferenceValue &other);
};

/// Returns fn(x) for every element of a tensor, as f64, row-major.
template <typename Fn>
::blocksparse::HostTensor mapTensor(const ::blocksparse::HostTensor &x, Fn &&fn) {
  ::blocksparse::HostTensor result = x.cast(::blocksparse::ElementType::f64);
  double *data = result.dataAs<double>();
  for (int64_t i = 0, e = result.numElements(); i < e; ++i)
    data[i] = fn(data[i]);
  return result;
}

/// Returns fn(x, y) for every pair of elements of two tensors with the same number of elements, in
/// the shape of the first, as f64, row-major.
template <typename Fn>
::blocksparse::HostTensor zipTensors(const ::blocksparse::HostTensor &x,
                                     const ::blocksparse::HostTensor &y, Fn &&fn) {
  ::blocksparse::HostTensor result = x.cast(::blocksparse::ElementType::f64);
  ::blocksparse::HostTensor other = y.cast(::blocksparse::ElementType::f64);
  double *data = result.dataAs<double>();
  const double *otherData = other.dataAs<double>();
  for (int64_t i = 0, e = result.numElements(); i < e; ++i)
    data[i] = fn(data[i], otherData[i]);
  return result;
}

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_INTERPRETER_REFERENCEVALUE_H
