// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The table of kernel families, and how the kernels of one operation are chosen from it.
//
// A family folder (Attention, Wgmma, Stream, Skinny, Mma, Rows, Simt) implements some operations
// and knows no other folder. For each operation the table lists the implementations, fastest first:
//   - `supports` decides when the kernel is built, from types, schedule and chip;
//   - `fitsAtRunTime` decides when the program runs, from addresses and strides;
//   - `emit` emits the kernels and their launches.
// An implementation that supports the operation but has run-time conditions becomes the first
// branch of an `scf.if`, whose second branch holds the next implementation of the table.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KERNELFAMILIES_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KERNELFAMILIES_H

#include "KernelBuilder.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse::device {

enum class FamilyKind { Attention, Wgmma, Stream, Skinny, Mma, Rows, Simt };

/// Lists the parts of an operation in the order in which their kernels run. Each part has a chain
/// of implementations of its own.
enum class KernelPart {
  /// The gradient of the relative position encoding, which must be read before dx overwrites it.
  RpeGradient,
  /// The shift and the sum of each row, which the gradient of attention needs.
  RowSums,
  /// The result. Every operation has this part.
  Result,
  /// Zeros in the value blocks that a table of a run-time pattern lists as spare.
  SpareBlocks,
  /// Elements of the result that became NaN by a product of 0, where such products add nothing.
  ZeroRepair,
};

/// Describes how one family computes one part of one operation: a row of the table.
struct FamilyKernel {
  FamilyKind family;
  /// Name of the planned operation.
  StringLiteral operation;
  KernelPart part;
  /// Returns true if the family has a kernel for the operation on a chip with `facts`.
  bool (*supports)(const ::blocksparse::GPUFacts &facts, Operation *op);
  /// Emits host code that returns i1: true if the operands lie in memory as the kernel requires.
  /// Null if the kernel accepts operands of any address and strides.
  Value (*fitsAtRunTime)(ImplicitLocOpBuilder &host, const ::blocksparse::GPUFacts &facts,
                         Operation *op);
  /// Emits the kernels and their launches at `host`. Requires that `supports` is true; the kernels
  /// are launched only if `fitsAtRunTime` is true. The operation itself stays in place.
  void (*emit)(ImplicitLocOpBuilder &host, KernelBuilder &kernels, Operation *op);
};

/// Returns the table: for each operation and part the fastest implementation first. The last one
/// of each operation and part has no run-time conditions.
ArrayRef<FamilyKernel> getFamilyKernels();

/// Returns the implementations of `part` of `op` that a chip with `facts` supports, in the order of
/// the table. The last one has no run-time conditions, and none follows it. Empty if the operation
/// has no such part.
SmallVector<const FamilyKernel *> getKernelChain(const ::blocksparse::GPUFacts &facts,
                                                 Operation *op, KernelPart part);

/// Emits the kernels of all parts of `op` and their launches at `host`. Requires that the chain of
/// its result is not empty. Warns if the schedule asks for tensor cores, but only scalar kernels
/// support the operation.
void emitKernels(ImplicitLocOpBuilder &host, KernelBuilder &kernels, Operation *op);

/// Emits the kernels of a row LUT, and those of the products whose planner reads its indices, each
/// where its operation stands. The row LUT has none if nothing else reads it. Returns the products,
/// whose kernels must not be emitted again.
SmallVector<PlannedDSDOp> emitWithReaders(OpBuilder &builder, KernelBuilder &kernels,
                                          BsrRowLutOp lut);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KERNELFAMILIES_H
