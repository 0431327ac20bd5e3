// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// i32 arithmetic of the planner's kernels, and the words that they keep in shared memory.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_PLANNERVALUES_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_PLANNERVALUES_H

#include "../Kit/SharedTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::blocksparse::device {

inline Value constant(ImplicitLocOpBuilder &b, int64_t value) { return i32Constant(b, value); }

inline Value compare(ImplicitLocOpBuilder &b, arith::CmpIPredicate predicate, Value lhs,
                     Value rhs) {
  return arith::CmpIOp::create(b, predicate, lhs, rhs);
}
/// Returns i1: lhs < rhs, as signed numbers.
inline Value isLess(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return compare(b, arith::CmpIPredicate::slt, lhs, rhs);
}
/// Returns i1: 0 <= number < size. Requires size >= 0.
inline Value isInside(ImplicitLocOpBuilder &b, Value number, Value size) {
  return compare(b, arith::CmpIPredicate::ult, number, size);
}
inline Value select(ImplicitLocOpBuilder &b, Value condition, Value yes, Value no) {
  return arith::SelectOp::create(b, condition, yes, no);
}

/// Returns the quotient and the remainder of a non-negative i32 by a positive constant.
inline std::pair<Value, Value> divide(ImplicitLocOpBuilder &b, Value number, int64_t by) {
  Value divisor = constant(b, by);
  return {b.createOrFold<arith::DivUIOp>(number, divisor),
          b.createOrFold<arith::RemUIOp>(number, divisor)};
}

/// Converts an index to i32.
inline Value toInt(ImplicitLocOpBuilder &b, Value index) {
  return b.createOrFold<arith::IndexCastOp>(b.getI32Type(), index);
}

/// Names the words (i32) of shared memory, for loads and stores. Parts of it begin at a byte
/// offset; indices count the words of a part.
class SharedWords {
public:
  static constexpr int64_t wordBytes = 4;

  explicit SharedWords(ImplicitLocOpBuilder &b) : shared(SharedMemory::get(b)) {}

  Value load(ImplicitLocOpBuilder &b, int64_t part, Value index) const {
    return shared.load(b, b.getI32Type(), Int(b, index) * wordBytes + part, wordBytes);
  }
  void store(ImplicitLocOpBuilder &b, int64_t part, Value index, Value value) const {
    shared.store(b, value, Int(b, index) * wordBytes + part, wordBytes);
  }
  /// Combines a word with `value` atomically, and returns what it was before.
  Value update(ImplicitLocOpBuilder &b, int64_t part, Value index, LLVM::AtomicBinOp kind,
               Value value) const {
    return LLVM::AtomicRMWOp::create(b, kind, shared.at(b, Int(b, index) * wordBytes, part), value,
                                     LLVM::AtomicOrdering::monotonic);
  }

private:
  SharedMemory shared;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_PLANNERVALUES_H
