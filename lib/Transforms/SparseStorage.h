// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_TRANSFORMS_SPARSESTORAGE_H
#define BLOCKSPARSE_LIB_TRANSFORMS_SPARSESTORAGE_H

#include "blocksparse/IR/SparseTensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::blocksparse {

/// A sparse tensor as the planned form holds it: its values and, for a dynamic pattern, its
/// indices.
struct SparseStorage {
  SparseTensor type;
  Value crow, col; // null for a static pattern
  Value values;

  /// From the original (sparse) type and the values it was converted to.
  static SparseStorage get(Type type, ValueRange parts);
  /// What replaces a value of the sparse type, given new values for its pattern.
  SmallVector<Value> withValues(Value newValues) const;
};

/// Sparse tensors become values, or (crow_indices, col_indices, values); all other types stay.
class SparseStorageConverter : public TypeConverter {
public:
  SparseStorageConverter();
};

/// `tensor.dim`, or a constant where the size is static.
Value sizeOf(OpBuilder &builder, Location loc, Value tensor, int64_t dim);

/// Tells the sizes of a result from the operands of `op`.
class OperandSizes {
public:
  OperandSizes(Operation *op, OpBuilder &builder) : op(op), builder(builder) {}

  void add(Value dense) {
    if (dense)
      denseOperands.push_back(dense);
  }
  void add(const SparseStorage &sparse) { sparseOperands.push_back(sparse); }

  /// Size of the batch (fromEnd = 3) or head (fromEnd = 2) dimension of the result where it
  /// is dynamic: the operands that have it dynamic agree. Emits an error when none has it.
  FailureOr<Value> leading(int64_t fromEnd) const;
  /// M or N of a sparse operand. A dynamic M is a whole number of blocks; a dynamic N
  /// is known by nobody: an error.
  FailureOr<Value> rows(const SparseStorage &sparse) const;
  FailureOr<Value> cols(const SparseStorage &sparse) const;

  /// A `tensor.empty` of `type`; `size` gives the dynamic sizes by dimension.
  FailureOr<Value> createInit(RankedTensorType type,
                              function_ref<FailureOr<Value>(int64_t)> size) const;
  /// The destination for [.., R, C] whose last two sizes are given (looked at when dynamic).
  FailureOr<Value> createMatrixInit(RankedTensorType type, function_ref<FailureOr<Value>()> rowSize,
                                    function_ref<FailureOr<Value>()> colSize) const;
  /// The destination for the values of a static sparse result.
  FailureOr<Value> createValuesInit(const SparseTensor &type) const;
  /// A destination of the type and sizes of `tensor`, with another element type.
  Value createInitLike(Value tensor, Type element) const;

private:
  Operation *op;
  OpBuilder &builder;
  SmallVector<Value> denseOperands;
  SmallVector<SparseStorage> sparseOperands;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TRANSFORMS_SPARSESTORAGE_H
