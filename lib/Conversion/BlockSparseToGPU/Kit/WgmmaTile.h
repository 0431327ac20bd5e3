// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrix products of a warpgroup: wgmma.mma_async m64 x n x k16 of f16 or bf16 factors with f32
// accumulators, and m64 x n x k32 of i8 factors with i32 accumulators (sm_90a). B is in shared
// memory; A is in shared memory or in registers. The consumer warpgroups of `cuda.wgmma` and
// `cuda.stream_wgmma` run their main loops with it. Kit/WgmmaGemm.h has those of f8.
//
// In shared memory a factor consists of matrices with the swizzle of Kit/TensorMap.h. A K-major
// factor is stored as [m or n][k], with rows of 128, 64 or 32 bytes along k; an MN-major factor is
// stored as [k][64 values of m or n]. Factors of bytes are K-major.
//
// A matrix descriptor has 64 bits (PTX manual, "Matrix descriptor"):
//   bits  0-13  address / 16
//   bits 16-29  leading offset / 16: unused (1) if K-major; else between 64-wide matrices
//   bits 32-45  stride offset / 16: between groups of 8 rows
//   bits 62-63  1: swizzled rows of 128 bytes, 2: of 64 bytes, 3: of 32 bytes
// From one k slice to the next, the address advances by 32 bytes (2 in multiples of 16 bytes) if
// K-major, else by 16 rows of 128 bytes (128).
//
// A in registers: warp w has the fragment of Kit/MmaFragments.h for rows 16 w .. 16 w + 15. The
// registers must not change until the instruction has completed.
//
// Accumulators of a thread, for lane l of warp w of the warpgroup with g = l / 4 and t = l % 4:
// accumulator 4 i + {0, 1} is element (16 w + g, 8 i + 2 t + {0, 1}), accumulator 4 i + {2, 3} is 8
// rows below it.
//
// wgmma is asynchronous. The order of calls, and why each is needed:
// 1. fence(): wgmma.fence orders earlier accesses of this warpgroup to the accumulators and to
// the registers of A before the products that follow.
// 2. multiplyAdd() or multiplyAddIf(), any number of times on the same or other accumulators.
// 3. commitGroup(): makes the products a commit group, which can be waited for.
// 4. waitAllButLast() (wait_group 1): products of earlier commit groups have read their stages,
// which may then be released while the newest group still runs.
// 5. finish() (wait_group 0): the accumulators may be read.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_WGMMATILE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_WGMMATILE_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// Describes the layout of a factor in shared memory.
struct WgmmaFactor {
  /// True if the factor is K-major, false if it is MN-major.
  bool kMajor;
  /// Values of k of a row of a K-major factor: 64, 32 or 16 of 16 bits, 64 of 8 bits.
  int64_t rowDepth = 64;
  /// Bytes from one 64-wide matrix of an MN-major factor to the next.
  int64_t leadingBytes = 8192;
  int64_t elementBytes = 2;

  /// Returns the descriptor (i64) of the factor whose first matrix is at shared-memory address
  /// `address` (i32).
  Value descriptor(ImplicitLocOpBuilder &b, Value address) const;
  /// Return the lower (i32) and the upper 32 bits of the descriptor. Only the lower 32 bits depend
  /// on the address, in units of 16 bytes.
  Value lowHalf(ImplicitLocOpBuilder &b, Value address) const;
  uint32_t highHalf() const;
  /// Returns the distance from one k slice to the next, in units of 16 bytes.
  int64_t stepUnits() const { return kMajor ? 2 : 128; }
  /// Returns the descriptor advanced by `steps` k slices.
  Value advance(ImplicitLocOpBuilder &b, Value descriptor, int64_t steps) const;
};

/// Emits the products of one warpgroup, whose 64 x n accumulators are one SSA value. All threads of
/// the warpgroup must run every member together.
class WgmmaTile {
public:
  /// Bytes of a subtile of a factor: 64 x 64 elements of 16 bits.
  static constexpr int64_t matrixBytes = 8192;
  /// Values of k of a k slice, i.e. of one instruction, of factors of 16 bits.
  static constexpr int64_t stepDepth = 16;

