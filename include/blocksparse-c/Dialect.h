// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// C interface of the dialect: static layouts, dynamic patterns, schedules, activations and sparse
// tensor types, for users of the MLIR C API.

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

/// Makes #blocksparse.layout from a mask of heads * gridRows * gridCols bytes in row-major order,
/// of which those that are not 0 store a block. Errors are those of blocksparseLayoutGetFromCsr.
MLIR_CAPI_EXPORTED MlirAttribute
blocksparseLayoutGetFromMask(MlirContext context, BlocksparseLayoutShape shape, intptr_t maskLength,
                             const uint8_t *mask, MlirStringCallback onError, void *userData);

/// Makes #blocksparse.layout from a named pattern, as the text after the grid says it:
/// "bigbird(num_random_blocks = 1, seed = 7)". On an error the result is null, and `onError` is
/// called for each error.
MLIR_CAPI_EXPORTED MlirAttribute blocksparseLayoutGetNamed(MlirContext context,
                                                           BlocksparseLayoutShape shape,
                                                           MlirStringRef pattern,
                                                           MlirStringCallback onError,
                                                           void *userData);

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

/// Writes the pattern as heads * gridRows * gridCols bytes, 1 for a stored block and else 0, in
/// row-major order. Returns false, and writes nothing, if the pattern cannot be computed or
/// `maskLength` is another length.
MLIR_CAPI_EXPORTED bool blocksparseLayoutWriteMask(MlirAttribute layout, intptr_t maskLength,
                                                   uint8_t *mask);

/// Returns the same pattern as #blocksparse.layout in CSR form, which is one attribute for equal
/// patterns. Null for a layout of another dialect and for a pattern that cannot be computed.
MLIR_CAPI_EXPORTED MlirAttribute blocksparseLayoutGetExpanded(MlirAttribute layout);

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

/// Returns true if `attr` is #blocksparse.schedule.
MLIR_CAPI_EXPORTED bool blocksparseAttributeIsASchedule(MlirAttribute attr);

/// Makes #blocksparse.schedule from the text between its brackets, "cuda.wgmma, tile = 128x256". On
/// an error the result is null, and `onError` is called for each error.
MLIR_CAPI_EXPORTED MlirAttribute blocksparseScheduleGet(MlirContext context, MlirStringRef text,
                                                        MlirStringCallback onError, void *userData);

/// Returns the name of the kernel family. The string lives forever.
MLIR_CAPI_EXPORTED MlirStringRef blocksparseScheduleGetFamily(MlirAttribute schedule);

/// Passes the text between the brackets, which blocksparseScheduleGet reads, to `callback`.
MLIR_CAPI_EXPORTED void blocksparseSchedulePrint(MlirAttribute schedule,
                                                 MlirStringCallback callback, void *userData);

/// Describes one parameter of a schedule. `name` lives forever.
typedef struct BlocksparseScheduleParameter {
  MlirStringRef name;
  /// The number, or the rows of a tile; a flag is 0 or 1. 0: it is left to the kernel.
  int64_t value;
  /// The columns of a tile; 0 for any other parameter.
  int64_t columns;
} BlocksparseScheduleParameter;

/// Returns the number of parameters of the schedule's family.
MLIR_CAPI_EXPORTED intptr_t blocksparseScheduleGetNumParameters(MlirAttribute schedule);

/// Returns a parameter by its index, in the order of the text. Requires an index in range.
MLIR_CAPI_EXPORTED BlocksparseScheduleParameter
blocksparseScheduleGetParameter(MlirAttribute schedule, intptr_t index);

/// Returns true if `attr` is #blocksparse.activation.
MLIR_CAPI_EXPORTED bool blocksparseAttributeIsAActivation(MlirAttribute attr);

/// Makes #blocksparse.activation from the name of its kind. `slope` is that of leaky_relu, and not
/// used by others. On an error the result is null, and `onError` is called.
MLIR_CAPI_EXPORTED MlirAttribute blocksparseActivationGet(MlirContext context, MlirStringRef kind,
                                                          double slope, MlirStringCallback onError,
                                                          void *userData);

/// Returns the name of the kind. The string lives forever.
MLIR_CAPI_EXPORTED MlirStringRef blocksparseActivationGetKind(MlirAttribute activation);

/// Returns the slope of leaky_relu below 0.
MLIR_CAPI_EXPORTED double blocksparseActivationGetSlope(MlirAttribute activation);

/// Returns the type of the values [S, bm, bn] or [B, S, bm, bn] that a sparse tensor type stores;
/// null for any other type. S is the number of value blocks over all heads, dynamic for a dynamic
/// pattern.
MLIR_CAPI_EXPORTED MlirType blocksparseSparseTensorGetValuesType(MlirType type);

#ifdef __cplusplus
}
#endif

#endif // BLOCKSPARSE_C_DIALECT_H
