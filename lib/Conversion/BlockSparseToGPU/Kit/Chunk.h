// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Vectors of neighbouring elements of one row: each is loaded or stored by one instruction (16
// bytes if it is a chunk in the sense of the glossary) and is computed with as a vector of f32. The
// row kernels (softmax and its gradient), the transposition of a dense matrix and the epilogues of
// tensor-core kernels use them.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_CHUNK_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_CHUNK_H

#include "../../OperandView.h"

namespace mlir::blocksparse::device {

/// Loads `count` elements from (row, col) on and returns them as a vector. Requires that
/// neighbouring columns are contiguous and that the address is a multiple of the vector's size, or
/// of 16 bytes if the vector is larger. Returns one scalar if the matrix broadcasts its columns.
Value loadChunk(ImplicitLocOpBuilder &b, const MatrixView &matrix, Value row, Value col,
                int64_t count);
/// Stores the vector from (row, col) on. The requirements are those of loadChunk.
void storeChunk(ImplicitLocOpBuilder &b, Value chunk, const MatrixView &matrix, Value row,
                Value col);

/// Returns `values` (scalars or vectors) through opaque copies, so that whatever is computed from
/// the results stays after all loads emitted before this call. Without them, LLVM moves a
/// computation up to the conditional load that it depends on. A thread issues its instructions in
/// order: it would wait there for memory before it issues the next load.
SmallVector<Value> afterLoads(ImplicitLocOpBuilder &b, ValueRange values);

/// Returns a vector whose `count` elements are all `scalar`.
Value splatChunk(ImplicitLocOpBuilder &b, Value scalar, int64_t count);
/// Returns a vector of `count` f32 constants, all equal to `number`.
Value constantChunk(ImplicitLocOpBuilder &b, double number, int64_t count);
/// Returns a vector of `count` zeros of `type`.
Value zeroChunk(ImplicitLocOpBuilder &b, Type type, int64_t count);

/// Returns the result of loadChunk as a vector of `count` elements: a scalar is repeated.
Value fillChunk(ImplicitLocOpBuilder &b, Value loaded, int64_t count);

/// Converts elements (f16, bf16, f32 or integers) to f32.
Value widenChunk(ImplicitLocOpBuilder &b, Value chunk);
/// Rounds f32 elements to the float type `type`.
Value narrowChunk(ImplicitLocOpBuilder &b, Value chunk, Type type);

/// Returns a vector of `count` i1 whose element i is true if i < limit. `limit` is an index value
/// of any sign.
Value firstOfChunk(ImplicitLocOpBuilder &b, Value limit, int64_t count);
/// Returns a vector of i1: the element is not 0. NaN counts as not 0.
Value nonzeroChunk(ImplicitLocOpBuilder &b, Value chunk);

/// Reduces all elements with `combine` in a fixed order: first element i with element i + count /
/// 2, and so on. Requires the number of elements to be a power of two.
Value foldChunk(ImplicitLocOpBuilder &b, Value chunk,
                function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> combine);

/// Returns 2^x of every element by one instruction each (ex2.approx.ftz), whose relative error is
/// up to 2^-22. Results below 2^-126 are 0.
Value exp2Chunk(ImplicitLocOpBuilder &b, Value chunk);

/// Returns the larger of two numbers, or of each pair of elements; NaN if one of them is NaN.
Value maximumOf(ImplicitLocOpBuilder &b, Value x, Value y);
/// Returns the sum of two numbers, or of each pair of elements.
Value sumOf(ImplicitLocOpBuilder &b, Value x, Value y);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_CHUNK_H
