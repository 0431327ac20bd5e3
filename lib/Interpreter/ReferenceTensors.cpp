// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Evaluates the operations of the tensor dialect that move elements.

#include "ReferenceTensors.h"
#include "ElementBody.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::ElementType;
using ::blocksparse::HostTensor;

using Result = FailureOr<ReferenceValue>;
using Sizes = SmallVector<int64_t>;

namespace {
/// Holds a slice of a tensor in numbers.
struct Slice {
  Sizes offsets, sizes, strides;
  llvm::SmallBitVector dropped;
};
} // namespace

static FailureOr<Sizes> getSizes(ArrayRef<OpFoldResult> mixed, IntegerLookup integers) {
  Sizes sizes;
  for (OpFoldResult size : mixed) {
    FailureOr<int64_t> known = failure();
    if (auto value = dyn_cast<Value>(size))
      known = integers(value);
    else
      known = cast<IntegerAttr>(cast<Attribute>(size)).getInt();
    if (failed(known))
      return failure();
    sizes.push_back(*known);
  }
  return sizes;
}

template <typename OpTy>
static FailureOr<Slice> getSlice(OpTy op, std::span<const int64_t> shape, IntegerLookup integers) {
  FailureOr<Sizes> offsets = getSizes(op.getMixedOffsets(), integers),
                   sizes = getSizes(op.getMixedSizes(), integers),
                   strides = getSizes(op.getMixedStrides(), integers);
  if (failed(offsets) || failed(sizes) || failed(strides))
    return failure();
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    const int64_t last = (*offsets)[axis] + ((*sizes)[axis] - 1) * (*strides)[axis];
    if ((*sizes)[axis] < 0 || (*strides)[axis] < 1 ||
        ((*sizes)[axis] > 0 && ((*offsets)[axis] < 0 || last >= extent)))
      return op.emitOpError("expects a slice inside the ")
             << extent << " elements of axis " << axis << ", but got the elements "
             << (*offsets)[axis] << " to " << last;
  }
  return Slice{*offsets, *sizes, *strides, op.getDroppedDims()};
}

static HostTensor takeSlice(const HostTensor &tensor, const Slice &slice) {
  HostTensor view = tensor;
  for (int64_t axis = 0; axis < tensor.rank(); ++axis)
    view = view.slice(axis, slice.offsets[axis],
                      slice.offsets[axis] + slice.sizes[axis] * slice.strides[axis],
                      slice.strides[axis]);
  for (int64_t axis = tensor.rank(); axis-- > 0;)
    if (slice.dropped.test(axis))
      view = view.select(axis, 0);
  return view;
}

/// Returns a value whose elements, errors and marks are moved alike.
template <typename Fn>
static ReferenceValue moveElements(const ReferenceValue &value, Fn &&move) {
  auto moved = [&](const HostTensor &tensor) { return move(tensor.contiguous()).contiguous(); };
  ReferenceValue result = value;
  result.tensor = moved(value.tensor);
  if (value.scale) {
    result.scale->range = value.getRange();
    if (value.scale->magnitude.numElements() == value.tensor.numElements())
      result.scale->magnitude = moved(value.scale->magnitude);
  }
  if (value.unspecified)
    result.unspecified = moved(*value.unspecified);
  return result;
}

/// Returns a tensor of i64 whose elements are their own row-major indices.
static HostTensor makeIndices(std::span<const int64_t> shape) {
  HostTensor indices = HostTensor::zeros(ElementType::i64, shape);
  auto *data = indices.dataAs<int64_t>();
  std::iota(data, data + indices.numElements(), 0);
  return indices;
}

/// Writes the elements of `source` to the elements of `target` that `places` lists.
static void writeTo(ElementWriter &target, const HostTensor &places, const ReferenceValue &source) {
  ElementReader elements(source);
  HostTensor flat = places.contiguous();
  for (int64_t i = 0, count = flat.numElements(); i < count; ++i)
    target[flat.dataAs<int64_t>()[i]] = elements.get(i);
}

