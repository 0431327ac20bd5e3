// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Integer arithmetic of kernels, on `index` and on i32, written as C++ expressions:
//
//   Value offset = (Int(b, row) * rowBytes + column) * 2;
//
// An Int holds a reference to the builder, so it is a temporary of one expression: variables,
// fields and captures are of type Value. All operations fold constants.

#ifndef BLOCKSPARSE_LIB_CONVERSION_DEVICE_ARITH_H
#define BLOCKSPARSE_LIB_CONVERSION_DEVICE_ARITH_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse {

/// Returns a constant of type `index`, which is 64 bits wide on every target.
Value indexConstant(ImplicitLocOpBuilder &b, int64_t value);
/// Returns a constant of type i32.
Value i32Constant(ImplicitLocOpBuilder &b, int64_t value);

/// Returns the constant that an integer value is known to be, or kDynamic.
int64_t knownIndex(Value value);

/// Holds an integer operand of an expression: a value of type `index` or i32, and the builder that
/// creates the operations on it. Both operands of an operation have one type; an int64_t operand
/// becomes a constant of that type.
class Int {
public:
  Int(ImplicitLocOpBuilder &builder, Value value) : builder(builder), value(value) {}

  operator Value() const { return value; }

  Int operator+(Value rhs) const;
  Int operator-(Value rhs) const;
  Int operator*(Value rhs) const;
  Int operator+(int64_t rhs) const { return *this + constant(rhs); }
  Int operator-(int64_t rhs) const { return *this - constant(rhs); }
  Int operator*(int64_t rhs) const { return *this * constant(rhs); }
  /// Return the quotient and the remainder by a power of two, as a shift and a mask. They require a
  /// non-negative left operand.
  Int operator/(int64_t powerOfTwo) const;
  Int operator%(int64_t powerOfTwo) const;
  Int operator^(Value rhs) const;

private:
  Value constant(int64_t number) const;

  ImplicitLocOpBuilder &builder;
  Value value;
};

/// Returns the quotient rounded up. Requires lhs >= 0 and rhs > 0.
Value indexCeilDiv(ImplicitLocOpBuilder &b, Value lhs, Value rhs);
/// Return the smaller and the larger of two signed values.
Value indexMin(ImplicitLocOpBuilder &b, Value lhs, Value rhs);
Value indexMax(ImplicitLocOpBuilder &b, Value lhs, Value rhs);
/// Returns an i1 that is true where lhs == rhs.
Value indexEqual(ImplicitLocOpBuilder &b, Value lhs, Value rhs);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_DEVICE_ARITH_H
