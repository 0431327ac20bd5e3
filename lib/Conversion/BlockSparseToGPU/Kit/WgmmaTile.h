// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrix products of a warpgroup: wgmma.mma_async m64 x n x k16 of f16 or bf16 with f32 sums, both
// factors in shared memory (sm_90a).
//
// A factor lies in shared memory as matrices of 64 x 64 elements with the 128-byte swizzle of
// Kit/TensorMap.h, 8192 bytes each: [m or n][k] ("along k") or [k][m or n]. A matrix
// descriptor is 64 bits (PTX manual, "Matrix descriptor"):
//   bits  0-13  address / 16
//   bits 16-29  leading offset / 16: along k not used (1); else from one 64-wide matrix to the next
//   bits 32-45  stride offset / 16: between groups of 8 rows of 128 bytes, 1024
//   bits 62-63  1: the 128-byte swizzle
// Steps of the address, in units of 16 bytes: the next 16 values of k are 32 bytes on (2) along k,
// else 16 rows of 128 bytes (128); the next 64 of m or n are 8192 bytes on (512).
//
// Sums of a thread, for lane l of warp w of the warpgroup with g = l / 4 and t = l % 4: sum
// 4 i + {0, 1} is element (16 w + g, 8 i + 2 t + {0, 1}), sum 4 i + {2, 3} is 8 rows below.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_WGMMATILE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_WGMMATILE_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// The sums of one warpgroup, 64 x n, as one SSA value. All threads of the warpgroup run every
/// member together.
class WgmmaTile {
public:
  /// Bytes of a 64 x 64 matrix of a factor.
  static constexpr int64_t matrixBytes = 8192;

  /// n: a multiple of 8 up to 256.
  WgmmaTile(MLIRContext *context, int64_t n, Type element, bool aAlongK, bool bAlongK);

  int64_t getN() const { return n; }
  Type getSumsType() const { return sumsType; }
  int64_t sumsPerThread() const { return n / 2; }

  /// All 0, fenced: ready for the first multiplyAdd.
  Value zeros(ImplicitLocOpBuilder &b) const;

  /// Starts sums += A * B over 64 values of k as one group: A is the matrix at address `a`, B the
  /// n / 64 matrices from `b` on (i32; n below 64: part of one). The sums must not be
  /// touched before wait().
  Value multiplyAdd(ImplicitLocOpBuilder &builder, Value a, Value b, Value sums) const;

  /// Until at most the latest group is under way: what the others read may be overwritten.
  void waitAllButLast(ImplicitLocOpBuilder &b) const;
  /// Until no group is under way.
  void waitAll(ImplicitLocOpBuilder &b) const;
  /// waitAll, and the sums as they are then: f32 each, see the head of this file.
  SmallVector<Value> finish(ImplicitLocOpBuilder &b, Value sums) const;

private:
  Value tie(ImplicitLocOpBuilder &b, StringRef instruction, Value sums) const;

  int64_t n;
  Type element, sumsType;
  bool aAlongK, bAlongK;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_WGMMATILE_H
