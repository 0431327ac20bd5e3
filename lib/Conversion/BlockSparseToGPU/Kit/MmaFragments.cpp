// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MmaFragments.h"

#include "SharedTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

SmallVector<Value, 4> mlir::blocksparse::device::loadMatrices(ImplicitLocOpBuilder &b,
                                                              Value pointer, bool transposed) {
  Type word = b.getI32Type();
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), {word, word, word, word});
  Value loaded = NVVM::LdMatrixOp::create(
      b, type, pointer, /*num=*/4, transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8), NVVM::LdStMatrixEltType::B16);
  SmallVector<Value, 4> words;
  for (int64_t i = 0; i < 4; ++i)
    words.push_back(LLVM::ExtractValueOp::create(b, loaded, i));
  return words;
}

void mlir::blocksparse::device::multiplyAddFragments(ImplicitLocOpBuilder &b, Type element,
                                                     ValueRange left, ValueRange right,
                                                     MutableArrayRef<Value> accumulators) {
  // The operation expects pairs of f16 as vectors, but pairs of bf16 as words.
  auto pairs = [&](ValueRange words) {
    SmallVector<Value, 4> result(words);
    if (element.isF16())
      for (Value &word : result)
        word = LLVM::BitcastOp::create(b, VectorType::get(2, element), word);
    return result;
  };
  Type sum = accumulators.front().getType();
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), {sum, sum, sum, sum});
  auto setAccumulators = [&](Value result) {
    for (int64_t i = 0; i < 4; ++i)
      accumulators[i] = LLVM::ExtractValueOp::create(b, result, i);
  };
  if (element.isF64()) {
    // nvvm.mma.sync has no such shape.
    SmallVector<Value> operands(left);
    llvm::append_range(operands, right);
    llvm::append_range(operands, accumulators);
    return setAccumulators(
        LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr("llvm.nvvm.mma.m16n8k4.row.col.f64"),
                                      operands)
            ->getResult(0));
  }
  NVVM::MMATypes kind = element.isInteger() ? NVVM::MMATypes::s8
                        : element.isF16()   ? NVVM::MMATypes::f16
                        : element.isF32()   ? NVVM::MMATypes::tf32
                                            : NVVM::MMATypes::bf16;
  std::optional<NVVM::MMAIntOverflow> overflow;
  if (element.isInteger())
    overflow = NVVM::MMAIntOverflow::wrapped;
  int64_t depth = 256 / element.getIntOrFloatBitWidth();
  Value result = NVVM::MmaOp::create(
      b, type, pairs(left), pairs(right), ValueRange(accumulators), ArrayRef<int64_t>{16, 8, depth},
      std::nullopt, overflow, std::array<NVVM::MMATypes, 2>{kind, kind},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
  setAccumulators(result);
}

Value mlir::blocksparse::device::roundToTF32(ImplicitLocOpBuilder &b, Value word) {
  Value number = LLVM::BitcastOp::create(b, b.getF32Type(), word);
  return NVVM::ConvertFloatToTF32Op::create(b, b.getI32Type(), number, NVVM::FPRoundingMode::RNA);
}

/// In lanes with t >= 2 the first word contains the second pair of the lane's values of k.
ByteSelectors ByteSelectors::get(ImplicitLocOpBuilder &b, Value lane) {
  constexpr int64_t straight = 0x6420, swapped = 0x2064, toOdd = 0x1111;
  Value isSwapped =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, Int(b, lane) / 2 % 2, i32Constant(b, 0));
  Value even =
      arith::SelectOp::create(b, isSwapped, i32Constant(b, swapped), i32Constant(b, straight));
  return {even, Int(b, even) + toOdd};
}

/// The lane passes a row of matrix i = lane / 8. Row bit 0 is lane bit 0. Row bit 1 is bit 0 of i
/// (lane bit 3) xor lane bit 2. Row bits 2 and 3 are lane bits 1 and 2. Row bit 4 is bit 1 of i
/// (lane bit 4).
Value mlir::blocksparse::device::getByteRow(ImplicitLocOpBuilder &b, Value lane) {
  auto bit = [&](int64_t number) { return Int(b, lane) / (1 << number) % 2; };
  Value row = Int(b, bit(0)) + Int(b, b.createOrFold<arith::XOrIOp>(bit(3), bit(2))) * 2;
  row = Int(b, row) + Int(b, lane) / 2 % 4 * 4;
  return Int(b, row) + Int(b, bit(4)) * 16;
}

Value mlir::blocksparse::device::joinBytes(ImplicitLocOpBuilder &b, Value low, Value high,
                                           Value selector) {
  return NVVM::PermuteOp::create(b, b.getI32Type(), low, high, selector,
                                 NVVM::PermuteMode::DEFAULT);
}

Value mlir::blocksparse::device::widenF8(ImplicitLocOpBuilder &b, Type element, Value word,
                                         int64_t half) {
  Value shifted = Int(b, word) / (int64_t(1) << (16 * half));
  Value pair = arith::TruncIOp::create(b, b.getI16Type(), shifted);
  pair = LLVM::BitcastOp::create(b, VectorType::get(2, b.getI8Type()), pair);
  Value wide = NVVM::ConvertF8x2ToF16x2Op::create(b, VectorType::get(2, b.getF16Type()), pair,
                                                  /*relu=*/false, element);
  return LLVM::BitcastOp::create(b, b.getI32Type(), wide);
}

Value mlir::blocksparse::device::packPair(ImplicitLocOpBuilder &b, Type element, Value low,
                                          Value high) {
  Value pair = LLVM::PoisonOp::create(b, VectorType::get(2, b.getF32Type()));
  pair = LLVM::InsertElementOp::create(b, pair, low, i32Constant(b, 0));
  pair = LLVM::InsertElementOp::create(b, pair, high, i32Constant(b, 1));
  Value rounded = LLVM::FPTruncOp::create(b, VectorType::get(2, element), pair);
  return LLVM::BitcastOp::create(b, b.getI32Type(), rounded);
}

SmallVector<Value> mlir::blocksparse::device::packPairs(ImplicitLocOpBuilder &b, Type element,
                                                        ArrayRef<Value> values) {
  SmallVector<Value> words;
  for (size_t i = 0; i < values.size(); i += 2)
    words.push_back(packPair(b, element, values[i], values[i + 1]));
  return words;
}

void mlir::blocksparse::device::storeMatrices(ImplicitLocOpBuilder &b, Value pointer,
                                              ValueRange words, bool transposed) {
  NVVM::StMatrixOp::create(
      b, pointer, words, transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8), NVVM::LdStMatrixEltType::B16);
}
