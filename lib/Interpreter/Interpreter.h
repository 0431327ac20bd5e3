// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_INTERPRETER_INTERPRETER_H
#define BLOCKSPARSE_LIB_INTERPRETER_INTERPRETER_H

#include "ReferenceValue.h"
#include "blocksparse/IR/OverflowMode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::blocksparse {

/// Evaluates a function operation by operation, loops and branches included.
class Interpreter {
public:
  /// Called with each value that is not constant, in order; may change the value that later
  /// operations see.
  using Observer = llvm::function_ref<void(Value, ReferenceValue &)>;

  explicit Interpreter(Observer observer = {}) : observer(observer) {}

  FailureOr<std::vector<ReferenceValue>> run(func::FuncOp function,
                                             ArrayRef<ReferenceValue> arguments);

private:
  /// Holds a value of the program: a tensor, or a number that is known.
  struct Bound {
    std::optional<ReferenceValue> tensor;
    Attribute scalar;
  };
  using Bounds = std::vector<Bound>;

  FailureOr<std::vector<ReferenceValue>> runFunction(func::FuncOp function,
                                                     ArrayRef<Bound> arguments);
  LogicalResult evaluate(Operation &op);
  LogicalResult evaluateConstant(arith::ConstantOp op);
  LogicalResult evaluateCall(func::CallOp op);
  LogicalResult evaluateElements(Operation &op);
  LogicalResult evaluateScalar(Operation &op);
  LogicalResult evaluateLoop(scf::ForOp op);
  LogicalResult evaluateLoop(scf::WhileOp op);
  LogicalResult evaluateChoice(scf::IfOp op);
  /// Executes the blocks of a region, and returns its last terminator.
  FailureOr<Operation *> runRegion(Region &region, ArrayRef<Bound> arguments);
  FailureOr<Bound> get(Value value, Operation *user);
  FailureOr<Bounds> get(ValueRange range, Operation *user);
  FailureOr<int64_t> getNumber(Value value, Operation *user);
  void set(Value value, const Bound &bound);
  void define(Value result, ReferenceValue value);
  /// Defines the results of a control-flow operation.
  void defineAll(Operation &op, ArrayRef<Bound> bounds);

  Observer observer;
  llvm::DenseMap<Value, ReferenceValue> values;
  llvm::DenseMap<Value, Attribute> scalars;
  /// Says what is written where an f8 result is too large; absent before a function runs.
  std::optional<OverflowMode> overflow;
  /// Number of blocks that were executed.
  int64_t steps = 0;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_INTERPRETER_INTERPRETER_H
