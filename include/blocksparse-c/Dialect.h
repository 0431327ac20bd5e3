// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_C_DIALECT_H
#define BLOCKSPARSE_C_DIALECT_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// mlirGetDialectHandle__blocksparse__(): the dialect, for mlirDialectHandleRegisterDialect
/// and mlirDialectHandleLoadDialect. The functions below want it loaded.
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(BlockSparse, blocksparse);

/// Shape of one block in elements and of the grid in blocks.
typedef struct BlocksparseLayoutShape {
  int64_t blockRows;
  int64_t blockCols;
  int64_t heads;
  int64_t gridRows;
  int64_t gridCols;
} BlocksparseLayoutShape;

/// Whether `attr` is a static layout (of any kind that implements the layout interface).
MLIR_CAPI_EXPORTED bool blocksparseAttributeIsALayout(MlirAttribute attr);

/// Makes #blocksparse.layout of CSR arrays: `rowOffsets` has heads * gridRows + 1 entries,
/// `colIndices` one for each stored block, in any order within a row. The arrays are
/// copied. On an error the result is null and `onError` (unless it is null) is called
/// once with "expects ..., but got ...".
MLIR_CAPI_EXPORTED MlirAttribute blocksparseLayoutGetFromCsr(
    MlirContext context, BlocksparseLayoutShape shape, intptr_t numRowOffsets,
    const int32_t *rowOffsets, intptr_t numColIndices, const int32_t *colIndices,
    MlirStringCallback onError, void *userData);

/// Shape of a layout.
MLIR_CAPI_EXPORTED BlocksparseLayoutShape blocksparseLayoutGetShape(MlirAttribute layout);

/// Number of stored blocks over all heads of the grid; -1 when the pattern can't be had,
/// and blocksparseLayoutGetError says why.
MLIR_CAPI_EXPORTED int64_t blocksparseLayoutGetNumBlocks(MlirAttribute layout);

/// Why the pattern can't be had; empty when it can. Lives as long as the context.
MLIR_CAPI_EXPORTED MlirStringRef blocksparseLayoutGetError(MlirAttribute layout);

/// The canonical CSR arrays: heads * gridRows + 1 offsets, and the columns, ascending in
/// each row. Null when the pattern can't be had. They live as long as the context.
MLIR_CAPI_EXPORTED const int32_t *blocksparseLayoutGetRowOffsets(MlirAttribute layout);
MLIR_CAPI_EXPORTED const int32_t *blocksparseLayoutGetColIndices(MlirAttribute layout);

/// Whether `attr` is #blocksparse.bsr.
MLIR_CAPI_EXPORTED bool blocksparseAttributeIsABsr(MlirAttribute attr);

/// Makes #blocksparse.bsr with indices of 32 or 64 bits; null (and `onError`) on an error.
MLIR_CAPI_EXPORTED MlirAttribute blocksparseBsrGet(MlirContext context, int64_t blockRows,
                                                   int64_t blockCols, unsigned indexWidth,
                                                   MlirStringCallback onError, void *userData);

MLIR_CAPI_EXPORTED int64_t blocksparseBsrGetBlockRows(MlirAttribute bsr);
MLIR_CAPI_EXPORTED int64_t blocksparseBsrGetBlockCols(MlirAttribute bsr);
MLIR_CAPI_EXPORTED unsigned blocksparseBsrGetIndexWidth(MlirAttribute bsr);

/// Type of the values [S, bm, bn] or [B, S, bm, bn] that a sparse tensor type stores; null
/// for any other type. S is the number of value blocks over all heads, unknown for a
/// dynamic pattern.
MLIR_CAPI_EXPORTED MlirType blocksparseSparseTensorGetValuesType(MlirType type);

#ifdef __cplusplus
}
#endif

#endif // BLOCKSPARSE_C_DIALECT_H
