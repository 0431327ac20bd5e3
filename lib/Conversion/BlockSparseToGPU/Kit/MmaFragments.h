// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The fragments of mma.sync.m16n8k16 (f16 or bf16 factors, f32 accumulators), of m16n8k8 (tf32
// factors, f32 accumulators) and of m16n8k32 (i8 factors, i32 accumulators), and the ldmatrix
// instructions that load them. The kernels of `cuda.mma` and `cuda.stream` multiply with them; the
// epilogues of wgmma kernels use stmatrix and ldmatrix.
//
// Fragment layouts, for lane l of a warp with g = l / 4 and t = l % 4. A register contains two
// neighbouring 16-bit elements, the first one in its lower 16 bits:
//   A (16 x 16, m x k): register 0 (g, 2t..), 1 (g + 8, 2t..), 2 (g, 2t + 8..), 3 (g + 8, 2t + 8..)
//   B (16 x 8, k x n):  register 0 (2t.., g), 1 (2t + 8.., g); neighbours along k
//   C (16 x 8, m x n):  0 and 1 (g, 2t..), 2 and 3 (g + 8, 2t..); one f32 each
// ldmatrix.x4 loads four 8 x 8 matrices. Lanes 8i .. 8i + 7 pass the addresses of the rows of
// matrix i, and lane l receives elements (l / 4, 2 (l % 4)..) of each matrix, or with .trans those
// of its transpose. If the tile is stored as [m][k] (A) or [n][k] (B), the plain form loads
// fragments; if it is stored as [k][m] or [k][n], the transposed form does. The four matrices, in
// fragment order:
//   A: (m, k) = (0, 0), (8, 0), (0, 8), (8, 8)     one m16 x k16 fragment
//   B: (n, k) = (0, 0), (0, 8), (8, 0), (8, 8)     two n8 x k16 fragments
//
// In m16n8k8 a register contains one 32-bit element:
//   A (16 x 8):  register 0 (g, t), 1 (g + 8, t), 2 (g, t + 4), 3 (g + 8, t + 4)
//   B (8 x 8):   register 0 (t, g), 1 (t + 4, g)
// ldmatrix treats a 32-bit element as a pair of 16-bit elements: if the tile is K-major, the same
// loads of the same bytes give fragments. There is no transposed form.
//
// m16n8k4 of f64 has the first two registers of that A and the first one of that B, of 64 bits
// each:
//   A (16 x 4):  register 0 (g, t), 1 (g + 8, t)
//   B (4 x 8):   register 0 (t, g)
//
// In m16n8k32 a register contains four 8-bit neighbours along k, the first one in the lowest byte:
//   A (16 x 32): register 0 (g, 4t..), 1 (g + 8, 4t..), 2 (g, 4t + 16..), 3 (g + 8, 4t + 16..)
//   B (32 x 8):  register 0 (4t.., g), 1 (4t + 16.., g)
// ldmatrix treats two neighbours along k as one 16-bit element: if the tile is K-major, the same
// loads of the same bytes give fragments. If the tile is MN-major, a 16-bit element is a pair of
// neighbours m, m + 1 (or n, n + 1) at one k, and .trans gives a lane the elements of k = r(2t) and
// r(2t + 1), where r(0 .. 7) are the rows from which the matrix was read. Two matrices hold 16
// values of k. Their rows are assigned so that lane t receives k = 4t .. 4t + 3:
//   matrix 0: k = 0, 1, 4, 5, 10, 11, 14, 15      matrix 1: k = 2, 3, 6, 7, 8, 9, 12, 13
// Lanes with t >= 2 have their first two values of k in matrix 1. The rows are assigned this way
// because the 8 rows of a matrix must differ modulo 8, which keeps them in different banks (see
// SharedTile). Two prmt instructions on both words then form one register of m = 2g and one of m =
// 2g + 1 (joinBytes). Row g of such a fragment is row 2g of the 16 rows, and row g + 8 is row 2g +
// 1. Of two B fragments, the first has the even columns of 16.
//
// f8 uses the same registers. mma.sync also multiplies f8, but on sm_89 its adder keeps only 13
// bits after the binary point. The conversion of f8 to f16 is exact: bytes 0 and 1 of all
// registers, converted, are fragments of m16n8k16 for some set of 16 values of k, and so are bytes
// 2 and 3 (widenF8). ptxas expands mma.sync of f8 in the same way for sm_90.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_MMAFRAGMENTS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_MMAFRAGMENTS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// Emits ldmatrix.x4, with .trans if `transposed` is set, and returns four i32 words of two 16-bit
/// elements each. `pointer` (!llvm.ptr<3>) is the address of the row that this lane passes. All
/// lanes of the warp must call it.
SmallVector<Value, 4> loadMatrices(ImplicitLocOpBuilder &b, Value pointer, bool transposed);

/// Updates accumulators += left * right by one mma.sync: `left` has 4 words of A, `right` 2 words
/// of B, and `accumulators` 4 accumulators of this lane. `element` is f16, bf16, i8 (with wrapping
/// i32 accumulators) or f32, which stands for words rounded by roundToTF32; or f64, with 2 elements
/// of A and one of B (sm_90 and later).
void multiplyAddFragments(ImplicitLocOpBuilder &b, Type element, ValueRange left, ValueRange right,
                          MutableArrayRef<Value> accumulators);

/// Rounds the f32 in the i32 `word` to tf32, to nearest with ties away from zero.
Value roundToTF32(ImplicitLocOpBuilder &b, Value word);

/// Holds the prmt selectors (i32) that joinBytes uses for the even and for the odd bytes of a word.
struct ByteSelectors {
  Value even, odd;
  /// Returns the selectors of lane `lane` (i32).
  static ByteSelectors get(ImplicitLocOpBuilder &b, Value lane);
};
/// Returns the row (i32, 0 .. 31) whose address `lane` (i32) passes to ldmatrix.x4 for an MN-major
/// tile of bytes. The four matrices are two pairs: k = 0 .. 15 and k = 16 .. 31.
Value getByteRow(ImplicitLocOpBuilder &b, Value lane);
/// Returns four bytes of `low` and `high`, the words of the two matrices of a pair, as neighbours
/// along k.
Value joinBytes(ImplicitLocOpBuilder &b, Value low, Value high, Value selector);

/// Returns the two f8 in the lower (`half` = 0) or upper (`half` = 1) 16 bits of `word` as two f16
/// in an i32. Requires sm_90 or later.
Value widenF8(ImplicitLocOpBuilder &b, Type element, Value word, int64_t half);

/// Rounds two f32 to the 16-bit type `element` and returns them in an i32, `low` in the lower 16
/// bits.
Value packPair(ImplicitLocOpBuilder &b, Type element, Value low, Value high);
/// Rounds f32 values to `element` and returns an i32 for each two of them. Requires an even number.
SmallVector<Value> packPairs(ImplicitLocOpBuilder &b, Type element, ArrayRef<Value> values);

/// Emits stmatrix.x4, with .trans if `transposed` is set: the inverse of loadMatrices. `pointer` is
/// the address of the row that this lane passes. Requires sm_90 or later.
void storeMatrices(ImplicitLocOpBuilder &b, Value pointer, ValueRange words, bool transposed);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_MMAFRAGMENTS_H