  /// Creates the tile of 64 x n accumulators, with both factors in shared memory. Requires n to be
  /// a multiple of 8 up to 256, or of 16 for i8. `element` is f16, bf16 or i8.
  WgmmaTile(MLIRContext *context, int64_t n, Type element, WgmmaFactor a, WgmmaFactor b);
  /// Creates a tile whose A is only ever in registers (multiplyAddIf).
  WgmmaTile(MLIRContext *context, int64_t n, Type element, WgmmaFactor b)
      : WgmmaTile(context, n, element, WgmmaFactor{true}, b) {}

  int64_t getN() const { return n; }
  /// Returns the type of the 64 x n accumulators of a warpgroup: a struct of n / 2 f32 or i32.
  Type getAccumulatorsType() const { return accumulatorsType; }
  int64_t accumulatorsPerThread() const { return n / 2; }

  /// Returns `count` sets of accumulators, all 0. They are fenced, so that the first products may
  /// use them.
  SmallVector<Value> zeros(ImplicitLocOpBuilder &b, int64_t count = 1) const;

  /// Issues accumulators += A * B over `steps` k slices. `a` and `b` are the shared-memory
  /// addresses (i32) of the subtile of A and of the first subtile of B. Requires a preceding
  /// fence(), and commitGroup() after it; the accumulators must not be read before finish().
  Value multiplyAdd(ImplicitLocOpBuilder &builder, Value a, Value b, Value accumulators,
                    int64_t steps) const;

  /// Holds the condition under which products are issued.
  struct Guard {
    /// The condition (i1), equal in all threads of the warpgroup.
    Value holds;
    /// The lower 32 bits (i32) of the descriptor of B.
    Value b;
  };

  /// Issues accumulators[i] += a[i] * B, with A in registers, if `guard` is true. a[i] has the four
  /// words of a fragment for each k slice. Returns the guard of the next products: it is true if
  /// `next` (i32) is negative. Its B is the same, or `bytes` further on if products were issued
  /// now.
  ///
  /// The branch is inside a single inline assembly statement, which also computes the next
  /// condition before it. A condition is usable by a branch only about a dozen cycles after it is
  /// computed; this way, a false condition costs no more than its branch.
  Guard multiplyAddIf(ImplicitLocOpBuilder &builder, const Guard &guard, Value next, int64_t bytes,
                      ArrayRef<SmallVector<Value>> a, MutableArrayRef<Value> accumulators) const;
  /// Returns the guard of the first products: true if `next` is negative.
  static Guard firstGuard(ImplicitLocOpBuilder &builder, Value next, Value b);

  /// Emits wgmma.fence, before the products of a commit group.
  void fence(ImplicitLocOpBuilder &b) const;
  /// Emits wgmma.commit_group, after the products of a commit group.
  void commitGroup(ImplicitLocOpBuilder &b) const;
  /// Waits until at most the newest commit group is in flight. Shared memory that the older groups
  /// read may then be overwritten.
  void waitAllButLast(ImplicitLocOpBuilder &b) const;
  /// Waits for all commit groups to complete.
  void waitAll(ImplicitLocOpBuilder &b) const;
  /// Waits for all commit groups to complete and returns all accumulators, f32 or i32 each, in the
  /// order that the head of this file describes.
  SmallVector<Value> finish(ImplicitLocOpBuilder &b, ArrayRef<Value> accumulators) const;

private:
  /// Emits `instruction` as inline assembly whose tied operands are all accumulators, and returns
  /// them one by one.
  SmallVector<Value> tie(ImplicitLocOpBuilder &b, StringRef instruction,
                         ArrayRef<Value> accumulators) const;
  /// Convert accumulators to single values, and back.
  SmallVector<Value> unpack(ImplicitLocOpBuilder &b, ArrayRef<Value> accumulators) const;
  Value pack(ImplicitLocOpBuilder &b, ArrayRef<Value> flat) const;

  bool isInteger() const { return element.isInteger(8); }

  int64_t n;
  Type element, accumulatorsType;
  WgmmaFactor a, b;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_WGMMATILE_H
