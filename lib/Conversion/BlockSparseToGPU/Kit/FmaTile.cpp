// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FmaTile.h"

#include "../../Device/Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

SmallVector<Value> FmaTile::load(ImplicitLocOpBuilder &builder, const SharedMemory &memory,
                                 const SharedTile &tile, Value offset, Value base,
                                 int64_t constantRows, Value row, Value col, int64_t count) const {
  Value chunk = Int(builder, col) / perChunk();
  Value inTile = tile.offset(builder, base, row, chunk);
  inTile = Int(builder, inTile) + Int(builder, col) % perChunk() * bytes();
  Value pointer = memory.at(builder, Int(builder, offset) + inTile, constantRows * tile.rowBytes());
  if (count == 1)
    return {LLVM::LoadOp::create(builder, element, pointer, bytes())};
  Value vector = LLVM::LoadOp::create(builder, VectorType::get(count, element), pointer,
                                      /*alignment=*/count * bytes());
  SmallVector<Value> elements;
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(LLVM::ExtractElementOp::create(builder, vector, i32Constant(builder, i)));
  return elements;
}

SmallVector<Value> FmaTile::loadSlice(ImplicitLocOpBuilder &builder, const SharedMemory &memory,
                                      Value aOffset, Value bOffset, int64_t slice) const {
  const int64_t k = slice * depth;
  Value g = Int(builder, lane) / 4, t = Int(builder, lane) % 4, zero = i32Constant(builder, 0);
  SmallVector<Value> left(ownRows() * depth), right(depth * ownCols());
  // Loads of one element of each of `depth` rows k of a tile that is [k][m or n], or of neighbours
  // k of a row of a tile that is [m or n][k].
  for (int64_t i = 0; i < ownRows(); ++i) {
    if (a.kMajor) {
      SmallVector<Value> elements =
          load(builder, memory, a.tile, aOffset, a.first, i / 2 * 16, Int(builder, g) + i % 2 * 8,
               i32Constant(builder, k), depth);
      llvm::copy(elements, left.begin() + i * depth);
      continue;
    }
    for (int64_t j = 0; j < depth; ++j) {
      Value row = Int(builder, a.first) + Int(builder, g) + 8 * i;
      left[i * depth + j] =
          load(builder, memory, a.tile, aOffset, zero, 0, i32Constant(builder, k + j), row, 1)
              .front();
    }
  }
  for (int64_t c = 0; c < ownCols() / perChunk(); ++c) {
    Value col = Int(builder, t) * perChunk() + 4 * perChunk() * c;
    if (!b.kMajor) {
      for (int64_t j = 0; j < depth; ++j) {
        SmallVector<Value> elements =
            load(builder, memory, b.tile, bOffset, zero, 0, i32Constant(builder, k + j),
                 Int(builder, b.first) + col, perChunk());
        llvm::copy(elements, right.begin() + j * ownCols() + c * perChunk());
      }
      continue;
    }
    for (int64_t e = 0; e < perChunk(); ++e) {
      SmallVector<Value> elements = load(builder, memory, b.tile, bOffset, b.first, 0,
                                         Int(builder, col) + e, i32Constant(builder, k), depth);
      for (int64_t j = 0; j < depth; ++j)
        right[j * ownCols() + c * perChunk() + e] = elements[j];
    }
  }
  llvm::append_range(left, right);
  return left;
}

void FmaTile::multiplySlice(ImplicitLocOpBuilder &builder, ValueRange elements,
                            MutableArrayRef<Value> accumulators) const {
  ValueRange left = elements.take_front(ownRows() * depth),
             right = elements.drop_front(ownRows() * depth);
  for (int64_t j = 0; j < depth; ++j)
    for (int64_t row = 0; row < ownRows(); ++row)
      for (int64_t col = 0; col < ownCols(); ++col) {
        Value &sum = accumulators[row * ownCols() + col];
        sum = multiplyAdd(builder, left[row * depth + j], right[j * ownCols() + col], sum);
      }
}

void FmaTile::storeAccumulators(ImplicitLocOpBuilder &builder, const SharedMemory &memory,
                                ValueRange accumulators,
                                function_ref<Value(Value row, Value col)> offsetOf) const {
  Value row = Int(builder, a.first) + Int(builder, lane) / 4;
  Value col = Int(builder, b.first) + Int(builder, lane) % 4 * perChunk();
  for (int64_t i = 0; i < ownRows(); ++i)
    for (int64_t c = 0; c < ownCols() / perChunk(); ++c) {
      Value chunk = LLVM::PoisonOp::create(builder, VectorType::get(perChunk(), element));
      for (int64_t e = 0; e < perChunk(); ++e)
        chunk = LLVM::InsertElementOp::create(builder, chunk,
                                              accumulators[i * ownCols() + c * perChunk() + e],
                                              i32Constant(builder, e));
      memory.store(builder, chunk,
                   offsetOf(Int(builder, row) + 8 * i, Int(builder, col) + 4 * perChunk() * c),
                   /*alignment=*/SharedTile::chunkBytes);
    }
}
