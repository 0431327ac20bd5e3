// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// C interface of the named patterns, for programs that hold layouts without MLIR. It needs no other
// header.

#ifndef BLOCKSPARSE_C_LAYOUT_H
#define BLOCKSPARSE_C_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Receives a text, which is not terminated by 0.
typedef void (*BlocksparseLayoutTextCallback)(const char *text, size_t length, void *userData);

/// Receives canonical CSR arrays: heads * gridRows + 1 row offsets, and the block columns,
/// ascending in each row. The arrays live as long as the call.
typedef void (*BlocksparseLayoutIndicesCallback)(const int32_t *rowOffsets, size_t numRowOffsets,
                                                 const int32_t *colIndices, size_t numColIndices,
                                                 void *userData);

/// Describes every named pattern as JSON:
///   [{"name": "bigbird", "alias": another name or "", "doc": one sentence,
///     "parameters": [P...], "without_effect": [P...]}]
///   P = {"name": "seed", "type": "an integer", "default": value, "minimum": number or null,
///        "maximum": number or null, "keywords": [words], "doc": one sentence}
/// The defaults of parameters without effect have no meaning.
void blocksparseLayoutDescribePatterns(BlocksparseLayoutTextCallback onText, void *userData);

/// Builds a named pattern and passes its blocks to `onIndices`. `shape` holds the rows and columns
/// of a block in elements, then heads, rows and columns of the grid in blocks. `parameters` is a
/// JSON object of numbers, booleans, strings and lists of integers; NULL: all defaults. `onNote` is
/// called for each parameter that has no effect. Returns 0, or 1 after an error, which was passed
/// to `onError` as "expects X, but got Y". `onNote` and `onError` may be NULL.
int blocksparseLayoutFromPattern(const int64_t shape[5], const char *name, const char *parameters,
                                 BlocksparseLayoutIndicesCallback onIndices,
                                 BlocksparseLayoutTextCallback onNote,
                                 BlocksparseLayoutTextCallback onError, void *userData);

#ifdef __cplusplus
}
#endif

#endif // BLOCKSPARSE_C_LAYOUT_H
