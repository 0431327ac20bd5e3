// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionGradTerms.h"

#include "../../Device/Loops.h"
#include "../Kit/TensorMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numbers>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

Value mlir::blocksparse::device::ownRow(ImplicitLocOpBuilder &b, Value thread) {
  return Int(b, Int(b, thread) / 32 * 16) + Int(b, thread) % 32 / 4;
}

Value mlir::blocksparse::device::ownCol(ImplicitLocOpBuilder &b, Value thread) {
  return Int(b, thread) % 4 * 2;
}

SmallVector<Value> mlir::blocksparse::device::readColumnNumbers(ImplicitLocOpBuilder &b,
                                                                Value thread, Value address) {
  constexpr int64_t group = 4;
  SmallVector<Value> result(accumulatorsOfStep);
  // Neighbours along a row belong to neighbouring columns, and so do those 8 rows below them.
  auto pairType = VectorType::get(2, b.getF32Type());
  Value first = Int(b, address) + Int(b, ownCol(b, thread)) * 4;
  for (int64_t i = 0; i < accumulatorsOfStep; i += group) {
    Value pointer = sharedPointer(b, Int(b, first) + colOf(i) * 4);
    Value pair = LLVM::LoadOp::create(b, pairType, pointer, /*alignment=*/8);
    for (int64_t col = 0; col < 2; ++col) {
      Value own = LLVM::ExtractElementOp::create(b, pair, i32Constant(b, col));
      result[i + col] = result[i + 2 + col] = own;
    }
  }
  return result;
}

SmallVector<Value> mlir::blocksparse::device::emitPowers(ImplicitLocOpBuilder &b,
                                                         ArrayRef<Value> scores,
                                                         ArrayRef<Value> shifts, double unit) {
  // Powers of 2 are powers of e of scores that are multiplied by log2(e).
  Value factor = number(b, unit * std::numbers::log2e);
  SmallVector<Value> powers;
  for (auto [score, shift] : llvm::zip_equal(scores, shifts))
    powers.push_back(power(b, fusedMultiplyAdd(b, score, factor, shift)));
  return powers;
}

SmallVector<Value> mlir::blocksparse::device::emitWeights(ImplicitLocOpBuilder &b,
                                                          ArrayRef<Value> powers,
                                                          ArrayRef<Value> derivatives) {
  SmallVector<Value> weights(powers);
  if (!derivatives.empty())
    for (auto [weight, derivative] : llvm::zip_equal(weights, derivatives))
      weight = arith::MulFOp::create(b, weight, derivative);
  return weights;
}

SmallVector<Value> mlir::blocksparse::device::emitScoreGradients(ImplicitLocOpBuilder &b,
                                                                 ArrayRef<Value> weights,
                                                                 ArrayRef<Value> slopes,
                                                                 ArrayRef<Value> sums) {
  SmallVector<Value> result;
  for (auto [weight, slope, sum] : llvm::zip_equal(weights, slopes, sums))
    result.push_back(
        arith::MulFOp::create(b, weight, arith::SubFOp::create(b, slope, sum).getResult()));
  return result;
}
