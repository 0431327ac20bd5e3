// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IndexArray.h"

#include "../OperandView.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;

IndexArray::IndexArray(Value memref, int64_t rank)
    : memref(memref), batched(cast<MemRefType>(memref.getType()).getRank() > rank) {}

Value IndexArray::size(ImplicitLocOpBuilder &b, int64_t axis) const {
  return memrefDim(b, memref, axis + (batched ? 1 : 0));
}

Value IndexArray::load(ImplicitLocOpBuilder &b, Value batch, ValueRange at) const {
  return loadIndex(b, memref, position(batch, at));
}

void IndexArray::store(ImplicitLocOpBuilder &b, Value value, Value batch, ValueRange at) const {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  Value narrow = b.createOrFold<arith::IndexCastOp>(element, value);
  memref::StoreOp::create(b, narrow, memref, position(batch, at));
}

void IndexArray::increment(ImplicitLocOpBuilder &b, Value batch, ValueRange at) const {
  store(b, Int(b, load(b, batch, at)) + 1, batch, at);
}

void IndexArray::storeRow(ImplicitLocOpBuilder &b, ArrayRef<Value> fields, Value batch,
                          Value row) const {
  for (auto [i, field] : llvm::enumerate(fields))
    store(b, field, batch, {row, indexConstant(b, i)});
}

SmallVector<Value> IndexArray::position(Value batch, ValueRange at) const {
  SmallVector<Value> indices;
  if (batched)
    indices.push_back(batch);
  llvm::append_range(indices, at);
  return indices;
}

RuntimePattern::RuntimePattern(ImplicitLocOpBuilder &b, Value crowIndices, Value colIndices)
    : crow(crowIndices, 1), col(colIndices, 1) {
  rows = Int(b, crow.size(b, 0)) - 1;
  room = col.size(b, 0);
  bool batched = cast<MemRefType>(crowIndices.getType()).getRank() > 1;
  batches = batched ? memrefDim(b, crowIndices, 0) : indexConstant(b, 1);
}

Value RuntimePattern::used(ImplicitLocOpBuilder &b, Value batch) const {
  return crow.load(b, batch, {rows});
}

void RuntimePattern::forEachBlock(
    ImplicitLocOpBuilder &b, Value batch,
    llvm::function_ref<void(ImplicitLocOpBuilder &, Value row, Value col, Value index)> body)
    const {
  emitLoop(b, indexConstant(b, 0), rows, 1, [&](ImplicitLocOpBuilder &b, Value row) {
    Value next = Int(b, row) + 1;
    emitLoop(b, crow.load(b, batch, {row}), crow.load(b, batch, {next}), 1,
             [&](ImplicitLocOpBuilder &b, Value index) {
               body(b, row, col.load(b, batch, {index}), index);
             });
  });
}
