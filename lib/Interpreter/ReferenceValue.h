// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the reference interpreter computes with: a tensor, what is known about it, and how far
// a compiled program may be from it.

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

/// The reference's value of an SSA value. Results of operations are not rounded to their
/// element type: that rounding of the compiled program is part of its error.
struct ReferenceValue {
  /// Of a sparse tensor the values, [S, bm, bn] or [B, S, bm, bn].
  ::blocksparse::HostTensor tensor;
  /// The element type of the compiled program's value.
  ::blocksparse::ElementType type = ::blocksparse::ElementType::f32;
  /// How far the compiled value may be from `tensor` (compareToReference); absent where the two
  /// are equal bit by bit, as for arguments.
  std::optional<::blocksparse::ref::ErrorScale> scale;
  ::blocksparse::ref::ErrorModel model;

  /// Of a sparse tensor.
  std::shared_ptr<const ::blocksparse::ref::Pattern> pattern;
  int64_t rows = 0, cols = 0;
  /// Of one with run-time indices.
  std::optional<::blocksparse::HostTensor> crowIndices, colIndices;
  /// Not 0 where the compiled value may hold anything, i8 of the tensor's shape: in value blocks
  /// that no index of their batch reaches, and in padding that moves with its block.
  std::optional<::blocksparse::HostTensor> unspecified;

  bool isExact() const { return !scale; }
  ::blocksparse::ref::SparseTensor getSparse() const { return {tensor, *pattern, rows, cols}; }

  /// |x| of a floating-point value, the value itself of an integer one.
  ReferenceValue getMagnitude() const;
  /// |x| + the bound of its error: no compiled value has a larger magnitude.
  ReferenceValue getUpperMagnitude() const;
  /// The bound of the error of each element, f64; 0 where there is none.
  ::blocksparse::HostTensor getErrorBound() const;

  /// Adds to the scale an error that the operands bring along (f64, of the tensor's number
  /// of elements).
  void addError(const ::blocksparse::HostTensor &error);

  /// Sets `unspecified` of a sparse value, with or without the padding of its edge blocks.
  void markUnspecified(bool padding);
};

/// fn(x) for every element, as f64, row-major.
template <typename Fn>
::blocksparse::HostTensor mapTensor(const ::blocksparse::HostTensor &x, Fn &&fn) {
  ::blocksparse::HostTensor result = x.cast(::blocksparse::ElementType::f64);
  double *data = result.dataAs<double>();
  for (int64_t i = 0, e = result.numElements(); i < e; ++i)
    data[i] = fn(data[i]);
  return result;
}

/// fn(x, y) for every element of two tensors of the same number of elements, with the shape of
/// the first, as f64, row-major.
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
