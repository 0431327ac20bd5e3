// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Chunks: neighbouring elements of a row, moved by one instruction and computed with as vectors
// of f32.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_CHUNK_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_CHUNK_H

#include "../../OperandView.h"

namespace mlir::blocksparse::device {

/// `count` elements from (row, col) of a matrix whose neighbours along a row are neighbours in
/// memory; their address is a multiple of their size, or of 16 bytes if they take more. A
/// scalar where the matrix broadcasts its columns.
Value loadChunk(ImplicitLocOpBuilder &b, const MatrixView &matrix, Value row, Value col,
                int64_t count);
void storeChunk(ImplicitLocOpBuilder &b, Value chunk, const MatrixView &matrix, Value row,
                Value col);

/// The same values, scalars and vectors alike. A thread issues its instructions in order, and LLVM
/// moves a computation up to the conditional load that it depends on, where it waits for
/// memory before the next load is issued. What is computed from the results stays behind
/// all loads that stand before.
SmallVector<Value> afterLoads(ImplicitLocOpBuilder &b, ValueRange values);

/// A vector of `count` times `scalar`.
Value splatChunk(ImplicitLocOpBuilder &b, Value scalar, int64_t count);
/// A vector of `count` f32 constants.
Value constantChunk(ImplicitLocOpBuilder &b, double number, int64_t count);
/// A vector of zeros of `type`.
Value zeroChunk(ImplicitLocOpBuilder &b, Type type, int64_t count);

/// A chunk of `count` elements from what loadChunk gives.
Value fillChunk(ImplicitLocOpBuilder &b, Value loaded, int64_t count);

/// Elements (f16, bf16, f32 or integers) as f32, and back to a float type.
Value widenChunk(ImplicitLocOpBuilder &b, Value chunk);
Value narrowChunk(ImplicitLocOpBuilder &b, Value chunk, Type type);

/// A vector of i1: element i is there where i < limit, an index value of any sign.
Value firstOfChunk(ImplicitLocOpBuilder &b, Value limit, int64_t count);
/// The element is not 0; true for NaN.
Value nonzeroChunk(ImplicitLocOpBuilder &b, Value chunk);

/// `combine` over all elements, always in the same order: the two halves first.
Value foldChunk(ImplicitLocOpBuilder &b, Value chunk,
                function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> combine);

/// 2^x of every element: one instruction each, whose relative error is up to 2^-22. Results
/// below 2^-126 are 0.
Value exp2Chunk(ImplicitLocOpBuilder &b, Value chunk);

/// The larger of two numbers or, element by element, chunks; NaN where one is NaN.
Value maximumOf(ImplicitLocOpBuilder &b, Value x, Value y);
/// Their sum.
Value sumOf(ImplicitLocOpBuilder &b, Value x, Value y);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_CHUNK_H
