// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Arith.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;

Value mlir::blocksparse::indexConstant(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value mlir::blocksparse::i32Constant(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, b.getI32Type(), value);
}

int64_t mlir::blocksparse::knownIndex(Value value) {
  return getConstantIntValue(value).value_or(ShapedType::kDynamic);
}

Value Int::constant(int64_t number) const {
  return value.getType().isIndex() ? indexConstant(builder, number) : i32Constant(builder, number);
}

Int Int::operator+(Value rhs) const {
  return {builder, builder.createOrFold<arith::AddIOp>(value, rhs)};
}

Int Int::operator-(Value rhs) const {
  return {builder, builder.createOrFold<arith::SubIOp>(value, rhs)};
}

Int Int::operator*(Value rhs) const {
  return {builder, builder.createOrFold<arith::MulIOp>(value, rhs)};
}

Int Int::operator/(int64_t powerOfTwo) const {
  assert(llvm::isPowerOf2_64(powerOfTwo) && "expects a power of two");
  Value shift = constant(llvm::Log2_64(powerOfTwo));
  return {builder, builder.createOrFold<arith::ShRUIOp>(value, shift)};
}

Int Int::operator%(int64_t powerOfTwo) const {
  assert(llvm::isPowerOf2_64(powerOfTwo) && "expects a power of two");
  Value mask = constant(powerOfTwo - 1);
  return {builder, builder.createOrFold<arith::AndIOp>(value, mask)};
}

Int Int::operator^(Value rhs) const {
  return {builder, builder.createOrFold<arith::XOrIOp>(value, rhs)};
}

Value mlir::blocksparse::indexCeilDiv(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  Value last = Int(b, rhs) - 1;
  Value sum = Int(b, lhs) + last;
  return b.createOrFold<arith::DivUIOp>(sum, rhs);
}

Value mlir::blocksparse::indexMin(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return b.createOrFold<arith::MinSIOp>(lhs, rhs);
}

Value mlir::blocksparse::indexMax(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return b.createOrFold<arith::MaxSIOp>(lhs, rhs);
}

Value mlir::blocksparse::indexEqual(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, lhs, rhs);
}
