// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Control flow of the kernels: scf loops and conditions whose bodies are C++ lambdas.

#ifndef BLOCKSPARSE_LIB_CONVERSION_DEVICE_LOOPS_H
#define BLOCKSPARSE_LIB_CONVERSION_DEVICE_LOOPS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// Emits for (i = from; i < to; i += step) on index values. `body` receives i.
void emitLoop(ImplicitLocOpBuilder &b, Value from, Value to, Value step,
              function_ref<void(ImplicitLocOpBuilder &, Value)> body);

/// Emits the same loop as emitLoop with one carried value, and returns its last value: each
/// iteration receives the value of the one before, at first `initial`, and returns the next.
Value emitFold(ImplicitLocOpBuilder &b, Value from, Value to, Value step, Value initial,
               function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> body);

/// Emits a loop over integers of any one type that carries several values, and returns their last
/// values: each iteration receives the values of the one before and returns the next.
SmallVector<Value>
emitCarry(ImplicitLocOpBuilder &b, Value from, Value to, Value step, ValueRange initial,
          function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value, ValueRange)> body);

/// Emits items `from` .. count - 1 (i32) two by two: `pair` gets the number of the first of two,
/// and `single` that of the last one if one is left. Both receive the values that the ones before
/// returned, at first `initial`, and return the next. Returns the last values.
SmallVector<Value>
emitPairs(ImplicitLocOpBuilder &b, int64_t from, Value count, ValueRange initial,
          function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value, ValueRange)> pair,
          function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value, ValueRange)> single);

/// Emits `body` under the condition `condition` (i1).
void emitIf(ImplicitLocOpBuilder &b, Value condition,
            function_ref<void(ImplicitLocOpBuilder &)> body);

/// Returns the value of one of two branches, which have one type. If the condition is a constant,
/// only that branch is emitted.
Value emitChoice(ImplicitLocOpBuilder &b, Value condition,
                 function_ref<Value(ImplicitLocOpBuilder &)> whenTrue,
                 function_ref<Value(ImplicitLocOpBuilder &)> whenFalse);

/// Returns the values of one of two branches, which have as many values of the same types.
SmallVector<Value> emitChoices(ImplicitLocOpBuilder &b, Value condition,
                               function_ref<SmallVector<Value>(ImplicitLocOpBuilder &)> whenTrue,
                               function_ref<SmallVector<Value>(ImplicitLocOpBuilder &)> whenFalse);

/// Splits an index into digits: number = ((d0 * sizes[1] + d1) * sizes[2] + d2) .. Returns as many
/// digits as there are sizes; sizes[0] is not used.
SmallVector<Value> splitIndex(ImplicitLocOpBuilder &b, Value number, ArrayRef<Value> sizes);

/// Returns the product of all sizes.
Value productOf(ImplicitLocOpBuilder &b, ArrayRef<Value> sizes);

/// Returns i1: 0 <= index < size.
Value indexInside(ImplicitLocOpBuilder &b, Value index, Value size);
/// Returns i1: lhs < rhs, as signed index values.
Value indexLess(ImplicitLocOpBuilder &b, Value lhs, Value rhs);
/// Converts an integer to `index`.
Value toIndex(ImplicitLocOpBuilder &b, Value number);
/// Returns i1: lhs == rhs, for integers of one type.
Value isEqual(ImplicitLocOpBuilder &b, Value lhs, Value rhs);
/// Returns the conjunction of two i1.
Value both(ImplicitLocOpBuilder &b, Value lhs, Value rhs);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_DEVICE_LOOPS_H
