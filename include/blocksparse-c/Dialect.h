// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// C interface of the dialect: static layouts, dynamic patterns and sparse tensor types, for users
// of the MLIR C API.

#ifndef BLOCKSPARSE_C_DIALECT_H
#define BLOCKSPARSE_C_DIALECT_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Declares mlirGetDialectHandle__blocksparse__(), which returns the handle of the dialect for
/// mlirDialectHandleRegisterDialect and mlirDialectHandleLoadDialect. The functions below require a
/// context that has loaded the dialect.
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(BlockSparse, blocksparse);

/// Describes the shape of one block in elements, and the shape of the grid in blocks.
typedef struct BlocksparseLayoutShape {
  int64_t blockRows;
  int64_t blockCols;
  int64_t heads;
  int64_t gridRows;
  int64_t gridCols;
} BlocksparseLayoutShape;

/// Returns true if `attr` is a static layout (an attribute of any kind that implements the layout
/// interface).
MLIR_CAPI_EXPORTED bool blocksparseAttributeIsALayout(MlirAttribute attr);

/// Makes #blocksparse.layout from CSR arrays. `rowOffsets` has heads * gridRows + 1 entries;
/// `colIndices` has one entry for each stored block, in any order within a row. The arrays are
/// copied. On an error the result is null, and `onError` (unless it is null) is called once with
/// "expects ..., but got ...".
MLIR_CAPI_EXPORTED MlirAttribute blocksparseLayoutGetFromCsr(
    MlirContext context, BlocksparseLayoutShape shape, intptr_t numRowOffsets,
    const int32_t *rowOffsets, intptr_t numColIndices, const int32_t *colIndices,
    MlirStringCallback onError, void *userData);

/// Returns the shape of a layout.
MLIR_CAPI_EXPORTED BlocksparseLayoutShape blocksparseLayoutGetShape(MlirAttribute layout);

/// Returns the number of stored blocks over all heads of the grid. Returns -1 if the pattern cannot
/// be computed; blocksparseLayoutGetError then says why.
MLIR_CAPI_EXPORTED int64_t blocksparseLayoutGetNumBlocks(MlirAttribute layout);

/// Returns the reason why the pattern cannot be computed; empty if it can. The string lives as long
/// as the context.
MLIR_CAPI_EXPORTED MlirStringRef blocksparseLayoutGetError(MlirAttribute layout);

/// Return the canonical CSR arrays: heads * gridRows + 1 offsets, and the columns, ascending in
/// each row. Null if the pattern cannot be computed. The arrays live as long as the context.
MLIR_CAPI_EXPORTED const int32_t *blocksparseLayoutGetRowOffsets(MlirAttribute layout);
MLIR_CAPI_EXPORTED const int32_t *blocksparseLayoutGetColIndices(MlirAttribute layout);

/// Returns true if `attr` is #blocksparse.bsr.
MLIR_CAPI_EXPORTED bool blocksparseAttributeIsABsr(MlirAttribute attr);

/// Makes #blocksparse.bsr with indices of 32 or 64 bits. On an error the result is null, and
/// `onError` is called.
MLIR_CAPI_EXPORTED MlirAttribute blocksparseBsrGet(MlirContext context, int64_t blockRows,
                                                   int64_t blockCols, unsigned indexWidth,
                                                   MlirStringCallback onError, void *userData);

MLIR_CAPI_EXPORTED int64_t blocksparseBsrGetBlockRows(MlirAttribute bsr);
MLIR_CAPI_EXPORTED int64_t blocksparseBsrGetBlockCols(MlirAttribute bsr);
MLIR_CAPI_EXPORTED unsigned blocksparseBsrGetIndexWidth(MlirAttribute bsr);

/// Returns the type of the values [S, bm, bn] or [B, S, bm, bn] that a sparse tensor type stores;
/// null for any other type. S is the number of value blocks over all heads, dynamic for a dynamic
/// pattern.
MLIR_CAPI_EXPORTED MlirType blocksparseSparseTensorGetValuesType(MlirType type);

#ifdef __cplusplus
}
#endif

#endif // BLOCKSPARSE_C_DIALECT_H
