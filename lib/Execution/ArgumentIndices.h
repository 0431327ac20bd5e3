// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Checks of the index arguments of a call, by the reference. They run before the call on every
// target, whatever the compiled code checks itself.

#ifndef BLOCKSPARSE_LIB_EXECUTION_ARGUMENTINDICES_H
#define BLOCKSPARSE_LIB_EXECUTION_ARGUMENTINDICES_H

#include "blocksparse/Support/HostTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::blocksparse {

/// Returns true if an operation of the function that `argument` belongs to gives no meaning to a
/// column that occurs twice in a block row of `argument`, a sparse tensor of dynamic pattern.
bool needsUniqueColumns(BlockArgument argument);

/// Returns the tensor of a dense argument of the function, or null.
using LookUpArgument = function_ref<const ::blocksparse::HostTensor *(BlockArgument)>;

/// Checks the indices of each scatter_mm of the function whose index operands are arguments and
/// whose other operands are arguments or have static shapes. Fails with an error at the operation.
LogicalResult checkScatterArguments(func::FuncOp function, LookUpArgument lookUp);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_EXECUTION_ARGUMENTINDICES_H
