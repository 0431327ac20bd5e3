// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// This file adds the assertions of an entry point, and lowers `cf.assert` in host code, for every
// target.

#ifndef BLOCKSPARSE_TARGET_ASSERTIONS_H
#define BLOCKSPARSE_TARGET_ASSERTIONS_H

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse {

/// Asserts that the parameters of `function`, an entry point on memrefs, have the sizes that their
/// types say, and no negative size. The parameters become memrefs of open sizes, because the sizes
/// that a type knows are not read.
void assertSizes(func::FuncOp function);

/// Describes an assertion that does not hold.
struct FailedAssertion {
  /// Text in which {0} and {1} stand for `left` and `right`. If these are null, each is a "?".
  std::string message;
  /// Both sides (i64) of the comparison that was asserted; null if it was folded away.
  Value left, right;
};

/// Describes `assertion` at `b`, before it is erased.
FailedAssertion describeAssertion(ImplicitLocOpBuilder &b, cf::AssertOp assertion);

/// Replaces every `cf.assert` in `root` by a branch that is taken if it does not hold. `report`
/// emits the body of the branch.
void lowerAssertions(Operation *root,
                     function_ref<void(ImplicitLocOpBuilder &, const FailedAssertion &)> report);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_ASSERTIONS_H
