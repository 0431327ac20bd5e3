// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whole products of a warpgroup, each one inline assembly statement: fence, wgmma instructions and
// commit. The accumulators are separate f32 values, as elementwise code between two products wants
// them. The kernels of attention use it. Kit/WgmmaTile.h explains factors, descriptors and the
// order of accumulators.
//
// The statements mention every accumulator, and so do the waits. LLVM then neither moves an access
// to an accumulator across them nor copies accumulators between them. A product whose A is in
// registers reads them until it has completed: the words of A must not be made again before the
// wait, or ptxas serialises all products (its warning C7513).

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_WGMMAGEMM_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_WGMMAGEMM_H

#include "WgmmaTile.h"

namespace mlir::blocksparse::device {

/// Emits products of 64 x n accumulators. All threads of the warpgroup must run every member
/// together.
class WgmmaGemm {
public:
  /// Describes a factor in shared memory: its layout, the address (i32) of its first element, and
  /// the bytes from the matrix of 64 values of k to that of the next ones.
  struct Shared {
    WgmmaFactor layout;
    Value address;
    int64_t matrixBytes = WgmmaTile::matrixBytes;

    /// Returns the distance of k slice `step` from the first one, in units of 16 bytes.
    int64_t offsetOf(int64_t step) const;
  };

  /// Creates products of n columns, a multiple of 8 up to 256. `element` is f16 or bf16, or f8 for
  /// K-major factors in shared memory.
  WgmmaGemm(int64_t n, Type element) : n(n), element(element) {}

  /// Starts A * B over `steps` k slices with both factors in shared memory, and returns the
  /// accumulators, which must not be read before a wait.
  SmallVector<Value> multiply(ImplicitLocOpBuilder &b, const Shared &left, const Shared &right,
                              int64_t steps) const;

  /// Does the same with A in registers: `left` has the four words (i32) of a fragment for each k
  /// slice.
  SmallVector<Value> multiply(ImplicitLocOpBuilder &b, ArrayRef<Value> left,
                              const Shared &right) const;

  /// Starts accumulators += A * B with A in registers: `left` has the four words (i32) of a
  /// fragment for each k slice. If `parts` (i32) is given, the k slices are divided into as many
  /// equal parts as `partCount`, and part i takes place if bit i of `parts`, which is equal in all
  /// threads, is set.
  SmallVector<Value> multiplyAdd(ImplicitLocOpBuilder &b, ArrayRef<Value> left, const Shared &right,
                                 ArrayRef<Value> accumulators, Value parts = {},
                                 int64_t partCount = 1) const;

  /// Returns the accumulators of a product that has completed when at most `pending` products of
  /// this warpgroup are in flight; waits for that.
  static SmallVector<Value> wait(ImplicitLocOpBuilder &b, int64_t pending,
                                 ArrayRef<Value> accumulators);

private:
  std::string instruction(const Twine &accumulators, const Twine &left, const Twine &add,
                          StringRef transposes) const;

  int64_t n;
  Type element;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_WGMMAGEMM_H
