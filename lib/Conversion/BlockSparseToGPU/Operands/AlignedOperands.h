// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Aligned copies of the dense operands of a product. TMA and cp.async move 16 bytes, so that the
// families with tensor cores require rows that begin at multiples of 16 bytes. Where the type of an
// operand shows that they do not, such as 4001 columns of f16, a kernel first copies the operand to
// temporary memory with longer rows, and the product reads the copy. A result is computed in such
// memory, and then copied to its place. The copies have the sizes of the operands: elements between
// the rows are neither read nor written.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_ALIGNEDOPERANDS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_ALIGNEDOPERANDS_H

#include "../KernelBuilder.h"

namespace mlir::blocksparse::device {

/// Returns true if the rows of `memref` are taken to be unaligned: the last axis has gaps, or
/// another stride is no multiple of 16 bytes. Strides that are known only when the program runs are
/// taken for those of contiguous memory, as callers pass it; of a shape that is known only then
/// nothing is said.
bool hasUnalignedRows(Value memref);

/// Holds a copy of a planned product whose dense operands are aligned. The copy of the operation is
/// in no block; it lives as long as this object and stands for the original where kernels are
/// emitted.
class AlignedProduct {
public:
  /// Copies `op`; no operand is replaced yet. Requires a planned_dsd, planned_sdd or
  /// planned_matmul.
  explicit AlignedProduct(Operation *op);
  ~AlignedProduct();
  AlignedProduct(const AlignedProduct &) = delete;
  AlignedProduct &operator=(const AlignedProduct &) = delete;

  /// Returns true if `op` is a product of dense operands of which one has unaligned rows.
  static bool isNeeded(Operation *op);

  Operation *getOp() const { return aligned; }
  /// Emits, at `host`, kernels that copy the unaligned factors, and replaces these.
  void alignFactors(ImplicitLocOpBuilder &host, KernelBuilder &kernels);
  /// Replaces the dense result by temporary memory, if it is unaligned.
  void alignResult(ImplicitLocOpBuilder &host);
  /// Emits the kernel that copies a replaced result to its place, and frees all temporary memory.
  /// Must follow the kernels of the product.
  void finish(ImplicitLocOpBuilder &host, KernelBuilder &kernels);

private:
  Operation *aligned;
  /// The place of the result and the memory in which it is computed, if that is another one.
  Value result, computed;
  SmallVector<Value> made;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_ALIGNEDOPERANDS_H
