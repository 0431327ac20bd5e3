// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_SHAREDTILE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_SHAREDTILE_H

#include "../../Device/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// The dynamic shared memory of a thread block, aligned to 128 bytes.
class SharedMemory {
public:
  /// In a kernel. (gpu.dynamic_shared_memory is demoted to one static byte by LLVM; this is an
  /// external array of no elements, which the loader places behind the static variables.)
  static SharedMemory get(ImplicitLocOpBuilder &b);

  /// !llvm.ptr<3> to byte `offset` + `constant`.
  Value at(ImplicitLocOpBuilder &b, Value offset, int64_t constant = 0) const;
  Value load(ImplicitLocOpBuilder &b, Type type, Value offset, int64_t alignment) const;
  void store(ImplicitLocOpBuilder &b, Value value, Value offset, int64_t alignment) const;

private:
  explicit SharedMemory(Value base) : base(base) {}
  Value base;
};

/// All threads of the block have arrived, and see each other's writes to shared memory.
void emitBarrier(ImplicitLocOpBuilder &b);

/// A matrix of 16-bit elements in shared memory, `rows` x `cols` row-major, `cols` a power of
/// two from 8 up. A row is cut into chunks of 8 elements (16 bytes), the unit of cp.async and
/// of a row of ldmatrix.
///
/// Chunk c of row r is stored at chunk c ^ s(r) of the row. The 32 banks are 8 chunks wide,
/// and a phase of ldmatrix reads chunk c of 8 rows r0 .. r0 + 7 (r0 a multiple of 8), so the 8
/// places r * chunks + (c ^ s(r)) must differ modulo 8:
///   8 chunks or more a row: s(r) = r & 7;   4 chunks: s(r) = (r >> 1) & 3;
///   2 chunks: s(r) = (r >> 2) & 1;  1 chunk: s(r) = 0.
/// Words of 32 bits that are loaded one by one, 8 neighbours (2 chunks) of 4 rows at a time, want
/// `pairs` of chunks to stay together: then s(r) = 2 (r & 3), with 4 chunks 2 ((r >> 1) & 1).
struct SharedTile {
  int64_t rows, cols;
  bool pairs = false;

  int64_t chunks() const { return cols / 8; }
  int64_t rowBytes() const { return cols * 2; }
  int64_t bytes() const { return rows * rowBytes(); }
  /// s(r) = s(r + swizzlePeriod()).
  int64_t swizzlePeriod() const { return pairs ? 4 : 8; }

  /// Byte offset of chunk `chunk` of row `base + row` (i32); `base` is a multiple of 16 and so
  /// takes no part in s(r).
  Value offset(ImplicitLocOpBuilder &b, Value base, Value row, Value chunk) const;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_SHAREDTILE_H
