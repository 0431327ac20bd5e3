// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_IR_BLOCKSPARSEATTRS_H
#define BLOCKSPARSE_IR_BLOCKSPARSEATTRS_H

#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/Layout/BlockLayout.h"
#include "blocksparse/Plan/Schedule.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TensorEncoding.h"
#include "llvm/ADT/Hashing.h"

namespace blocksparse {
// The attribute storage finds these by argument-dependent look-up.
inline llvm::hash_code hash_value(const BlockShape &block) {
  return llvm::hash_combine(block.rows, block.cols);
}
inline llvm::hash_code hash_value(const BlockGrid &grid) {
  return llvm::hash_combine(grid.heads, grid.rows, grid.cols);
}
inline llvm::hash_code hash_value(const Schedule &schedule) {
  return llvm::hash_value(printSchedule(schedule));
}
} // namespace blocksparse

#include "blocksparse/IR/BlockSparseEnums.h.inc"

#include "blocksparse/IR/BlockSparseAttrInterfaces.h.inc"

namespace mlir::blocksparse::detail {
// The storage is defined in lib/IR/LayoutAttrStorage.h, beside the code that resolves patterns.
struct LayoutAttrStorage;
} // namespace mlir::blocksparse::detail

#define GET_ATTRDEF_CLASSES
#include "blocksparse/IR/BlockSparseAttrs.h.inc"

namespace mlir::blocksparse {

template <typename T>
const T *ScheduleAttr::getIf() const {
  return getSchedule().template getIf<T>();
}

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_IR_BLOCKSPARSEATTRS_H
