// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The registers of mma.sync.m16n8k16 (f16 or bf16 factors, f32 sums) and of m16n8k8 (tf32
// factors), and ldmatrix.
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

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_MMAFRAGMENTS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_MMAFRAGMENTS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// ldmatrix.x4, with .trans when `transposed`: four words of two elements each. `pointer`
/// (!llvm.ptr<3>) is this lane's row.
SmallVector<Value, 4> loadMatrices(ImplicitLocOpBuilder &b, Value pointer, bool transposed);

/// sums += left * right: 4 words of A, 2 of B and 4 sums. `element` is f16, bf16 or f32, which
/// stands for words of roundToTF32.
void multiplyAddFragments(ImplicitLocOpBuilder &b, Type element, ValueRange left, ValueRange right,
                          MutableArrayRef<Value> sums);

/// The f32 in an i32 rounded to tf32, halves away from zero.
Value roundToTF32(ImplicitLocOpBuilder &b, Value word);

/// Two neighbours of a row rounded to `element`, the first in the low half of an i32.
Value packPair(ImplicitLocOpBuilder &b, Type element, Value low, Value high);

/// stmatrix.x4, with .trans when `transposed`.
void storeMatrices(ImplicitLocOpBuilder &b, Value pointer, ValueRange words, bool transposed);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_MMAFRAGMENTS_H
