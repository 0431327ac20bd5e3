// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reads and writes the elements of reference values, each with the bound of its error.

#ifndef BLOCKSPARSE_LIB_INTERPRETER_ELEMENTACCESS_H
#define BLOCKSPARSE_LIB_INTERPRETER_ELEMENTACCESS_H

#include "ReferenceValue.h"
#include "ScalarRules.h"

namespace mlir::blocksparse {

/// Reads the elements of a value in row-major order.
class ElementReader {
public:
  explicit ElementReader(const ReferenceValue &value);

  int64_t size() const { return tensor.numElements(); }
  std::span<const int64_t> shape() const { return tensor.shape(); }
  bool isExact() const { return !errors; }
  /// Returns the element at row-major index `i`. A tensor of one element stands for all.
  Number get(int64_t i) const;

private:
  bool isFloat;
  ::blocksparse::HostTensor tensor;
  std::optional<::blocksparse::HostTensor> errors, marks;
};

/// Holds the elements of a result while they are computed.
class ElementWriter {
public:
  /// Makes elements of the type `element`, which the reference knows (isKnownElement).
  ElementWriter(Type element, std::span<const int64_t> shape);

  int64_t size() const { return elements.size(); }
  std::span<const int64_t> shape() const { return extents; }
  Number &operator[](int64_t i) { return elements[i]; }
  /// Returns the elements as a value. It is exact if `isExact`, or if no element has an error. The
  /// range is that of the operands, which counts if every element is 0.
  ReferenceValue finish(bool isExact, double range) const;

private:
  bool isFloat;
  ::blocksparse::ElementType type;
  std::vector<int64_t> extents;
  std::vector<Number> elements;
};

/// Returns true if the reference computes with elements of this type.
bool isKnownElement(Type element);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_INTERPRETER_ELEMENTACCESS_H
