// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementAccess.h"
#include "blocksparse/Execution/HostProgram.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::ElementType;
using ::blocksparse::HostTensor;
namespace ref = ::blocksparse::ref;

ElementReader::ElementReader(const ReferenceValue &value)
    : isFloat(::blocksparse::isFloatType(value.tensor.type())),
      tensor(value.tensor.cast(isFloat ? ElementType::f64 : ElementType::i64)) {
  if (!value.isExact())
    errors = value.getErrorBound();
  if (value.unspecified)
    marks = value.unspecified->contiguous();
}

Number ElementReader::get(int64_t i) const {
  Number number;
  i = size() == 1 ? 0 : i;
  if (isFloat)
    number.x = tensor.dataAs<double>()[i];
  else
    number.n = tensor.dataAs<int64_t>()[i];
  number.error = errors ? errors->dataAs<double>()[i] : 0;
  number.any = marks && marks->dataAs<int8_t>()[i];
  return number;
}

ElementWriter::ElementWriter(Type element, std::span<const int64_t> shape)
    : isFloat(isa<FloatType>(element)),
      type(getHostElementType(element).value_or(ElementType::i64)),
      extents(shape.begin(), shape.end()) {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  elements.resize(count);
}

ReferenceValue ElementWriter::finish(bool isExact, double range) const {
  ReferenceValue result;
  result.type = type;
  result.model = ref::ErrorModel::forOperands(type);
  result.tensor = HostTensor::zeros(isFloat ? ElementType::f64 : ElementType::i64, extents);
  HostTensor errors = HostTensor::zeros(ElementType::f64, extents);
  HostTensor marks = HostTensor::zeros(ElementType::i8, extents);
  bool isMarked = false, hasError = false;
  for (auto [i, number] : llvm::enumerate(elements)) {
    if (isFloat)
      result.tensor.dataAs<double>()[i] = number.x;
    else
      result.tensor.dataAs<int64_t>()[i] = number.n;
    errors.dataAs<double>()[i] = number.any ? 0 : number.error;
    marks.dataAs<int8_t>()[i] = number.any;
    isMarked |= number.any;
    hasError |= number.error != 0;
  }
  if (isMarked)
    result.unspecified = marks;
  if (!isFloat || isExact || !hasError)
    return result;
  result.scale.emplace();
  result.scale->magnitude = HostTensor::zeros(ElementType::f64, extents);
  result.scale->terms = 1;
  result.addError(errors);
  // A result that is 0 but for its error has the range of what it is computed from.
  double largest = ref::largestMagnitude(result.tensor);
  result.scale->range = largest == 0 ? range : largest;
  return result;
}

bool mlir::blocksparse::isKnownElement(Type element) {
  if (isa<FloatType>(element))
    return getHostElementType(element).has_value();
  return element.isIndex() || (element.isInteger() && element.getIntOrFloatBitWidth() <= 64);
}
