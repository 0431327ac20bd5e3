// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BlockMap.h"

#include "../../Device/Arith.h"
#include "../../Device/Loops.h"
#include "../../OperandView.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static SmallVector<Value> indicesOf(const BlockMap::Coord &coord) {
  return {coord.batch, coord.head, coord.row, coord.col};
}

BlockMap BlockMap::build(
    ImplicitLocOpBuilder &host, KernelBuilder &kernels, const Grid &grid, ValueRange operands,
    Value work,
    function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, Value, Insert)> visit) {
  SmallVector<Value> sizes{grid.batches, grid.heads, grid.rows, grid.cols};
  auto type = MemRefType::get(SmallVector<int64_t>(4, ShapedType::kDynamic), host.getI32Type());
  Value first = memref::AllocOp::create(host, type, sizes);
  Value counts = memref::AllocOp::create(host, type, sizes);
  BlockMap map(first, counts);
  kernels.launchForEach(host, "clear_block_map", map.buffers(), productOf(host, sizes),
                        [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
                          Value table = mapping.lookup(first);
                          SmallVector<Value> own;
                          for (int64_t axis = 0; axis < 4; ++axis)
                            own.push_back(memrefDim(b, table, axis));
                          SmallVector<Value> index = splitIndex(b, item, own);
                          memref::StoreOp::create(
                              b, i32Constant(b, std::numeric_limits<int32_t>::max()), table, index);
                          memref::StoreOp::create(b, i32Constant(b, 0), mapping.lookup(counts),
                                                  index);
                        });
  SmallVector<Value> arguments(operands);
  arguments.append({first, counts});
  kernels.launchForEach(
      host, "fill_block_map", arguments, work,
      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
        // Minima and integer sums do not depend on the order of the threads.
        visit(b, mapping, item, [&](ImplicitLocOpBuilder &b, const Coord &coord, Value row) {
          SmallVector<Value> index = indicesOf(coord);
          Value number = arith::IndexCastOp::create(b, b.getI32Type(), row);
          memref::AtomicRMWOp::create(b, arith::AtomicRMWKind::mins, number, mapping.lookup(first),
                                      index);
          memref::AtomicRMWOp::create(b, arith::AtomicRMWKind::addi, i32Constant(b, 1),
                                      mapping.lookup(counts), index);
        });
      });
  return map;
}

void BlockMap::release(ImplicitLocOpBuilder &host) const {
  for (Value buffer : buffers())
    memref::DeallocOp::create(host, buffer);
}

Value BlockMap::getFirst(ImplicitLocOpBuilder &b, const IRMapping &mapping,
                         const Coord &coord) const {
  return loadIndex(b, mapping.lookup(first), indicesOf(coord));
}

Value BlockMap::getCount(ImplicitLocOpBuilder &b, const IRMapping &mapping,
                         const Coord &coord) const {
  return loadIndex(b, mapping.lookup(counts), indicesOf(coord));
}
