// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Loops.h"

#include "Arith.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

void mlir::blocksparse::device::emitLoop(ImplicitLocOpBuilder &b, Value from, Value to, Value step,
                                         function_ref<void(ImplicitLocOpBuilder &, Value)> body) {
  scf::ForOp::create(b, from, to, step, ValueRange{},
                     [&](OpBuilder &builder, Location loc, Value i, ValueRange) {
                       ImplicitLocOpBuilder inner(loc, builder);
                       body(inner, i);
                       scf::YieldOp::create(inner);
                     });
}

Value mlir::blocksparse::device::emitFold(
    ImplicitLocOpBuilder &b, Value from, Value to, Value step, Value initial,
    function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> body) {
  auto loop =
      scf::ForOp::create(b, from, to, step, initial,
                         [&](OpBuilder &builder, Location loc, Value i, ValueRange carried) {
                           ImplicitLocOpBuilder inner(loc, builder);
                           Value next = body(inner, i, carried.front());
                           scf::YieldOp::create(inner, next);
                         });
  return loop.getResult(0);
}

SmallVector<Value> mlir::blocksparse::device::emitCarry(
    ImplicitLocOpBuilder &b, Value from, Value to, Value step, ValueRange initial,
    function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value, ValueRange)> body) {
  auto loop =
      scf::ForOp::create(b, from, to, step, initial,
                         [&](OpBuilder &builder, Location loc, Value i, ValueRange carried) {
                           ImplicitLocOpBuilder inner(loc, builder);
                           scf::YieldOp::create(inner, body(inner, i, carried));
                         });
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> mlir::blocksparse::device::emitPairs(
    ImplicitLocOpBuilder &b, int64_t from, Value count, ValueRange initial,
    function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value, ValueRange)> pair,
    function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, Value, ValueRange)> single) {
  Value last = Int(b, count) + (-1);
  SmallVector<Value> end =
      emitCarry(b, i32Constant(b, from), last, i32Constant(b, 2), initial, pair);
  Value isLeft = isEqual(b, Int(b, count) % 2, i32Constant(b, (from + 1) % 2));
  return emitChoices(
      b, isLeft, [&](ImplicitLocOpBuilder &b) { return single(b, last, end); },
      [&](ImplicitLocOpBuilder &) { return end; });
}

void mlir::blocksparse::device::emitIf(ImplicitLocOpBuilder &b, Value condition,
                                       function_ref<void(ImplicitLocOpBuilder &)> body) {
  scf::IfOp::create(b, condition, [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder inner(loc, builder);
    body(inner);
    scf::YieldOp::create(inner);
  });
}

Value mlir::blocksparse::device::emitChoice(ImplicitLocOpBuilder &b, Value condition,
                                            function_ref<Value(ImplicitLocOpBuilder &)> whenTrue,
                                            function_ref<Value(ImplicitLocOpBuilder &)> whenFalse) {
  if (int64_t known = knownIndex(condition); !ShapedType::isDynamic(known))
    return known != 0 ? whenTrue(b) : whenFalse(b);
  auto branch = [](function_ref<Value(ImplicitLocOpBuilder &)> body) {
    return [body](OpBuilder &builder, Location loc) {
      ImplicitLocOpBuilder inner(loc, builder);
      Value result = body(inner);
      scf::YieldOp::create(inner, result);
    };
  };
  return scf::IfOp::create(b, condition, branch(whenTrue), branch(whenFalse)).getResult(0);
}

SmallVector<Value> mlir::blocksparse::device::emitChoices(
    ImplicitLocOpBuilder &b, Value condition,
    function_ref<SmallVector<Value>(ImplicitLocOpBuilder &)> whenTrue,
    function_ref<SmallVector<Value>(ImplicitLocOpBuilder &)> whenFalse) {
  auto branch = [](function_ref<SmallVector<Value>(ImplicitLocOpBuilder &)> body) {
    return [body](OpBuilder &builder, Location loc) {
      ImplicitLocOpBuilder inner(loc, builder);
      scf::YieldOp::create(inner, body(inner));
    };
  };
  auto choice = scf::IfOp::create(b, condition, branch(whenTrue), branch(whenFalse));
  return SmallVector<Value>(choice.getResults());
}

SmallVector<Value> mlir::blocksparse::device::splitIndex(ImplicitLocOpBuilder &b, Value number,
                                                         ArrayRef<Value> sizes) {
  SmallVector<Value> digits(sizes.size());
  for (size_t i = sizes.size(); i-- > 1;) {
    digits[i] = b.createOrFold<arith::RemUIOp>(number, sizes[i]);
    number = b.createOrFold<arith::DivUIOp>(number, sizes[i]);
  }
  digits[0] = number;
  return digits;
}

Value mlir::blocksparse::device::productOf(ImplicitLocOpBuilder &b, ArrayRef<Value> sizes) {
  Value product = indexConstant(b, 1);
  for (Value size : sizes)
    product = Int(b, product) * size;
  return product;
}

Value mlir::blocksparse::device::indexLess(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, lhs, rhs);
}

Value mlir::blocksparse::device::indexInside(ImplicitLocOpBuilder &b, Value index, Value size) {
  return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, index, size);
}

Value mlir::blocksparse::device::toIndex(ImplicitLocOpBuilder &b, Value number) {
  return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), number);
}

Value mlir::blocksparse::device::isEqual(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lhs, rhs);
}

Value mlir::blocksparse::device::both(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return b.createOrFold<arith::AndIOp>(lhs, rhs);
}
