// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WordTable.h"

#include "../../Device/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

Value WordTable::rows(ImplicitLocOpBuilder &b) const {
  return b.createOrFold<arith::IndexCastOp>(b.getI32Type(), memrefDim(b, memref, 0));
}

Value WordTable::load(ImplicitLocOpBuilder &b, Value row, Value column) const {
  return memref::LoadOp::create(b, memref, ValueRange{toIndex(b, row), toIndex(b, column)});
}

Value WordTable::load(ImplicitLocOpBuilder &b, Value position) const {
  return memref::LoadOp::create(b, memref, ValueRange{toIndex(b, position)});
}

void WordTable::store(ImplicitLocOpBuilder &b, Value value, Value row, Value column) const {
  memref::StoreOp::create(b, value, memref, ValueRange{toIndex(b, row), toIndex(b, column)});
}

void WordTable::store(ImplicitLocOpBuilder &b, Value value, Value position) const {
  memref::StoreOp::create(b, value, memref, ValueRange{toIndex(b, position)});
}

void WordTable::storeRow(ImplicitLocOpBuilder &b, Value row, ArrayRef<Value> values) const {
  for (auto [column, value] : llvm::enumerate(values))
    store(b, value, row, static_cast<int64_t>(column));
}
