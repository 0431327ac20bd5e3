// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loads and stores of neighbouring elements of a matrix row as one vector, and the loops around
// them.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_VECTORACCESS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_VECTORACCESS_H

#include "../OperandView.h"
#include "blocksparse/IR/BlockSparseAttrs.h"

namespace mlir::blocksparse {

/// Returns the floating-point type in which elements of `element` are computed: f64 for f64,
/// otherwise f32.
FloatType getComputeType(Type element);

/// Returns a vector of `width` lanes that all equal `scalar`.
Value splat(ImplicitLocOpBuilder &b, Value scalar, int64_t width);

/// Returns the number of lanes of a vector that iterates over the `blockCols` columns of a block,
/// with `laneBits` bits a lane: the power of two that fits in `vectorBits` and in the `lanes` of
/// `schedule`, or a smaller power of two that divides `blockCols` and is not less than a quarter of
/// it. Narrow blocks get fewer lanes.
int64_t chooseWidth(int64_t blockCols, int64_t laneBits, int64_t vectorBits, ScheduleAttr schedule);

/// Returns a vector of zeros of any element type.
Value zeroVector(ImplicitLocOpBuilder &b, VectorType type);

/// Describes how rows are loaded and stored.
struct VectorAccess {
  int64_t width;
  /// True if neighbours in a row are known to be neighbours in memory.
  bool unitStride;

  /// load returns the elements (row, col + lane) of `matrix`, and store writes them. A lane that
  /// `mask` (null: none) excludes is not accessed; load returns 0 for it. A matrix of one column is
  /// broadcast along its rows.
  Value load(ImplicitLocOpBuilder &b, const MatrixView &matrix, Value row, Value col,
             Value mask) const;
  void store(ImplicitLocOpBuilder &b, Value vector, const MatrixView &matrix, Value row, Value col,
             Value mask) const;
  /// Returns a mask of the first `count` lanes.
  Value mask(ImplicitLocOpBuilder &b, Value count) const;
};

/// Emits `kernel(true)` for the case that every condition is true and `kernel(false)` for all
/// others, selected at run time unless the conditions are constants.
void emitVersions(ImplicitLocOpBuilder &b, ArrayRef<Value> conditions,
                  llvm::function_ref<void(ImplicitLocOpBuilder &, bool)> kernel);

/// Emits a parallel loop over all tuples of indices below `sizes`.
void emitParallel(ImplicitLocOpBuilder &b, ArrayRef<Value> sizes,
                  llvm::function_ref<void(ImplicitLocOpBuilder &, ValueRange)> body);

/// Emits a loop over [begin, end) by `step` that carries no value.
void emitLoop(ImplicitLocOpBuilder &b, Value begin, Value end, int64_t step,
              llvm::function_ref<void(ImplicitLocOpBuilder &, Value)> body);

/// Emits a loop over [begin, end) by `step` that carries one value, which starts as `init`; `body`
/// returns the next one. Returns the last one.
Value emitReduction(ImplicitLocOpBuilder &b, Value begin, Value end, int64_t step, Value init,
                    llvm::function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> body);

/// Emits a loop over [begin, end) by `step` that carries several values, as emitReduction does one.
SmallVector<Value> emitReductions(
    ImplicitLocOpBuilder &b, Value begin, Value end, int64_t step, ValueRange init,
    llvm::function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value, ValueRange)> body);

/// Returns the values, of types `types`, of one of two branches.
SmallVector<Value>
emitBranches(ImplicitLocOpBuilder &b, Value condition, TypeRange types,
             llvm::function_ref<SmallVector<Value>(ImplicitLocOpBuilder &)> whenTrue,
             llvm::function_ref<SmallVector<Value>(ImplicitLocOpBuilder &)> whenFalse);

/// Emits `body` under a condition (null: unconditionally), and `otherwise` for the opposite case.
void emitIf(ImplicitLocOpBuilder &b, Value condition,
            llvm::function_ref<void(ImplicitLocOpBuilder &)> body,
            llvm::function_ref<void(ImplicitLocOpBuilder &)> otherwise = nullptr);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_VECTORACCESS_H
