// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrix products of a warpgroup: wgmma.mma_async m64 x n x k16 of f16 or bf16 with f32 sums
// (sm_90a), B in shared memory, A there or in registers.
//
// A factor lies in shared memory as matrices with the swizzle of Kit/TensorMap.h: along k as
// [m or n][k], a row of 64, 32 or 16 values of k (128, 64 or 32 bytes), else as [k][64 of m or n].
// A matrix descriptor is 64 bits (PTX manual, "Matrix descriptor"):
//   bits  0-13  address / 16
//   bits 16-29  leading offset / 16: along k not used (1); else from one 64-wide matrix to the next
//   bits 32-45  stride offset / 16: between groups of 8 rows
//   bits 62-63  1: swizzled rows of 128 bytes, 2: of 64 bytes, 3: of 32 bytes
// Steps of the address, in units of 16 bytes: the next 16 values of k are 32 bytes on (2) along k,
// else 16 rows of 128 bytes (128).
//
// A in registers: warp w has the fragment of Kit/MmaFragments.h of rows 16 w .. 16 w + 15. It must
// not change until the instruction has ended.
//
// Sums of a thread, for lane l of warp w of the warpgroup with g = l / 4 and t = l % 4: sum
// 4 i + {0, 1} is element (16 w + g, 8 i + 2 t + {0, 1}), sum 4 i + {2, 3} is 8 rows below.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_WGMMATILE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_WGMMATILE_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// How a factor lies in shared memory.
struct WgmmaFactor {
  bool alongK;
  /// Values of k of a row, where it lies along k: 64, 32 or 16.
  int64_t rowDepth = 64;

  /// The descriptor (i64) of the matrices from address `address` (i32) on.
  Value descriptor(ImplicitLocOpBuilder &b, Value address) const;
  /// Its two halves; only the lower one (i32) has the address, in units of 16 bytes.
  Value lowHalf(ImplicitLocOpBuilder &b, Value address) const;
  uint32_t highHalf() const;
  /// From 16 values of k to the next, in the same units.
  int64_t stepUnits() const { return alongK ? 2 : 128; }
  /// The same, `steps` times 16 values of k on.
  Value advance(ImplicitLocOpBuilder &b, Value descriptor, int64_t steps) const;
};

/// The sums of one warpgroup, 64 x n, as one SSA value. All threads of the warpgroup run every
/// member together.
class WgmmaTile {
public:
  /// Bytes of a 64 x 64 matrix of a factor.
  static constexpr int64_t matrixBytes = 8192;
  /// Values of k of one instruction.
  static constexpr int64_t stepDepth = 16;

  /// n: a multiple of 8 up to 256.
  WgmmaTile(MLIRContext *context, int64_t n, Type element, WgmmaFactor a, WgmmaFactor b);
  /// With A in registers alone.
  WgmmaTile(MLIRContext *context, int64_t n, Type element, WgmmaFactor b)
      : WgmmaTile(context, n, element, WgmmaFactor{true}, b) {}

  int64_t getN() const { return n; }
  Type getSumsType() const { return sumsType; }
  int64_t sumsPerThread() const { return n / 2; }

  /// `count` times sums of 0, fenced: ready for the first products.
  SmallVector<Value> zeros(ImplicitLocOpBuilder &b, int64_t count = 1) const;

  /// Starts sums += A * B over `steps` times 16 values of k: A is the matrix at address `a`, B
  /// those from `b` on (i32). The sums must not be touched before finish(). Between a fence and the
  /// end of a group.
  Value multiplyAdd(ImplicitLocOpBuilder &builder, Value a, Value b, Value sums,
                    int64_t steps) const;

  /// What tells whether products are made.
  struct Guard {
    /// i1, the same in all threads.
    Value holds;
    /// i32: the lower half of the descriptor of their B.
    Value b;
  };

  /// Starts sums[i] += a[i] * B, with A in registers, where `guard` holds: a[i] has the four words
  /// of a fragment for each 16 values of k. Gives the guard of the next products: it holds where
  /// `next` (i32) is negative, and its B is the same or, behind products that were made, lies
  /// `bytes` on.
  ///
  /// The branch is inside of one piece of assembly, which makes the next condition ahead of it. A
  /// condition takes a dozen cycles from where it is made to its branch, and this way one that does
  /// not hold costs its branch alone.
  Guard multiplyAddIf(ImplicitLocOpBuilder &builder, const Guard &guard, Value next, int64_t bytes,
                      ArrayRef<SmallVector<Value>> a, MutableArrayRef<Value> sums) const;
  /// The guard of the first products: holds where `next` is negative.
  static Guard firstGuard(ImplicitLocOpBuilder &builder, Value next, Value b);

  /// Before the products of a group, and after them.
  void beginGroup(ImplicitLocOpBuilder &b) const;
  void endGroup(ImplicitLocOpBuilder &b) const;
  /// Until at most the latest group is under way: what the others read may be overwritten.
  void waitAllButLast(ImplicitLocOpBuilder &b) const;
  /// Until no group is under way.
  void waitAll(ImplicitLocOpBuilder &b) const;
  /// waitAll, and all the sums as they are then: f32 each, see the head of this file.
  SmallVector<Value> finish(ImplicitLocOpBuilder &b, ArrayRef<Value> sums) const;

private:
  SmallVector<Value> tie(ImplicitLocOpBuilder &b, StringRef instruction,
                         ArrayRef<Value> sums) const;
  /// From sums to f32 each, and back.
  SmallVector<Value> unpack(ImplicitLocOpBuilder &b, ArrayRef<Value> sums) const;
  Value pack(ImplicitLocOpBuilder &b, ArrayRef<Value> flat) const;

  int64_t n;
  Type element, sumsType;
  WgmmaFactor a, b;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_WGMMATILE_H
