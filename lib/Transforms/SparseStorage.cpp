// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SparseStorage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blocksparse;

SparseStorage SparseStorage::get(Type type, ValueRange parts) {
  SparseStorage storage{*SparseTensor::get(type), {}, {}, parts.back()};
  if (!storage.type.isStatic()) {
    storage.crow = parts[0];
    storage.col = parts[1];
  }
  return storage;
}

SmallVector<Value> SparseStorage::withValues(Value newValues) const {
  return type.isStatic() ? SmallVector<Value>{newValues} : SmallVector<Value>{crow, col, newValues};
}

static bool isBooleanTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.getEncoding() && tensor.getElementType().isInteger(1);
}

SparseStorageConverter::SparseStorageConverter() {
  addConversion([](Type type) { return type; });
  addConversion(
      [](RankedTensorType type, SmallVectorImpl<Type> &parts) -> std::optional<LogicalResult> {
        std::optional<SparseTensor> sparse = SparseTensor::get(type);
        if (!sparse)
          return std::nullopt;
        if (!sparse->isStatic())
          parts.append({sparse->getCrowType(), sparse->getColType()});
        parts.push_back(sparse->getValuesType());
        return success();
      });
  addConversion([](RankedTensorType type) -> std::optional<Type> {
    if (!isBooleanTensor(type))
      return std::nullopt;
    return type.clone(IntegerType::get(type.getContext(), 8));
  });
  addTargetMaterialization(
      [](OpBuilder &builder, RankedTensorType type, ValueRange inputs, Location loc) -> Value {
        if (inputs.size() != 1 || !isBooleanTensor(inputs.front().getType()))
          return {};
        return arith::ExtUIOp::create(builder, loc, type, inputs.front());
      });
  addSourceMaterialization(
      [](OpBuilder &builder, RankedTensorType type, ValueRange inputs, Location loc) -> Value {
        if (inputs.size() != 1 || !isBooleanTensor(type))
          return {};
        Type bytes = inputs.front().getType();
        Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(bytes));
        return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, inputs.front(), zero);
      });
}

Value mlir::blocksparse::sizeOf(OpBuilder &builder, Location loc, Value tensor, int64_t dim) {
  return builder.createOrFold<tensor::DimOp>(loc, tensor, dim);
}

FailureOr<Value> OperandSizes::leading(int64_t fromEnd) const {
  Location loc = op->getLoc();
  for (Value dense : denseOperands) {
    auto type = cast<RankedTensorType>(dense.getType());
    int64_t dim = type.getRank() - 1 - fromEnd;
    if (dim >= 0 && type.isDynamicDim(dim))
      return sizeOf(builder, loc, dense, dim);
  }
  for (const SparseStorage &sparse : sparseOperands) {
    if (fromEnd == 3 && sparse.type.getRank() == 4 && sparse.type.getType().isDynamicDim(0))
      return sizeOf(builder, loc, sparse.values, 0);
    // Each of the heads that share a static layout has nnz value blocks.
    const ::blocksparse::BlockLayout *layout =
        sparse.type.isStatic() ? sparse.type.getLayout().resolve() : nullptr;
    if (fromEnd == 2 && ShapedType::isDynamic(sparse.type.getHeads()) && layout &&
        layout->nnz() > 0) {
      int64_t blocksDim = cast<RankedTensorType>(sparse.values.getType()).getRank() - 3;
      Value nnz = arith::ConstantIndexOp::create(builder, loc, layout->nnz());
      return builder.createOrFold<arith::DivUIOp>(
          loc, sizeOf(builder, loc, sparse.values, blocksDim), nnz);
    }
  }
  return op->emitOpError() << "expects an operand that tells the number of "
                           << (fromEnd == 3 ? "batches" : "heads")
                           << " of its result, but got a dynamic size in the result alone";
}

FailureOr<Value> OperandSizes::rows(const SparseStorage &sparse) const {
  Location loc = op->getLoc();
  int64_t rows = sparse.type.getRows();
  if (!ShapedType::isDynamic(rows))
    return Value(arith::ConstantIndexOp::create(builder, loc, rows));
  int64_t dim = cast<RankedTensorType>(sparse.crow.getType()).getRank() - 1;
  Value offsets = sizeOf(builder, loc, sparse.crow, dim);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value block = arith::ConstantIndexOp::create(builder, loc, sparse.type.getBlock().rows);
  Value blocks = builder.createOrFold<arith::SubIOp>(loc, offsets, one);
  return builder.createOrFold<arith::MulIOp>(loc, blocks, block);
}

FailureOr<Value> OperandSizes::cols(const SparseStorage &sparse) const {
  int64_t cols = sparse.type.getCols();
  if (!ShapedType::isDynamic(cols))
    return Value(arith::ConstantIndexOp::create(builder, op->getLoc(), cols));
  return op->emitOpError() << "expects a static number of columns where its result depends on it, "
                              "but got "
                           << sparse.type.getType();
}

FailureOr<Value> OperandSizes::createInit(RankedTensorType type,
                                          function_ref<FailureOr<Value>(int64_t)> size) const {
  SmallVector<Value> dynamic;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      continue;
    FailureOr<Value> value = size(dim);
    if (failed(value))
      return failure();
    dynamic.push_back(*value);
  }
  return Value(tensor::EmptyOp::create(builder, op->getLoc(), type, dynamic));
}

FailureOr<Value> OperandSizes::createMatrixInit(RankedTensorType type,
                                                function_ref<FailureOr<Value>()> rowSize,
                                                function_ref<FailureOr<Value>()> colSize) const {
  return createInit(type, [&](int64_t dim) -> FailureOr<Value> {
    int64_t fromEnd = type.getRank() - 1 - dim;
    return fromEnd == 0 ? colSize() : fromEnd == 1 ? rowSize() : leading(fromEnd);
  });
}

FailureOr<Value> OperandSizes::createValuesInit(const SparseTensor &type) const {
  RankedTensorType values = type.getValuesType();
  return createInit(values, [&](int64_t dim) -> FailureOr<Value> {
    if (values.getRank() == 4 && dim == 0)
      return leading(3);
    // The number of blocks is dynamic only if the number of heads is.
    FailureOr<Value> heads = leading(2);
    if (failed(heads))
      return failure();
    Location loc = op->getLoc();
    Value nnz = arith::ConstantIndexOp::create(builder, loc, type.getLayout().resolve()->nnz());
    return builder.createOrFold<arith::MulIOp>(loc, *heads, nnz);
  });
}

Value OperandSizes::createInitLike(Value tensor, Type element) const {
  auto type = cast<RankedTensorType>(tensor.getType()).clone(element);
  return *createInit(cast<RankedTensorType>(type), [&](int64_t dim) -> FailureOr<Value> {
    return sizeOf(builder, op->getLoc(), tensor, dim);
  });
}
