// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Chunk.h"

#include "../../Device/Elements.h"
#include "../../Device/Opaque.h"
#include "AsyncCopy.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t widestAccess = 16;

static int64_t getCount(Value chunk) { return cast<VectorType>(chunk.getType()).getDimSize(0); }

static Value positionOf(ImplicitLocOpBuilder &b, int64_t element) {
  return arith::ConstantIntOp::create(b, b.getI32Type(), element);
}

static unsigned getAlignment(VectorType type) {
  return std::min(type.getNumElements() * type.getElementTypeBitWidth() / 8, widestAccess);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value mlir::blocksparse::device::loadChunk(ImplicitLocOpBuilder &b, const MatrixView &matrix,
                                           Value row, Value col, int64_t count) {
  if (matrix.broadcastsColumns)
    return matrix.load(b, row, col);
  auto type = VectorType::get({count}, matrix.elementType());
  Value pointer = globalPointer(b, globalAddress(b, matrix, row, col));
  return LLVM::LoadOp::create(b, type, pointer, getAlignment(type));
}

void mlir::blocksparse::device::storeChunk(ImplicitLocOpBuilder &b, Value chunk,
                                           const MatrixView &matrix, Value row, Value col) {
  Value pointer = globalPointer(b, globalAddress(b, matrix, row, col));
  LLVM::StoreOp::create(b, chunk, pointer, getAlignment(cast<VectorType>(chunk.getType())));
}

/// Returns the vector, made opaque as i32 words.
static Value keepVector(ImplicitLocOpBuilder &b, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  int64_t count = llvm::divideCeil(type.getNumElements() * type.getElementTypeBitWidth(), 32);
  auto words = VectorType::get({count}, b.getI32Type());
  Value packed = type == words ? vector : LLVM::BitcastOp::create(b, words, vector).getResult();
  // A statement takes the four words that one instruction loads.
  constexpr int64_t most = 4;
  for (int64_t first = 0; first < count; first += most) {
    SmallVector<Value> parts;
    for (int64_t i = first; i < std::min(first + most, count); ++i)
      parts.push_back(LLVM::ExtractElementOp::create(b, packed, positionOf(b, i)));
    for (auto [i, part] : llvm::enumerate(makeOpaque(b, parts)))
      packed = LLVM::InsertElementOp::create(b, packed, part,
                                             positionOf(b, first + static_cast<int64_t>(i)));
  }
  return type == words ? packed : LLVM::BitcastOp::create(b, type, packed).getResult();
}

static Value keepScalar(ImplicitLocOpBuilder &b, Value scalar) {
  Type type = scalar.getType(), word = b.getI32Type();
  if (isa<IndexType>(type)) {
    Value number = arith::IndexCastOp::create(b, word, scalar);
    number = makeOpaque(b, number);
    return arith::IndexCastOp::create(b, type, number);
  }
  unsigned width = type.getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(width);
  Value bits =
      isa<FloatType>(type) ? arith::BitcastOp::create(b, integer, scalar).getResult() : scalar;
  if (width < 32)
    bits = arith::ExtUIOp::create(b, word, bits);
  bits = makeOpaque(b, bits);
  if (width < 32)
    bits = arith::TruncIOp::create(b, integer, bits);
  return isa<FloatType>(type) ? arith::BitcastOp::create(b, type, bits).getResult() : bits;
}

SmallVector<Value> mlir::blocksparse::device::afterLoads(ImplicitLocOpBuilder &b,
                                                         ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) {
    return isa<VectorType>(value.getType()) ? keepVector(b, value) : keepScalar(b, value);
  });
}

//===----------------------------------------------------------------------===//
// Constants and conversions
//===----------------------------------------------------------------------===//

Value mlir::blocksparse::device::splatChunk(ImplicitLocOpBuilder &b, Value scalar, int64_t count) {
  Value chunk = LLVM::PoisonOp::create(b, VectorType::get({count}, scalar.getType()));
  for (int64_t i = 0; i < count; ++i)
    chunk = LLVM::InsertElementOp::create(b, chunk, scalar, positionOf(b, i));
  return chunk;
}

