// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ReferenceOps.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Reference/Conversions.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::HostTensor;
namespace ref = ::blocksparse::ref;

using Values = FailureOr<std::vector<ReferenceValue>>;

/// Evaluates a conversion. Conversions are linear and exact, so the errors of the operand are
/// converted like its values. `convert` receives the values of the source.
static Values convertLinear(
    Operation *op, const ReferenceValue &source,
    llvm::function_ref<std::optional<HostTensor>(const HostTensor &, std::string &)> convert,
    const ReferenceValue *like = nullptr) {
  std::string error;
  Type type = op->getResult(0).getType();
  ref::ErrorModel model = getErrorModel(type);
  std::optional<HostTensor> tensor = convert(source.tensor, error);
  if (!tensor)
    return op->emitOpError() << error;
  FailureOr<ReferenceValue> value = makeResult(op, type, *tensor, std::nullopt, model, like);
  if (failed(value))
    return failure();
  if (!source.isExact()) {
    std::optional<HostTensor> change = convert(source.getErrorBound(), error);
    FailureOr<ReferenceValue> fitted = makeResult(op, type, *change, std::nullopt, model, like);
    if (failed(fitted))
      return failure();
    value->addError(fitted->tensor);
    value->scale->range = source.getRange();
  }
  return std::vector<ReferenceValue>{std::move(*value)};
}

static Values evaluateOp(ToDenseOp op, ReferenceLookup lookup) {
  const ReferenceValue &source = lookup(op.getSource());
  return convertLinear(op, source, [&](const HostTensor &values, std::string &error) {
    return ref::toDense({values, *source.pattern, source.rows, source.cols}, error);
  });
}

static Values evaluateOp(FromDenseOp op, ReferenceLookup lookup) {
  const ReferenceValue *like = op.getPattern() ? &lookup(op.getPattern()) : nullptr;
  FailureOr<ReferenceValue> pattern = makePattern(op, op.getType(), like);
  if (failed(pattern))
    return failure();
  return convertLinear(
      op, lookup(op.getSource()),
      [&](const HostTensor &dense, std::string &error) {
        return ref::fromDense(dense, *pattern->pattern, error);
      },
      like);
}

/// Sets the indices of a pattern as tensors, if `type` is dynamic.
static LogicalResult setIndices(Operation *op, Type type, ReferenceValue &value) {
  std::optional<SparseTensor> sparse = SparseTensor::get(type);
  if (!sparse || sparse->isStatic())
    return success();
  const ref::Pattern &pattern = *value.pattern;
  int64_t capacity = pattern.valueBlocks() / pattern.grid().heads, rows = pattern.grid().rows;
  bool batched = sparse->getRank() == 4;
  auto element = sparse->getBsr().getIndexWidth() == 64 ? ::blocksparse::ElementType::i64
                                                        : ::blocksparse::ElementType::i32;
  int64_t batches = batched ? value.tensor.dim(0) : 1;
  std::string error;
  auto crow = HostTensor::allocate(element, {{batches, rows + 1}}, error);
  auto col = HostTensor::allocate(element, {{batches, capacity}}, error);
  if (!crow || !col)
    return op->emitOpError() << error;
  for (int64_t batch = 0; batch < batches; ++batch) {
    int64_t count = 0;
    for (int64_t row = 0; row < rows; ++row) {
      for (const ref::Pattern::Entry &entry : pattern.row(batch, 0, row))
        col->set({batch, count++}, entry.col);
      crow->set({batch, row + 1}, count);
    }
  }
  value.crowIndices = batched ? *crow : crow->select(0, 0);
  value.colIndices = batched ? *col : col->select(0, 0);
  return success();
}

static Values evaluateOp(TransposeOp op, ReferenceLookup lookup) {
  const ReferenceValue &source = lookup(op.getSource());
  std::string error;
  std::optional<ref::SparseTensor> transposed = ref::transpose(source.getSparse(), error);
  if (!transposed)
    return op->emitOpError() << error;
  ReferenceValue like;
  like.pattern = std::make_shared<ref::Pattern>(transposed->pattern);
  like.rows = source.cols;
  like.cols = source.rows;
  like.tensor = transposed->values;
  if (failed(setIndices(op, op.getType(), like)))
    return failure();
  Values results = convertLinear(
      op, source,
      [&](const HostTensor &values, std::string &message) -> std::optional<HostTensor> {
        auto result = ref::transpose({values, *source.pattern, source.rows, source.cols}, message);
        return result ? std::optional(result->values) : std::nullopt;
      },
      &like);
  // Blocks are moved unchanged, including their padding.
  if (succeeded(results))
    results->front().markUnspecified(/*padding=*/true);
  return results;
}

