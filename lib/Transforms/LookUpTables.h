// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_TRANSFORMS_LOOKUPTABLES_H
#define BLOCKSPARSE_LIB_TRANSFORMS_LOOKUPTABLES_H

#include "SparseStorage.h"
#include "blocksparse/Plan/CoordinateLut.h"

namespace mlir::blocksparse {

struct RowTables {
  Value segments, entries;
};

struct CoordinateTables {
  Value lut, segments;
};

/// An i32 constant of `shape`: written out up to 1024 elements, else a resource named by its
/// contents, so that equal tables are one attribute.
Value createTable(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
                  ArrayRef<int32_t> data);

/// The constant behind a table: its elements, or nothing when `table` is not a constant or its
/// resource is not there.
std::optional<ArrayRef<int32_t>> getTableData(Value table, SmallVectorImpl<int32_t> &storage);

/// The row LUT of a pattern, transposed or not; `empty` leaves out all entries but keeps every
/// segment. Emits an error for a layout that can't be resolved or tables that do not
/// say the same as the layout.
FailureOr<RowTables> createRowTables(Operation *op, OpBuilder &builder,
                                     const SparseStorage &pattern, bool transpose, bool empty);

/// The coordinate LUT of a pattern. Run-time tables stand in row order whatever `order`.
FailureOr<CoordinateTables> createCoordinateTables(Operation *op, OpBuilder &builder,
                                                   const SparseStorage &pattern,
                                                   ::blocksparse::CoordinateOrder order);

/// The resolved layout of a static pattern, or an error on `op`.
FailureOr<const ::blocksparse::BlockLayout *> resolveLayout(Operation *op,
                                                            LayoutAttrInterface layout);

/// Number of block columns of a dynamic pattern, or an error on `op` where it is not static.
FailureOr<int64_t> staticBlockCols(Operation *op, const SparseTensor &type);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TRANSFORMS_LOOKUPTABLES_H
