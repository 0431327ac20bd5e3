// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StreamPanels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t chunkBytes = 16;

LaneAddress LaneAddress::get(ImplicitLocOpBuilder &b, Value lane, bool rowsFirst) {
  Value inner = Int(b, lane) % 8, third = Int(b, lane) / 8 % 2;
  Value fourth = Int(b, lane) / 16;
  Value half = rowsFirst ? third : fourth;
  return {Int(b, inner) + Int(b, half) * 8, rowsFirst ? fourth : third};
}

Value mlir::blocksparse::device::moveChunks(ImplicitLocOpBuilder &b, Value address,
                                            int64_t chunks) {
  return b.createOrFold<arith::XOrIOp>(address, i32Constant(b, chunks * chunkBytes));
}

Value StreamPanels::laneOffset(ImplicitLocOpBuilder &b, Value lane, Order order, Value col) const {
  // The rows of a K-major tile are columns.
  bool rowsFirst = shape.kMajor == (order == Order::ColumnsFirst);
  LaneAddress laneAddress = LaneAddress::get(b, lane, rowsFirst);
  if (shape.kMajor)
    return tile().offset(b, col, laneAddress.row, laneAddress.chunk);
  Value chunk = Int(b, laneAddress.chunk) + Int(b, col) % subtileCols / 8;
  Value matrix = Int(b, col) / subtileCols * (tile().bytes());
  return Int(b, matrix) + tile().offset(b, i32Constant(b, 0), laneAddress.row, chunk);
}

Value StreamPanels::select(ImplicitLocOpBuilder &b, Value first, Value number) const {
  if (perCopy() == 1)
    return Int(b, first) + Int(b, number) * stride();
  // This is moveChunks by a number of chunks that is not constant.
  Value inCopy = Int(b, number) % perCopy();
  Value copy = b.createOrFold<arith::XOrIOp>(number, inCopy);
  Value address = Int(b, first) + Int(b, copy) * stride();
  return b.createOrFold<arith::XOrIOp>(address, Int(b, inCopy) * (shape.block * 2));
}

Value StreamPanels::fragmentAddress(ImplicitLocOpBuilder &b, Value panel, int64_t k,
                                    int64_t n) const {
  // A distance of 16 rows is a constant number of bytes; a distance along a row changes the
  // swizzle.
  int64_t chunks = (shape.kMajor ? k : n % subtileCols) / 8;
  int64_t bytes = shape.kMajor ? n * tile().rowBytes()
                               : n / subtileCols * tile().bytes() + k * tile().rowBytes();
  return Int(b, moveChunks(b, panel, chunks)) + bytes;
}
