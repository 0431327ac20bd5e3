// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared memory of a CTA and the swizzled tiles in it that cp.async fills and ldmatrix reads.
// The kernels of `cuda.mma`, `cuda.stream` and the wgmma families use them. Offsets are i32 bytes.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_SHAREDTILE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_SHAREDTILE_H

#include "../../Device/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// Refers to the dynamic shared memory of a CTA, which is aligned to 128 bytes.
class SharedMemory {
public:
  /// Returns the shared memory of the kernel that `b` points into. It is an external array without
  /// elements, which the loader places after the static variables: gpu.dynamic_shared_memory is not
  /// used, because LLVM would turn it into one static byte.
  static SharedMemory get(ImplicitLocOpBuilder &b);

  /// Returns the address (!llvm.ptr<3>) of byte `offset` (i32) + `constant`.
  Value at(ImplicitLocOpBuilder &b, Value offset, int64_t constant = 0) const;
  /// Load and store a value at byte `offset` (i32), which is a multiple of `alignment`.
  Value load(ImplicitLocOpBuilder &b, Type type, Value offset, int64_t alignment) const;
  void store(ImplicitLocOpBuilder &b, Value value, Value offset, int64_t alignment) const;

private:
  explicit SharedMemory(Value base) : base(base) {}
  Value base;
};

/// Emits a CTA barrier: all threads of the CTA have arrived, and see each other's earlier writes to
/// shared memory.
void emitBarrier(ImplicitLocOpBuilder &b);

/// Describes a matrix of 16-bit elements in shared memory, `rows` x `cols` row-major, `cols` a
/// power of two from 8 up. Chunks of 8 elements are swizzled in their row:
/// blocksparse/Plan/Swizzle.h defines the permutation and proves that ldmatrix meets no bank
/// conflicts.
struct SharedTile {
  /// Bytes of a chunk.
  static constexpr int64_t chunkBytes = 16;

  int64_t rows, cols;
  /// True if pairs of neighbouring chunks stay together, for loads of 32-bit words.
  bool pairs = false;

  /// Return the number of chunks of a row, and the sizes in bytes of a row and of the matrix.
  int64_t chunks() const { return cols / 8; }
  int64_t rowBytes() const { return cols * 2; }
  int64_t bytes() const { return rows * rowBytes(); }
  /// Returns the smallest period of the swizzle for all shapes: s(r) = s(r + swizzlePeriod()).
  int64_t swizzlePeriod() const { return pairs ? 4 : 8; }

  /// Returns the byte offset (i32) of chunk `chunk` of row `base` + `row` (all i32). Requires
  /// `base` to be a multiple of 16, which leaves s(r) unchanged.
  Value offset(ImplicitLocOpBuilder &b, Value base, Value row, Value chunk) const;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_SHAREDTILE_H
