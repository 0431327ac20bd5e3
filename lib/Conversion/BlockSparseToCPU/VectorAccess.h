// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loads and stores of neighbouring elements of a matrix row as one vector, and the loops
// around them.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_VECTORACCESS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_VECTORACCESS_H

#include "../OperandView.h"
#include "blocksparse/IR/BlockSparseAttrs.h"

namespace mlir::blocksparse {

/// The float type in which elements of `element` are computed: f64 for f64, else f32.
FloatType getComputeType(Type element);

/// A vector of equal lanes.
Value splat(ImplicitLocOpBuilder &b, Value scalar, int64_t width);

/// The lanes, each of `laneBits`, of a vector that walks over the `blockCols` columns of a
/// block: as many as `vectorBits` hold (and the schedule's tile_n allows), fewer where that
/// divides the block.
int64_t chooseWidth(int64_t blockCols, int64_t laneBits, int64_t vectorBits, ScheduleAttr schedule);

/// A vector of zeros of any element type.
Value zeroVector(ImplicitLocOpBuilder &b, VectorType type);

/// How rows are read and written.
struct VectorAccess {
  int64_t width;
  /// Neighbours in a row are known to be neighbours in memory.
  bool unitStride;

  /// Elements (row, col + lane) of `matrix`. A lane that `mask` (null: none) excludes is 0 and
  /// not read. A matrix of one column is broadcast along its rows.
  Value load(ImplicitLocOpBuilder &b, const MatrixView &matrix, Value row, Value col,
             Value mask) const;
  void store(ImplicitLocOpBuilder &b, Value vector, const MatrixView &matrix, Value row, Value col,
             Value mask) const;
  /// The first `count` lanes.
  Value mask(ImplicitLocOpBuilder &b, Value count) const;
};

/// Emits `kernel(true)` where every condition holds and `kernel(false)` where not, at run time
/// unless the conditions are constants.
void emitVersions(ImplicitLocOpBuilder &b, ArrayRef<Value> conditions,
                  llvm::function_ref<void(ImplicitLocOpBuilder &, bool)> kernel);

/// Emits a parallel loop over all the indices below `sizes`.
void emitParallel(ImplicitLocOpBuilder &b, ArrayRef<Value> sizes,
                  llvm::function_ref<void(ImplicitLocOpBuilder &, ValueRange)> body);

/// Emits a loop over [begin, end) by `step` that carries nothing.
void emitLoop(ImplicitLocOpBuilder &b, Value begin, Value end, int64_t step,
              llvm::function_ref<void(ImplicitLocOpBuilder &, Value)> body);

/// The same with a carried value.
Value emitReduction(ImplicitLocOpBuilder &b, Value begin, Value end, int64_t step, Value init,
                    llvm::function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> body);

/// Emits `body` under a condition (null: always).
void emitIf(ImplicitLocOpBuilder &b, Value condition,
            llvm::function_ref<void(ImplicitLocOpBuilder &)> body,
            llvm::function_ref<void(ImplicitLocOpBuilder &)> otherwise = nullptr);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_VECTORACCESS_H
