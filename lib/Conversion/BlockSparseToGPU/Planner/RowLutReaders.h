// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernel that plans a product reads the indices of a run-time pattern itself where it can. Its
// row LUT is then needed by other kernels alone, and often by none. An attribute tells a product to
// read indices, and whether its row LUT is made, too. It lives while kernels are emitted.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_ROWLUTREADERS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_ROWLUTREADERS_H

#include "RowSource.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse::device {

/// Returns the products that read the row LUT `lut` and may read its indices in its place: nothing
/// between the two operations may write to these. Products in other functions, or before it, are
/// not among them.
SmallVector<PlannedDSDOp> getIndexReaders(BsrRowLutOp lut);

/// Returns true if operations other than `readers` may read what `lut` writes.
bool hasOtherReaders(BsrRowLutOp lut, ArrayRef<PlannedDSDOp> readers);

/// Marks a product of getIndexReaders, whose row LUT is made if `makesTables` is true. The tables
/// must be memory that an operation allocates if it is not.
void setReadsIndices(PlannedDSDOp op, bool makesTables);
/// Returns true for a marked product and its clones.
bool readsIndices(Operation *op);

/// Returns where the planner finds the block rows of a product.
RowSource getRowSource(PlannedDSDOp op);

/// Calls `emit` with an unmarked clone of a marked product. If its row LUT is not made, the clone
/// reads another one, for which this allocates memory before, and frees it behind; `emitTables`
/// emits the kernels that fill it.
void withRowTables(ImplicitLocOpBuilder &host, PlannedDSDOp op,
                   function_ref<void(BsrRowLutOp)> emitTables,
                   function_ref<void(PlannedDSDOp)> emit);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_PLANNER_ROWLUTREADERS_H
