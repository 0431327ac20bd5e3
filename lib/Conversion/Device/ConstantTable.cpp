// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ConstantTable.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

std::optional<std::vector<int32_t>> mlir::blocksparse::device::readConstantTable(Value table) {
  auto get = table.getDefiningOp<memref::GetGlobalOp>();
  if (!get)
    return std::nullopt;
  auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(get, get.getNameAttr());
  if (!global || !global.getConstant() || !global.getInitialValue())
    return std::nullopt;
  Attribute value = *global.getInitialValue();
  if (auto resource = dyn_cast<DenseI32ResourceElementsAttr>(value)) {
    std::optional<ArrayRef<int32_t>> data = resource.tryGetAsArrayRef();
    return data ? std::optional(std::vector<int32_t>(*data)) : std::nullopt;
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense || !dense.getElementType().isInteger(32))
    return std::nullopt;
  return std::vector<int32_t>(dense.value_begin<int32_t>(), dense.value_end<int32_t>());
}

std::optional<bool> mlir::blocksparse::device::hasNonZeroColumn(Value table, int64_t column,
                                                                int64_t columns) {
  std::optional<std::vector<int32_t>> words = readConstantTable(table);
  if (!words)
    return std::nullopt;
  for (size_t i = column; i < words->size(); i += columns)
    if ((*words)[i] != 0)
      return true;
  return false;
}

bool mlir::blocksparse::device::listsValuesInOrder(Value entries) {
  std::optional<std::vector<int32_t>> table = readConstantTable(entries);
  if (!table)
    return false;
  for (size_t entry = 0; 2 * entry < table->size(); ++entry)
    if ((*table)[2 * entry + 1] != static_cast<int32_t>(entry))
      return false;
  return true;
}
