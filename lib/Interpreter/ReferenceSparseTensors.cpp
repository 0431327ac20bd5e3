// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ReferenceSparseTensors.h"
#include "blocksparse/IR/UpstreamBsr.h"
#include "blocksparse/Reference/Conversions.h"

#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::HostTensor;
namespace ref = ::blocksparse::ref;

bool mlir::blocksparse::isKnownSparseTensorOp(Operation *op) {
  if (auto assemble = dyn_cast<sparse_tensor::AssembleOp>(op))
    return getUpstreamBsr(assemble.getResult().getType()).has_value();
  auto convert = dyn_cast<sparse_tensor::ConvertOp>(op);
  return convert && getUpstreamBsr(convert.getSource().getType()) &&
         !cast<RankedTensorType>(convert.getDest().getType()).getEncoding();
}

/// Returns a vector of values, or of the errors of values, as the dense matrix [rows, cols].
static std::optional<HostTensor> makeDense(const HostTensor &values, const ref::Pattern &pattern,
                                           int64_t rows, int64_t cols, std::string &error) {
  const int64_t shape[] = {pattern.valueBlocks(), pattern.block().rows, pattern.block().cols};
  std::optional<HostTensor> blocks = values.contiguous().reshape(shape, error);
  if (!blocks)
    return std::nullopt;
  std::optional<HostTensor> dense = ref::toDense({*blocks, pattern, rows, cols}, error);
  return dense ? std::optional(dense->select(0, 0).select(0, 0).contiguous()) : std::nullopt;
}

static FailureOr<ReferenceValue> assemble(sparse_tensor::AssembleOp op, ReferenceLookup lookup) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  const ::blocksparse::BlockShape block = getUpstreamBsr(type)->block;
  const HostTensor &positions = lookup(op.getLevels()[0]).tensor;
  const HostTensor &coordinates = lookup(op.getLevels()[1]).tensor;
  const ReferenceValue &values = lookup(op.getValues());
  const int64_t gridRows = positions.dim(0) - 1;
  if (type.isDynamicDim(1))
    return op.emitOpError("expects a static number of columns to be checked, but got ") << type;
  const int64_t rows = type.isDynamicDim(0) ? gridRows * block.rows : type.getDimSize(0);
  const int64_t cols = type.getDimSize(1);
  std::string error;
  auto pattern = ref::Pattern::fromCsr(block, {1, gridRows, (cols + block.cols - 1) / block.cols},
                                       positions, coordinates, error);
  std::optional<HostTensor> dense =
      pattern ? makeDense(values.tensor, *pattern, rows, cols, error) : std::nullopt;
  if (!dense)
    return op.emitOpError() << error;
  ReferenceValue result;
  result.tensor = *dense;
  result.type = values.type;
  result.model = values.model;
  if (!values.isExact()) {
    result.addError(*makeDense(values.getErrorBound(), *pattern, rows, cols, error));
    result.scale->range = values.getRange();
  }
  return result;
}

FailureOr<std::vector<ReferenceValue>>
mlir::blocksparse::evaluateSparseTensorOp(Operation *op, ReferenceLookup lookup) {
  if (auto convert = dyn_cast<sparse_tensor::ConvertOp>(op))
    return std::vector{lookup(convert.getSource())};
  FailureOr<ReferenceValue> value = assemble(cast<sparse_tensor::AssembleOp>(op), lookup);
  if (failed(value))
    return failure();
  return std::vector{std::move(*value)};
}
