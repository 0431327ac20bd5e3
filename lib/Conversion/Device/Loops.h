// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Control flow of the kernels: scf loops and conditions whose bodies are C++ lambdas.

#ifndef BLOCKSPARSE_LIB_CONVERSION_DEVICE_LOOPS_H
#define BLOCKSPARSE_LIB_CONVERSION_DEVICE_LOOPS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// for (i = from; i < to; i += step) on index values.
void emitLoop(ImplicitLocOpBuilder &b, Value from, Value to, Value step,
              function_ref<void(ImplicitLocOpBuilder &, Value)> body);

/// The same from `from` to `to` by 1, carrying one value: each turn gives the next.
Value emitFold(ImplicitLocOpBuilder &b, Value from, Value to, Value step, Value initial,
               function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> body);

/// A loop over numbers of any one type that carries values: each turn gives the next.
SmallVector<Value>
emitCarry(ImplicitLocOpBuilder &b, Value from, Value to, Value step, ValueRange initial,
          function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value, ValueRange)> body);

void emitIf(ImplicitLocOpBuilder &b, Value condition,
            function_ref<void(ImplicitLocOpBuilder &)> body);

/// The value of one of two branches, which have one type. A condition known when the
/// kernel is built leaves one branch alone.
Value emitChoice(ImplicitLocOpBuilder &b, Value condition,
                 function_ref<Value(ImplicitLocOpBuilder &)> whenTrue,
                 function_ref<Value(ImplicitLocOpBuilder &)> whenFalse);

/// Takes a number apart: number = ((d0 * sizes[1] + d1) * sizes[2] + d2) .. The result has
/// as many digits as there are sizes; sizes[0] is not looked at.
SmallVector<Value> splitIndex(ImplicitLocOpBuilder &b, Value number, ArrayRef<Value> sizes);

/// The product of all sizes.
Value productOf(ImplicitLocOpBuilder &b, ArrayRef<Value> sizes);

/// 0 <= index < size.
Value indexInside(ImplicitLocOpBuilder &b, Value index, Value size);
/// lhs < rhs, signed index.
Value indexLess(ImplicitLocOpBuilder &b, Value lhs, Value rhs);
/// An integer as index.
Value toIndex(ImplicitLocOpBuilder &b, Value number);
/// lhs == rhs, integers of one type.
Value isEqual(ImplicitLocOpBuilder &b, Value lhs, Value rhs);
/// Conjunction of i1.
Value both(ImplicitLocOpBuilder &b, Value lhs, Value rhs);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_DEVICE_LOOPS_H
