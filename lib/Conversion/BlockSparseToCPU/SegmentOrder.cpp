// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SegmentOrder.h"

#include "PanelKernel.h"
#include "TaskLoop.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;

void SegmentOrder::sort(
    ImplicitLocOpBuilder &b, const LutView &table, Value keys, Value batches,
    llvm::function_ref<Value(ImplicitLocOpBuilder &, Value batch, Value row)> keyOf) {
  Value zero = indexConstant(b, 0), one = indexConstant(b, 1);
  Value tables = batched ? batches : one;
  auto type = MemRefType::get({ShapedType::kDynamic, ShapedType::kDynamic}, b.getIndexType());
  // There are two more offsets than keys: while rows are placed, entry key + 1 counts up from the
  // first position of the key to the first position of the next key.
  offsets = allocateScratch(b, type, {tables, Int(b, keys) + 2});
  rowsInOrder = allocateScratch(b, type, {tables, table.rows()});

  auto bump = [&](Value batch, Value slot) {
    Value old = memref::LoadOp::create(b, offsets, ValueRange{batch, slot});
    memref::StoreOp::create(b, Int(b, old) + one, offsets, ValueRange{batch, slot});
    return old;
  };
  OpBuilder::InsertionGuard guard(b);
  Value batch = enterLoop(b, zero, tables, 1);
  {
    OpBuilder::InsertionGuard inner(b);
    Value slot = enterLoop(b, zero, Int(b, keys) + 2, 1);
    memref::StoreOp::create(b, zero, offsets, ValueRange{batch, slot});
  }
  {
    OpBuilder::InsertionGuard inner(b);
    Value row = enterLoop(b, zero, table.rows(), 1);
    bump(batch, Int(b, keyOf(b, batch, row)) + 2);
  }
  {
    OpBuilder::InsertionGuard inner(b);
    Value slot = enterLoop(b, one, Int(b, keys) + 2, 1);
    Value before = memref::LoadOp::create(b, offsets, ValueRange{batch, Int(b, slot) - one});
    Value own = memref::LoadOp::create(b, offsets, ValueRange{batch, slot});
    memref::StoreOp::create(b, Int(b, own) + before, offsets, ValueRange{batch, slot});
  }
  Value row = enterLoop(b, zero, table.rows(), 1);
  Value position = bump(batch, Int(b, keyOf(b, batch, row)) + one);
  memref::StoreOp::create(b, row, rowsInOrder, ValueRange{batch, position});
}

void SegmentOrder::release(ImplicitLocOpBuilder &b) {
  freeScratch(b, offsets);
  freeScratch(b, rowsInOrder);
}

Value SegmentOrder::begin(ImplicitLocOpBuilder &b, Value batch, Value key) const {
  Value table = batched ? batch : indexConstant(b, 0);
  return memref::LoadOp::create(b, offsets, ValueRange{table, key});
}

Value SegmentOrder::end(ImplicitLocOpBuilder &b, Value batch, Value key) const {
  return begin(b, batch, Int(b, key) + 1);
}

Value SegmentOrder::row(ImplicitLocOpBuilder &b, Value batch, Value position) const {
  Value table = batched ? batch : indexConstant(b, 0);
  return memref::LoadOp::create(b, rowsInOrder, ValueRange{table, position});
}
