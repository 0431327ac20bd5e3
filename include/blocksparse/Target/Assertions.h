// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What becomes of `cf.assert` in host code, for every target.

#ifndef BLOCKSPARSE_TARGET_ASSERTIONS_H
#define BLOCKSPARSE_TARGET_ASSERTIONS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse {

/// An assertion that does not hold.
struct FailedAssertion {
  /// {0} and {1} stand for `left` and `right`; where those are null, each is a "?".
  std::string message;
  /// The two sides (i64) of the comparison that was asserted; null where it was folded away.
  Value left, right;
};

/// Replaces every `cf.assert` in `root` by a branch for the case that it does not hold, which
/// `report` fills.
void lowerAssertions(Operation *root,
                     function_ref<void(ImplicitLocOpBuilder &, const FailedAssertion &)> report);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_ASSERTIONS_H
