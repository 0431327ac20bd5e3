// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The parts of a sparse tensor in the planned form, and the extents that follow from them.

#ifndef BLOCKSPARSE_LIB_TRANSFORMS_SPARSESTORAGE_H
#define BLOCKSPARSE_LIB_TRANSFORMS_SPARSESTORAGE_H

#include "blocksparse/IR/SparseTensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::blocksparse {

/// Holds the parts of a sparse tensor in the planned form: its values and, for a dynamic pattern,
/// its indices.
struct SparseStorage {
  SparseTensor type;
  Value crow, col; // null for a static pattern
  Value values;

  /// Returns the parts of a value that was converted to `parts`; `type` is its original sparse
  /// type.
  static SparseStorage get(Type type, ValueRange parts);
  /// Returns the values that replace a value of the sparse type whose pattern is this one and whose
  /// values are `newValues`.
  SmallVector<Value> withValues(Value newValues) const;
};

/// Converts sparse tensor types to the type of their values, or for a dynamic pattern to those of
/// (crow_indices, col_indices, values), and dense tensors of i1, such as masks, to tensors of i8,
/// as which memory holds them. All other types are kept.
class SparseStorageConverter : public TypeConverter {
public:
  SparseStorageConverter();
};

/// Returns the extent of dimension `dim`: a constant if it is static, else a `tensor.dim`.
Value sizeOf(OpBuilder &builder, Location loc, Value tensor, int64_t dim);

/// Derives the extents of the results of `op` from its operands.
class OperandSizes {
public:
  OperandSizes(Operation *op, OpBuilder &builder) : op(op), builder(builder) {}

  /// Adds an operand of `op` from which extents may be derived; a null one is ignored.
  void add(Value dense) {
    if (dense)
      denseOperands.push_back(dense);
  }
  void add(const SparseStorage &sparse) { sparseOperands.push_back(sparse); }

  /// Returns the extent of the batch (fromEnd = 3) or head (fromEnd = 2) dimension of a result in
  /// which it is dynamic. All operands with a dynamic extent agree in it. Fails with an error if
  /// there is no such operand.
  FailureOr<Value> leading(int64_t fromEnd) const;
  /// Return the extent M or N of a sparse operand. A dynamic M is a multiple of the block rows. A
  /// dynamic N is unknown, so cols fails with an error.
  FailureOr<Value> rows(const SparseStorage &sparse) const;
  FailureOr<Value> cols(const SparseStorage &sparse) const;

  /// Returns a `tensor.empty` of `type`; `size` returns the dynamic extent of a dimension.
  FailureOr<Value> createInit(RankedTensorType type,
                              function_ref<FailureOr<Value>(int64_t)> size) const;
  /// Returns the destination [.., R, C]; the two functions return R and C and are called only if
  /// these are dynamic.
  FailureOr<Value> createMatrixInit(RankedTensorType type, function_ref<FailureOr<Value>()> rowSize,
                                    function_ref<FailureOr<Value>()> colSize) const;
  /// Returns the destination for the values of a static sparse result.
  FailureOr<Value> createValuesInit(const SparseTensor &type) const;
  /// Returns a destination with the shape of `tensor` and element type `element`.
  Value createInitLike(Value tensor, Type element) const;

private:
  Operation *op;
  OpBuilder &builder;
  SmallVector<Value> denseOperands;
  SmallVector<SparseStorage> sparseOperands;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TRANSFORMS_SPARSESTORAGE_H
