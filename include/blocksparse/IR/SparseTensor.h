// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_IR_SPARSETENSOR_H
#define BLOCKSPARSE_IR_SPARSETENSOR_H

#include "blocksparse/IR/BlockSparseAttrs.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace mlir::blocksparse {

/// Returns true if `type` is a tensor of rank 2 to 4 with a static layout or a dynamic BSR
/// encoding.
bool isSparseTensor(Type type);

/// Describes a sparse tensor type. The shape of the type is that of the dense tensor it stands for,
/// [M, N], [H, M, N] or [B, H, M, N]. The storage is values [S, bm, bn], or [B, S, bm, bn] at rank
/// 4, in whole blocks that cover the shape (edge blocks are padded).
class SparseTensor {
public:
  /// Returns nothing if `type` is not sparse.
  static std::optional<SparseTensor> get(Type type);

  RankedTensorType getType() const { return type; }
  Type getElementType() const { return type.getElementType(); }
  int64_t getRank() const { return type.getRank(); }
  /// Returns null for a dynamic pattern.
  LayoutAttrInterface getLayout() const { return layout; }
  /// Returns null for a static pattern.
  BsrAttr getBsr() const { return bsr; }
  bool isStatic() const { return static_cast<bool>(layout); }

  ::blocksparse::BlockShape getBlock() const;
  /// Return M and N in elements, ShapedType::kDynamic where they are unknown.
  int64_t getRows() const { return type.getShape()[getRank() - 2]; }
  int64_t getCols() const { return type.getShape()[getRank() - 1]; }
  /// Returns H, which is 1 at rank 2.
  int64_t getHeads() const { return getRank() < 3 ? 1 : type.getShape()[getRank() - 3]; }
  /// Return the block rows and block columns that cover the shape, kDynamic where they are unknown.
  int64_t getBlockRows() const;
  int64_t getBlockCols() const;

  /// Returns the number S of value blocks over all heads, kDynamic for a dynamic pattern.
  int64_t getStoredBlocks() const;
  /// Returns the heads of the look-up tables: the heads of the layout, or 1 for a dynamic pattern.
  int64_t getLutHeads() const;
  /// Returns the type of the values, [S, bm, bn] or [B, S, bm, bn].
  RankedTensorType getValuesType() const;
  /// Return the types of crow_indices and col_indices of a dynamic tensor: [rows + 1] and [?],
  /// with the batch in front at rank 4.
  RankedTensorType getCrowType() const;
  RankedTensorType getColType() const;

private:
  SparseTensor(RankedTensorType type, LayoutAttrInterface layout, BsrAttr bsr)
      : type(type), layout(layout), bsr(bsr) {}

  RankedTensorType type;
  LayoutAttrInterface layout;
  BsrAttr bsr;
};

/// Returns the layout of the slice of a sparse tensor that starts at element `offsets` (row,
/// column) and has `sizes` rows and columns: the blocks of `source` that lie in it. Returns nothing
/// if the layout of `source` is not static or does not resolve, or if the slice is not made of
/// whole blocks of `source`.
std::optional<::blocksparse::BlockLayout>
getSlicedLayout(const SparseTensor &source, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes);

/// Returns the accumulation type of `element`: f32 for f16, bf16, f8 and f32, f64 for f64, i32 for
/// i8 and i32.
Type getAccumulatorType(Type element);

/// Returns how many heads of the queries `q` share each head of `type`, keys or values [.., N, D];
/// 1 unless both have several heads. Heads of q that share a head follow each other.
int64_t countSharingHeads(ShapedType q, ShapedType type);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_IR_SPARSETENSOR_H