static ElementWriter copyElements(Type element, const ReferenceValue &value) {
  ElementWriter copy(element, value.tensor.shape());
  writeTo(copy, makeIndices(value.tensor.shape()), value);
  return copy;
}

static Result evaluate(tensor::EmptyOp op, ReferenceLookup, IntegerLookup integers) {
  FailureOr<Sizes> sizes = getSizes(op.getMixedSizes(), integers);
  if (failed(sizes))
    return failure();
  ElementWriter empty(op.getType().getElementType(), *sizes);
  for (int64_t i = 0; i < empty.size(); ++i)
    empty[i].any = true;
  return empty.finish(/*isExact=*/true, 0);
}

static Result evaluate(tensor::ExtractSliceOp op, ReferenceLookup lookup, IntegerLookup integers) {
  const ReferenceValue &source = lookup(op.getSource());
  FailureOr<Slice> slice = getSlice(op, source.tensor.shape(), integers);
  if (failed(slice))
    return failure();
  return moveElements(source, [&](const HostTensor &x) { return takeSlice(x, *slice); });
}

/// Returns `dest` with the elements of the source of an insertion.
template <typename OpTy>
static Result insertInto(OpTy op, const ReferenceValue &dest, ReferenceLookup lookup,
                         IntegerLookup integers) {
  const ReferenceValue &source = lookup(op.getSource());
  FailureOr<Slice> slice = getSlice(op, dest.tensor.shape(), integers);
  if (failed(slice))
    return failure();
  ElementWriter result = copyElements(op.getDestType().getElementType(), dest);
  writeTo(result, takeSlice(makeIndices(dest.tensor.shape()), *slice), source);
  return result.finish(/*isExact=*/false, std::fmax(source.getRange(), dest.getRange()));
}

static Result evaluate(tensor::InsertSliceOp op, ReferenceLookup lookup, IntegerLookup integers) {
  return insertInto(op, lookup(op.getDest()), lookup, integers);
}

Result mlir::blocksparse::evaluateParallelInsert(tensor::ParallelInsertSliceOp op,
                                                 const ReferenceValue &dest, ReferenceLookup lookup,
                                                 IntegerLookup integers) {
  return insertInto(op, dest, lookup, integers);
}

/// Returns the index of the element that an operation names.
static FailureOr<int64_t> getElement(Operation *op, ValueRange indices,
                                     std::span<const int64_t> shape, IntegerLookup integers) {
  FailureOr<Sizes> at = getSizes(getAsOpFoldResult(indices), integers);
  if (failed(at))
    return failure();
  int64_t index = 0;
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    if ((*at)[axis] < 0 || (*at)[axis] >= extent)
      return op->emitOpError("expects an index below ")
             << extent << " of axis " << axis << ", but got " << (*at)[axis];
    index = index * extent + (*at)[axis];
  }
  return index;
}

static Result evaluate(tensor::ExtractOp op, ReferenceLookup lookup, IntegerLookup integers) {
  const ReferenceValue &source = lookup(op.getTensor());
  FailureOr<int64_t> index = getElement(op, op.getIndices(), source.tensor.shape(), integers);
  if (failed(index))
    return failure();
  ElementWriter number(op.getType(), {});
  number[0] = ElementReader(source).get(*index);
  return number.finish(/*isExact=*/false, source.getRange());
}

static Result evaluate(tensor::InsertOp op, ReferenceLookup lookup, IntegerLookup integers) {
  const ReferenceValue &dest = lookup(op.getDest()), &scalar = lookup(op.getScalar());
  FailureOr<int64_t> index = getElement(op, op.getIndices(), dest.tensor.shape(), integers);
  if (failed(index))
    return failure();
  ElementWriter result = copyElements(op.getScalar().getType(), dest);
  result[*index] = ElementReader(scalar).get(0);
  return result.finish(/*isExact=*/false, std::fmax(dest.getRange(), scalar.getRange()));
}

