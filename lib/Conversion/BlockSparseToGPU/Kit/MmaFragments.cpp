// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MmaFragments.h"

#include "SharedTile.h"
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
                                                     MutableArrayRef<Value> sums) {
  // The op wants pairs of f16 as vectors and pairs of bf16 as words.
  auto pairs = [&](ValueRange words) {
    SmallVector<Value, 4> result(words);
    if (element.isF16())
      for (Value &word : result)
        word = LLVM::BitcastOp::create(b, VectorType::get(2, element), word);
    return result;
  };
  Type f32 = b.getF32Type();
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), {f32, f32, f32, f32});
  NVVM::MMATypes kind = element.isF16()   ? NVVM::MMATypes::f16
                        : element.isF32() ? NVVM::MMATypes::tf32
                                          : NVVM::MMATypes::bf16;
  int64_t depth = element.isF32() ? 8 : 16;
  Value result = NVVM::MmaOp::create(
      b, type, pairs(left), pairs(right), ValueRange(sums), ArrayRef<int64_t>{16, 8, depth},
      std::nullopt, std::nullopt, std::array<NVVM::MMATypes, 2>{kind, kind},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
  for (int64_t i = 0; i < 4; ++i)
    sums[i] = LLVM::ExtractValueOp::create(b, result, i);
}

Value mlir::blocksparse::device::roundToTF32(ImplicitLocOpBuilder &b, Value word) {
  Value number = LLVM::BitcastOp::create(b, b.getF32Type(), word);
  return NVVM::ConvertFloatToTF32Op::create(b, b.getI32Type(), number, NVVM::FPRoundingMode::RNA);
}

Value mlir::blocksparse::device::packPair(ImplicitLocOpBuilder &b, Type element, Value low,
                                          Value high) {
  Value pair = LLVM::PoisonOp::create(b, VectorType::get(2, b.getF32Type()));
  pair = LLVM::InsertElementOp::create(b, pair, low, sharedConstant(b, 0));
  pair = LLVM::InsertElementOp::create(b, pair, high, sharedConstant(b, 1));
  Value rounded = LLVM::FPTruncOp::create(b, VectorType::get(2, element), pair);
  return LLVM::BitcastOp::create(b, b.getI32Type(), rounded);
}

void mlir::blocksparse::device::storeMatrices(ImplicitLocOpBuilder &b, Value pointer,
                                              ValueRange words, bool transposed) {
  NVVM::StMatrixOp::create(
      b, pointer, words, transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8), NVVM::LdStMatrixEltType::B16);
}