static Values evaluateOp(SliceOp op, ReferenceLookup lookup) {
  const ReferenceValue &source = lookup(op.getSource());
  FailureOr<ReferenceValue> pattern = makePattern(op, op.getType(), nullptr);
  if (failed(pattern))
    return failure();
  ArrayRef<int64_t> offsets = op.getOffsets();
  Values results = convertLinear(
      op, source, [&](const HostTensor &values, std::string &error) -> std::optional<HostTensor> {
        auto dense = ref::toDense({values, *source.pattern, source.rows, source.cols}, error);
        if (!dense)
          return std::nullopt;
        HostTensor part = dense->slice(dense->rank() - 2, offsets[0], offsets[0] + pattern->rows)
                              .slice(dense->rank() - 1, offsets[1], offsets[1] + pattern->cols);
        return ref::fromDense(part, *pattern->pattern, error);
      });
  // Blocks are moved unchanged, including their padding.
  if (succeeded(results))
    results->front().markUnspecified(/*padding=*/true);
  return results;
}

static Values evaluateOp(AddOp op, ReferenceLookup lookup) {
  ref::SparseTensor a = lookup(op.getA()).getSparse(), b = lookup(op.getB()).getSparse();
  double alpha = getFactor(op.getAlpha(), op.getDynamicAlpha(), lookup);
  double beta = getFactor(op.getBeta(), op.getDynamicBeta(), lookup);
  std::string error;
  ref::ErrorScale scale;
  std::optional<HostTensor> sum = ref::add(a, b, alpha, beta, error, &scale);
  if (!sum)
    return op->emitOpError() << error;
  ref::ErrorModel model = getErrorModel(op.getType());
  const ReferenceValue *like = &lookup(op.getA());
  FailureOr<ReferenceValue> value = makeResult(op, op.getType(), *sum, scale, model, like);
  // The errors of the terms add up, each times the magnitude of its factor.
  a.values = lookup(op.getA()).getErrorBound();
  b.values = lookup(op.getB()).getErrorBound();
  std::optional<HostTensor> change = ref::add(a, b, std::fabs(alpha), std::fabs(beta), error);
  FailureOr<ReferenceValue> fitted =
      makeResult(op, op.getType(), *change, std::nullopt, model, like);
  if (failed(value) || failed(fitted))
    return failure();
  value->addError(fitted->tensor);
  // The padding of the terms is added like their elements.
  value->markUnspecified(/*padding=*/true);
  return std::vector<ReferenceValue>{std::move(*value)};
}

static Values evaluateOp(AssembleOp op, ReferenceLookup lookup) {
  ReferenceValue value = lookup(op.getValues());
  if (!op.getCrowIndices()) {
    FailureOr<ReferenceValue> pattern = makePattern(op, op.getType(), nullptr);
    if (failed(pattern))
      return failure();
    value.pattern = pattern->pattern;
    value.rows = pattern->rows;
    value.cols = pattern->cols;
    return std::vector<ReferenceValue>{std::move(value)};
  }
  SparseTensor sparse = *SparseTensor::get(op.getType());
  value.crowIndices = lookup(op.getCrowIndices()).tensor;
  value.colIndices = lookup(op.getColIndices()).tensor;
  value.rows = sparse.getRows();
  value.cols = sparse.getCols();
  if (ShapedType::isDynamic(value.cols))
    return op.emitOpError("expects a static number of columns, but got ") << op.getType();
  int64_t blockRows = sparse.getBlockRows();
  if (ShapedType::isDynamic(value.rows)) {
    blockRows = value.crowIndices->dim(value.crowIndices->rank() - 1) - 1;
    value.rows = blockRows * sparse.getBlock().rows;
  }
  std::string error;
  std::optional<ref::Pattern> pattern = ref::Pattern::fromCsr(
      sparse.getBlock(), {sparse.getHeads(), blockRows, sparse.getBlockCols()}, *value.crowIndices,
      *value.colIndices, error);
  if (!pattern)
    return op.emitOpError() << error;
  value.pattern = std::make_shared<ref::Pattern>(std::move(*pattern));
  return std::vector<ReferenceValue>{std::move(value)};
}

static Values evaluateOp(DisassembleOp op, ReferenceLookup lookup) {
  ReferenceValue values = lookup(op.getSource());
  std::vector<ReferenceValue> results;
  std::optional<HostTensor> crow = values.crowIndices, col = values.colIndices;
  values.pattern = nullptr;
  values.crowIndices = values.colIndices = std::nullopt;
  results.push_back(values);
  if (op.getCrowIndices())
    for (const HostTensor &indices : {*crow, *col}) {
      ReferenceValue value;
      value.tensor = indices;
      value.type = indices.type();
      results.push_back(value);
    }
  return results;
}

std::optional<Values> mlir::blocksparse::evaluateConversion(Operation *op, ReferenceLookup lookup) {
  using Result = std::optional<Values>;
  return TypeSwitch<Operation *, Result>(op)
      .Case<ToDenseOp, FromDenseOp, TransposeOp, SliceOp, AddOp, AssembleOp, DisassembleOp>(
          [&](auto conversion) -> Result { return evaluateOp(conversion, lookup); })
      .Default([](Operation *) -> Result { return std::nullopt; });
}