static Result evaluate(tensor::FromElementsOp op, ReferenceLookup lookup, IntegerLookup) {
  ElementWriter result(op.getType().getElementType(), op.getType().getShape());
  double range = 0;
  for (auto [i, element] : llvm::enumerate(op.getElements())) {
    result[i] = ElementReader(lookup(element)).get(0);
    range = std::fmax(range, lookup(element).getRange());
  }
  return result.finish(/*isExact=*/false, range);
}

static Result evaluate(tensor::SplatOp op, ReferenceLookup lookup, IntegerLookup integers) {
  SmallVector<OpFoldResult> mixed =
      getMixedValues(op.getType().getShape(), op.getDynamicSizes(), op.getContext());
  FailureOr<Sizes> sizes = getSizes(mixed, integers);
  if (failed(sizes))
    return failure();
  ElementWriter result(op.getType().getElementType(), *sizes);
  for (int64_t i = 0; i < result.size(); ++i)
    result[i] = ElementReader(lookup(op.getInput())).get(0);
  return result.finish(/*isExact=*/false, lookup(op.getInput()).getRange());
}

static Result evaluate(tensor::CastOp op, ReferenceLookup lookup, IntegerLookup) {
  return lookup(op.getSource());
}

static Result reshape(Operation *op, const ReferenceValue &source, ArrayRef<int64_t> shape) {
  std::string error;
  if (!source.tensor.contiguous().reshape(shape, error))
    return op->emitOpError() << error;
  return moveElements(source, [&](const HostTensor &x) { return *x.reshape(shape, error); });
}

static Result evaluate(tensor::ExpandShapeOp op, ReferenceLookup lookup, IntegerLookup integers) {
  FailureOr<Sizes> shape = getSizes(op.getMixedOutputShape(), integers);
  return failed(shape) ? Result(failure()) : reshape(op, lookup(op.getSrc()), *shape);
}

static Result evaluate(tensor::CollapseShapeOp op, ReferenceLookup lookup, IntegerLookup) {
  const ReferenceValue &source = lookup(op.getSrc());
  Sizes shape;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    shape.push_back(1);
    for (int64_t axis : group)
      shape.back() *= source.tensor.dim(axis);
  }
  return reshape(op, source, shape);
}

static Result evaluate(tensor::ReshapeOp op, ReferenceLookup lookup, IntegerLookup) {
  ElementReader extents(lookup(op.getShape()));
  Sizes shape;
  for (int64_t i = 0; i < extents.size(); ++i)
    shape.push_back(extents.get(i).n);
  return reshape(op, lookup(op.getSource()), shape);
}

static Result evaluate(tensor::ConcatOp op, ReferenceLookup lookup, IntegerLookup) {
  const int64_t axis = op.getDim();
  std::span<const int64_t> first = lookup(op.getInputs().front()).tensor.shape();
  Sizes shape(first.begin(), first.end());
  shape[axis] = 0;
  for (Value input : op.getInputs())
    shape[axis] += lookup(input).tensor.dim(axis);
  ElementWriter result(op.getType().getElementType(), shape);
  HostTensor indices = makeIndices(shape);
  int64_t begin = 0;
  double range = 0;
  for (Value input : op.getInputs()) {
    const ReferenceValue &value = lookup(input);
    const int64_t end = begin + value.tensor.dim(axis);
    HostTensor places = indices.slice(axis, begin, end);
    if (places.numElements() != value.tensor.numElements())
      return op.emitOpError("expects inputs of one shape outside axis ")
             << axis << ", but got " << value.tensor.describe() << " for "
             << lookup(op.getInputs().front()).tensor.describe();
    writeTo(result, places, value);
    begin = end;
    range = std::fmax(range, value.getRange());
  }
  return result.finish(/*isExact=*/false, range);
}

