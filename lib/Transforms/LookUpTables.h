// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_TRANSFORMS_LOOKUPTABLES_H
#define BLOCKSPARSE_LIB_TRANSFORMS_LOOKUPTABLES_H

#include "SparseStorage.h"
#include "blocksparse/Plan/CoordinateLut.h"
#include "blocksparse/Plan/RowLut.h"

#include <cstring>

namespace mlir::blocksparse {

/// Holds the tables of a row LUT.
struct RowTables {
  Value segments, entries;
};

/// Holds the tables of a coordinate LUT.
struct CoordinateTables {
  Value lut, segments;
};

/// Creates a constant of `type` from the bytes of its elements. Constants of at most 1024 elements
/// are written out; others are resources named by `prefix` and their contents, so that equal
/// constants are one attribute.
Value createConstant(OpBuilder &builder, Location loc, RankedTensorType type, ArrayRef<char> bytes,
                     StringRef prefix);

/// Creates an i32 constant of `shape`.
Value createTable(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
                  ArrayRef<int32_t> data);

/// Creates a constant table with one row for each element of `rows`.
template <typename Row>
Value createTable(OpBuilder &builder, Location loc, const std::vector<Row> &rows) {
  std::span<const int32_t> data = ::blocksparse::flatTable(rows);
  return createTable(
      builder, loc,
      {static_cast<int64_t>(rows.size()), static_cast<int64_t>(sizeof(Row) / sizeof(int32_t))},
      {data.data(), data.size()});
}

/// Returns the elements of a constant table in row-major order, or nothing if `table` is not a
/// constant of i32 or its resource is missing.
std::optional<std::vector<int32_t>> readElements(Value table);

/// Returns the rows of a constant table (a Row is a struct of int32_t), or nothing if `table` is
/// not a constant, if its resource is missing, or if it has another number of columns.
template <typename Row>
std::optional<std::vector<Row>> readTable(Value table) {
  auto type = cast<ShapedType>(table.getType());
  if (type.getRank() != 2 || type.getDimSize(1) != sizeof(Row) / sizeof(int32_t))
    return std::nullopt;
  std::optional<std::vector<int32_t>> elements = readElements(table);
  if (!elements)
    return std::nullopt;
  std::vector<Row> rows(type.getDimSize(0));
  if (!rows.empty())
    std::memcpy(rows.data(), elements->data(), elements->size() * sizeof(int32_t));
  return rows;
}

/// Creates the row LUT of a pattern, transposed or not; `empty` leaves out all entries but keeps
/// every segment. Emits an error if the layout can't be resolved, or if the tables differ from it.
FailureOr<RowTables> createRowTables(Operation *op, OpBuilder &builder,
                                     const SparseStorage &pattern, bool transpose, bool empty);

/// Creates the coordinate LUT of a pattern. Run-time tables are in row order, whatever `order` is.
FailureOr<CoordinateTables> createCoordinateTables(Operation *op, OpBuilder &builder,
                                                   const SparseStorage &pattern,
                                                   ::blocksparse::CoordinateOrder order);

/// Returns the resolved layout of a static pattern, or emits an error on `op`.
FailureOr<const ::blocksparse::BlockLayout *> resolveLayout(Operation *op,
                                                            LayoutAttrInterface layout);

/// Returns the number of block columns of a dynamic pattern; emits an error on `op` if it is not
/// static.
FailureOr<int64_t> staticBlockCols(Operation *op, const SparseTensor &type);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TRANSFORMS_LOOKUPTABLES_H
