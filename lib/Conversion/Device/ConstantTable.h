// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tables of the plan as the conversions see them.

#ifndef BLOCKSPARSE_LIB_CONVERSION_DEVICE_CONSTANTTABLE_H
#define BLOCKSPARSE_LIB_CONVERSION_DEVICE_CONSTANTTABLE_H

#include "mlir/IR/Value.h"

#include <optional>
#include <vector>

namespace mlir::blocksparse::device {

/// Returns the elements, in row-major order, of a table whose contents the compiler knows: `table`
/// is a memref.get_global of an i32 constant. Returns nullopt for any other memref.
std::optional<std::vector<int32_t>> readConstantTable(Value table);

/// Returns true if some row of a table of `columns` columns has another number than 0 in `column`,
/// or nothing if the compiler does not know its contents.
std::optional<bool> hasNonZeroColumn(Value table, int64_t column, int64_t columns);

/// Returns true if entry e of a constant table of entries (dense block, value block) is value block
/// e, for all e.
bool listsValuesInOrder(Value entries);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_DEVICE_CONSTANTTABLE_H