/// Returns elements that a body computes from their indices.
static FailureOr<ElementWriter> generate(Type element, ArrayRef<int64_t> shape, Block &block,
                                         ReferenceLookup lookup) {
  FailureOr<ElementBody> body = ElementBody::create(block, block.getNumArguments(), lookup);
  if (failed(body))
    return failure();
  ElementWriter result(element, shape);
  int64_t next = 0;
  ::blocksparse::forEachIndex(shape, [&](std::span<const int64_t> index) {
    for (auto [number, at] : llvm::zip(body->numbers, index))
      number.n = at;
    body->run({});
    result[next++] = body->numbers[body->yielded.front()];
  });
  return result;
}

static Result evaluate(tensor::PadOp op, ReferenceLookup lookup, IntegerLookup integers) {
  const ReferenceValue &source = lookup(op.getSource());
  FailureOr<Sizes> low = getSizes(op.getMixedLowPad(), integers),
                   high = getSizes(op.getMixedHighPad(), integers);
  if (failed(low) || failed(high))
    return failure();
  Sizes shape;
  for (auto [axis, extent] : llvm::enumerate(source.tensor.shape())) {
    if ((*low)[axis] < 0 || (*high)[axis] < 0)
      return op.emitOpError("expects padding of at least 0, but got ")
             << std::min((*low)[axis], (*high)[axis]);
    shape.push_back((*low)[axis] + extent + (*high)[axis]);
  }
  FailureOr<ElementWriter> result =
      generate(op.getType().getElementType(), shape, *op.getBody(), lookup);
  if (failed(result))
    return failure();
  HostTensor places = makeIndices(shape);
  for (int64_t axis = 0; axis < places.rank(); ++axis)
    places = places.slice(axis, (*low)[axis], (*low)[axis] + source.tensor.dim(axis));
  writeTo(*result, places, source);
  return result->finish(/*isExact=*/false, source.getRange());
}

static Result evaluate(tensor::GenerateOp op, ReferenceLookup lookup, IntegerLookup integers) {
  SmallVector<OpFoldResult> mixed =
      getMixedValues(op.getType().getShape(), op.getDynamicExtents(), op.getContext());
  FailureOr<Sizes> shape = getSizes(mixed, integers);
  if (failed(shape))
    return failure();
  FailureOr<ElementWriter> result =
      generate(op.getType().getElementType(), *shape, op.getBody().front(), lookup);
  return failed(result) ? Result(failure()) : result->finish(/*isExact=*/false, 0);
}

/// Returns true if the reference holds tensors of the type.
static bool isKnownTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !isa<ShapedType>(type) ||
         (tensor && tensor.getRank() <= HostTensor::maxRank && !tensor.getEncoding() &&
          isKnownElement(tensor.getElementType()));
}

bool mlir::blocksparse::isKnownTensorOp(Operation *op) {
  return isa<tensor::EmptyOp, tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ExtractOp,
             tensor::InsertOp, tensor::FromElementsOp, tensor::SplatOp, tensor::CastOp,
             tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp, tensor::ConcatOp,
             tensor::PadOp, tensor::GenerateOp>(op) &&
         llvm::all_of(op->getRegions(),
                      [](Region &body) { return ElementBody::isKnown(body.front()); }) &&
         llvm::all_of(op->getOperandTypes(), isKnownTensor) &&
         llvm::all_of(op->getResultTypes(), isKnownTensor);
}

FailureOr<ReferenceValue> mlir::blocksparse::evaluateTensorOp(Operation *op, ReferenceLookup lookup,
                                                              IntegerLookup integers) {
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<tensor::EmptyOp, tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ExtractOp,
            tensor::InsertOp, tensor::FromElementsOp, tensor::SplatOp, tensor::CastOp,
            tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp, tensor::ConcatOp,
            tensor::PadOp, tensor::GenerateOp>(
          [&](auto known) { return evaluate(known, lookup, integers); })
      .Default([](Operation *unknown) {
        return Result(
            unknown->emitOpError("expects an operation that the reference knows, but got ")
            << unknown->getName());
      });
}
