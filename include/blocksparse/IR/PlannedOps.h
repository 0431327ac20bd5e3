// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The planned operations, as one list: what must be done for each of them (an interface model, a
// lowering) is a template that is instantiated for the operations that ODS defines, so that a new
// one cannot be left out.

#ifndef BLOCKSPARSE_IR_PLANNEDOPS_H
#define BLOCKSPARSE_IR_PLANNEDOPS_H

#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/IR/BlockSparseOps.h"

namespace mlir::blocksparse {

namespace detail {
template <typename Function, typename... OpTys>
constexpr void forEachPlannedOf(Function function) {
  (
      [&] {
        if constexpr (OpTys::template hasTrait<DestinationStyleOpInterface::Trait>())
          function.template operator()<OpTys>();
      }(),
      ...);
}
} // namespace detail

/// Calls `function`, a lambda of the form `[&]<typename OpTy>() {...}`, for the class of each
/// planned operation: those that write into destinations, the builders of run-time tables included,
/// and the checks of run-time indices.
template <typename Function>
constexpr void forEachPlannedOp(Function function) {
  detail::forEachPlannedOf<Function,
#define GET_OP_LIST
#include "blocksparse/IR/BlockSparseOps.cpp.inc"
                           >(function);
}

/// Returns the type of the argument by which a function of another library receives a tensor, a
/// buffer or a number of type `type`: buffers have any strides and any offset.
Type getExternalArgument(Type type);

/// Returns true if `op` is a planned operation, on tensors or on memrefs.
inline bool isPlannedOp(Operation *op) {
  return isa_and_nonnull<BlockSparseDialect>(op->getDialect()) &&
         isa<DestinationStyleOpInterface>(op);
}

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_IR_PLANNEDOPS_H
