// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_INTERPRETER_SCALARRULES_H
#define BLOCKSPARSE_LIB_INTERPRETER_SCALARRULES_H

#include "blocksparse/Support/ElementType.h"
#include "mlir/IR/Operation.h"

#include <functional>

namespace mlir::blocksparse {

/// Describes an element: a floating-point number and the bound of its error, or an integer. The
/// compiled element may be anything if `any` is true.
struct Number {
  double x = 0, error = 0;
  int64_t n = 0;
  bool any = false;
};

using Numbers = ArrayRef<Number>;
using ScalarRule = std::function<Number(Numbers)>;

/// Returns the rule that gives one element of the result of `op`, an operation of the arith or math
/// dialect on scalars or on tensors, from one element of each operand. Errors of the operands are
/// carried through; where they may change the result to anything (a comparison of numbers that are
/// closer than their errors, a divisor that may be 0), it is marked. Returns null if the reference
/// does not know the operation or the type of its result.
ScalarRule getScalarRule(Operation *op);

/// Returns true if the result of `op` is exact where its operands are.
bool isExactOperation(Operation *op);

/// Gives a number that is too large for its type the value that it has in the compiled program.
void overflow(Number &number, ::blocksparse::ElementType type);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_INTERPRETER_SCALARRULES_H
