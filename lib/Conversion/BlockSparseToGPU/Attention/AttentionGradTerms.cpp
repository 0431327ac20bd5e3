// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionGradTerms.h"

#include "../../Device/Loops.h"
#include "../Kit/TensorMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>
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

SmallVector<Value> mlir::blocksparse::device::maskBeyondDiagonal(
    ImplicitLocOpBuilder &b, ArrayRef<Value> scores, Value isMasked, Value thread,
    function_ref<std::pair<Value, Value>(ImplicitLocOpBuilder &)> place, bool keysAreRows) {
  return emitChoices(
      b, isMasked,
      [&](ImplicitLocOpBuilder &b) {
        // The row of the thread minus its column, in elements of the scores.
        auto [row, col] = place(b);
        Value distance =
            Int(b, Int(b, row) + ownRow(b, thread)) - (Int(b, col) + ownCol(b, thread));
        Value lowest = number(b, -std::numeric_limits<double>::infinity());
        const auto allowed = keysAreRows ? arith::CmpIPredicate::sle : arith::CmpIPredicate::sge;
        SmallVector<Value> result;
        for (auto [i, score] : llvm::enumerate(scores)) {
          const auto index = static_cast<int64_t>(i);
          Value limit = i32Constant(b, colOf(index) - rowOf(index) * 8);
          Value isAllowed = arith::CmpIOp::create(b, allowed, distance, limit);
          result.push_back(arith::SelectOp::create(b, isAllowed, score, lowest));
        }
        return result;
      },
      [&](ImplicitLocOpBuilder &) { return SmallVector<Value>(scores); });
}

SmallVector<Value> mlir::blocksparse::device::emitPowers(ImplicitLocOpBuilder &b,
                                                         ArrayRef<Value> scores,
                                                         ArrayRef<Value> shifts, double scale) {
  // Powers of 2 are powers of e of scores that are multiplied by log2(e).
  Value unit = number(b, scale * std::numbers::log2e);
  SmallVector<Value> powers;
  for (auto [score, shift] : llvm::zip_equal(scores, shifts))
    powers.push_back(power(b, fusedMultiplyAdd(b, score, unit, shift)));
  return powers;
}

SmallVector<Value> mlir::blocksparse::device::emitScoreGradients(ImplicitLocOpBuilder &b,
                                                                 ArrayRef<Value> powers,
                                                                 ArrayRef<Value> slopes,
                                                                 ArrayRef<Value> sums) {
  SmallVector<Value> result;
  for (auto [p, slope, sum] : llvm::zip_equal(powers, slopes, sums))
    result.push_back(arith::MulFOp::create(b, p, arith::SubFOp::create(b, slope, sum).getResult()));
  return result;
}