Value mlir::blocksparse::device::fillChunk(ImplicitLocOpBuilder &b, Value loaded, int64_t count) {
  return isa<VectorType>(loaded.getType()) ? loaded : splatChunk(b, loaded, count);
}

Value mlir::blocksparse::device::constantChunk(ImplicitLocOpBuilder &b, double number,
                                               int64_t count) {
  auto type = VectorType::get({count}, b.getF32Type());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, static_cast<float>(number)));
}

Value mlir::blocksparse::device::zeroChunk(ImplicitLocOpBuilder &b, Type type, int64_t count) {
  return arith::ConstantOp::create(b, b.getZeroAttr(VectorType::get({count}, type)));
}

Value mlir::blocksparse::device::widenChunk(ImplicitLocOpBuilder &b, Value chunk) {
  auto type = cast<VectorType>(chunk.getType());
  auto wide = VectorType::get(type.getShape(), b.getF32Type());
  if (type == wide)
    return chunk;
  if (isa<FloatType>(type.getElementType()))
    return arith::ExtFOp::create(b, wide, chunk);
  return arith::SIToFPOp::create(b, wide, chunk);
}

Value mlir::blocksparse::device::narrowChunk(ImplicitLocOpBuilder &b, Value chunk, Type type) {
  auto narrow = VectorType::get({getCount(chunk)}, type);
  if (chunk.getType() == narrow)
    return chunk;
  return arith::TruncFOp::create(b, narrow, chunk);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value mlir::blocksparse::device::firstOfChunk(ImplicitLocOpBuilder &b, Value limit, int64_t count) {
  // The limit is clamped to [0, count] so that an i32 comparison is exact.
  limit = indexMax(b, indexMin(b, limit, indexConstant(b, count)), indexConstant(b, 0));
  limit = arith::IndexCastOp::create(b, b.getI32Type(), limit);
  SmallVector<int32_t> numbers = llvm::to_vector(llvm::seq<int32_t>(0, count));
  Value number = arith::ConstantOp::create(b, b.getI32VectorAttr(numbers));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, number, splatChunk(b, limit, count));
}

Value mlir::blocksparse::device::nonzeroChunk(ImplicitLocOpBuilder &b, Value chunk) {
  auto type = cast<VectorType>(chunk.getType());
  Value zero = zeroChunk(b, type.getElementType(), type.getDimSize(0));
  if (isa<FloatType>(type.getElementType()))
    return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, chunk, zero);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, chunk, zero);
}

Value mlir::blocksparse::device::foldChunk(
    ImplicitLocOpBuilder &b, Value chunk,
    function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> combine) {
  SmallVector<Value> parts;
  for (int64_t i = 0, count = getCount(chunk); i < count; ++i)
    parts.push_back(LLVM::ExtractElementOp::create(b, chunk, positionOf(b, i)));
  for (size_t half = parts.size() / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i)
      parts[i] = combine(b, parts[i], parts[i + half]);
  return parts.front();
}

Value mlir::blocksparse::device::exp2Chunk(ImplicitLocOpBuilder &b, Value chunk) {
  Value result = LLVM::PoisonOp::create(b, chunk.getType());
  for (int64_t i = 0, count = getCount(chunk); i < count; ++i) {
    Value x = LLVM::ExtractElementOp::create(b, chunk, positionOf(b, i));
    Value power = LLVM::CallIntrinsicOp::create(b, x.getType(),
                                                b.getStringAttr("llvm.nvvm.ex2.approx.ftz"), x)
                      .getResult(0);
    result = LLVM::InsertElementOp::create(b, result, power, positionOf(b, i));
  }
  return result;
}

Value mlir::blocksparse::device::maximumOf(ImplicitLocOpBuilder &b, Value x, Value y) {
  return arith::MaximumFOp::create(b, x, y);
}

Value mlir::blocksparse::device::sumOf(ImplicitLocOpBuilder &b, Value x, Value y) {
  return arith::AddFOp::create(b, x, y);
}
