// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The registers of mma.sync.m16n8k16 (f16 or bf16 factors, f32 sums), of m16n8k8 (tf32 factors)
// and of m16n8k32 (i8 factors, i32 sums), and ldmatrix.
//
// Fragments, for lane l of a warp with g = l / 4 and t = l % 4; a register holds two
// neighbours of 16 bits, the first in the low half:
//   A (16 x 16, m x k): register 0 (g, 2t..), 1 (g + 8, 2t..), 2 (g, 2t + 8..), 3 (g + 8, 2t + 8..)
//   B (16 x 8, k x n):  register 0 (2t.., g), 1 (2t + 8.., g); neighbours along k
//   C (16 x 8, m x n):  0 and 1 (g, 2t..), 2 and 3 (g + 8, 2t..); one f32 each
// ldmatrix.x4 loads four 8 x 8 matrices; lanes 8i .. 8i + 7 give the addresses of the rows of
// matrix i, and lane l gets elements (l / 4, 2 (l % 4)..) of each, or with .trans those of its
// transpose. So with the tile stored as [m][k] (A) or [n][k] (B) the plain form gives fragments,
// and with [k][m] or [k][n] the transposed form does. The four matrices, in fragment order:
//   A: (m, k) = (0, 0), (8, 0), (0, 8), (8, 8)     one m16 x k16 fragment
//   B: (n, k) = (0, 0), (0, 8), (8, 0), (8, 8)     two n8 x k16 fragments
//
// Of m16n8k8 a register holds one element of 32 bits:
//   A (16 x 8):  register 0 (g, t), 1 (g + 8, t), 2 (g, t + 4), 3 (g + 8, t + 4)
//   B (8 x 8):   register 0 (t, g), 1 (t + 4, g)
// An element of 32 bits is a pair of 16 bits to ldmatrix: with the tile stored along k, the same
// loads of the same bytes give fragments. There is no transposed form.
//
// Of m16n8k32 a register holds four neighbours of 8 bits along k, the first in the lowest byte:
//   A (16 x 32): register 0 (g, 4t..), 1 (g + 8, 4t..), 2 (g, 4t + 16..), 3 (g + 8, 4t + 16..)
//   B (32 x 8):  register 0 (4t.., g), 1 (4t + 16.., g)
// Two neighbours along k are an element of 16 bits to ldmatrix: with the tile stored along k, the
// same loads of the same bytes give fragments. Stored across k, an element of 16 bits is two
// neighbours m, m + 1 (or n, n + 1) at one k, and .trans gives a lane those of k = r(2t) and
// r(2t + 1), where r(0 .. 7) are the rows that the matrix was read from. Two matrices hold 16
// values of k, and their rows are given out so that lane t gets 4t .. 4t + 3 of them:
//   matrix 0: k = 0, 1, 4, 5, 10, 11, 14, 15      matrix 1: k = 2, 3, 6, 7, 8, 9, 12, 13
// (Lanes with t >= 2 find their first two in matrix 1: so the 8 rows of a matrix differ modulo 8,
// which is what keeps them in different banks, see SharedTile.) Two prmt of both words then give a
// register of m = 2g and one of m = 2g + 1: joinBytes. Row g of such a fragment is row 2g of the
// 16, and row g + 8 is row 2g + 1; of two B fragments, the first has the even columns of 16.
//
// f8 takes the same registers. mma.sync multiplies f8 too, but what adds the products on sm_89
// keeps 13 bits behind the point. The f16 that stand for f8 are exact, and those of bytes 0 and 1
// of all registers are fragments of m16n8k16, whatever their k, as are those of bytes 2 and 3:
// widenF8. (ptxas makes the same of mma.sync of f8 for sm_90.)

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_MMAFRAGMENTS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_MMAFRAGMENTS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// ldmatrix.x4, with .trans when `transposed`: four words of two elements each. `pointer`
/// (!llvm.ptr<3>) is this lane's row.
SmallVector<Value, 4> loadMatrices(ImplicitLocOpBuilder &b, Value pointer, bool transposed);

/// sums += left * right: 4 words of A, 2 of B and 4 sums. `element` is f16, bf16, f32, which
/// stands for words of roundToTF32, or i8, whose sums are i32 and wrap.
void multiplyAddFragments(ImplicitLocOpBuilder &b, Type element, ValueRange left, ValueRange right,
                          MutableArrayRef<Value> sums);

/// The f32 in an i32 rounded to tf32, halves away from zero.
Value roundToTF32(ImplicitLocOpBuilder &b, Value word);

/// Selects what joinBytes takes, i32: the bytes of even places, or of odd ones.
struct ByteSelectors {
  Value even, odd;
  /// Those of a lane (i32).
  static ByteSelectors get(ImplicitLocOpBuilder &b, Value lane);
};
/// Row (0 .. 31), i32, of a tile of bytes stored across k whose address `lane` gives to ldmatrix.x4
/// for two pairs of matrices, k = 0 .. 15 and 16 .. 31.
Value getByteRow(ImplicitLocOpBuilder &b, Value lane);
/// Four bytes of `low` and `high`, words of the two matrices of a pair: neighbours along k.
Value joinBytes(ImplicitLocOpBuilder &b, Value low, Value high, Value selector);

/// The f8 of bytes 0 and 1 (`half` 0) or 2 and 3 of an i32 as two f16 in an i32. sm_90 and later.
Value widenF8(ImplicitLocOpBuilder &b, Type element, Value word, int64_t half);

/// Two neighbours of a row rounded to `element`, the first in the low half of an i32.
Value packPair(ImplicitLocOpBuilder &b, Type element, Value low, Value high);
/// The same of each two of `values`.
SmallVector<Value> packPairs(ImplicitLocOpBuilder &b, Type element, ArrayRef<Value> values);

/// stmatrix.x4, with .trans when `transposed`.
void storeMatrices(ImplicitLocOpBuilder &b, Value pointer, ValueRange words, bool transposed);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_MMAFRAGMENTS_H
