// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_TRANSFORMS_SCHEDULE_PRODUCTSHAPE_H
#define BLOCKSPARSE_LIB_TRANSFORMS_SCHEDULE_PRODUCTSHAPE_H

#include "blocksparse/IR/KernelProblem.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Layout/BlockLayout.h"

namespace mlir::blocksparse {

/// Describes a product as far as it decides the tiles of its kernels. Sizes are kDynamic if
/// unknown.
struct ProductShape {
  ::blocksparse::KernelProblem problem;
  /// Number of bits of an accumulator, and of an element of the factors.
  int64_t accumulatorBits = 32, elementBits = 32;
  /// Rows and columns of the part of the result that tiles are cut from: the rows of op(block) by
  /// the columns of the result for a reduction, a block for a sampled product, else the result.
  int64_t rows = ShapedType::kDynamic, cols = ShapedType::kDynamic;
  /// Static pattern of the sparse factor of a reduction, or null; `transposeLayout` if op(S) is its
  /// transpose.
  const ::blocksparse::BlockLayout *layout = nullptr;
  bool transposeLayout = false;
  /// Batches times heads of the result.
  int64_t leading = 1;
  /// Elements of the result, all batches and heads included.
  int64_t resultElements = ShapedType::kDynamic;
  /// Bytes of the factors of a sampled product, all batches and heads included. 0 if a size is
  /// unknown.
  int64_t bytesA = 0, bytesB = 0;
  /// True if the values of the sparse factor are constants, which the compiler packs.
  bool hasConstantValues = false;
  /// Number of matrices of the size of the result that the epilogue of a reduction adds.
  int64_t epilogueMatrices = 0;

  /// Returns the shape of a product. Requires that getKernelProblem(op) is one.
  static ProductShape get(Operation *op);

  /// Returns true if one factor has a pattern of blocks.
  bool isSparse() const;
  /// Returns the number of block rows of op(S) in all copies that a kernel computes. Requires a
  /// layout.
  int64_t copiedBlockRows() const;
};

/// Returns true if `value` is a constant, or a sparse tensor whose values are.
bool isConstant(Value value);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TRANSFORMS_SCHEDULE_PRODUCTSHAPE_H
