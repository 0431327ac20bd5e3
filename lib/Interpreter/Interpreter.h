// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_INTERPRETER_INTERPRETER_H
#define BLOCKSPARSE_LIB_INTERPRETER_INTERPRETER_H

#include "ReferenceOps.h"
#include "blocksparse/IR/OverflowMode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

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
  /// The largest number of blocks that a program may execute in the reference.
  static constexpr int64_t mostSteps = 1 << 20;

  /// Holds a value of the program: a tensor, or a number. A number is a tensor of rank 0 if its
  /// compiled value may differ.
  struct Bound {
    std::optional<ReferenceValue> tensor;
    Attribute scalar;
  };
  using Bounds = std::vector<Bound>;

  using Operands = llvm::DenseMap<Value, ReferenceValue>;

  FailureOr<Bounds> runFunction(func::FuncOp function, ArrayRef<Bound> arguments);
  LogicalResult evaluate(Operation &op);
  LogicalResult evaluateConstant(arith::ConstantOp op);
  LogicalResult evaluateCall(func::CallOp op);
  LogicalResult evaluateElements(Operation &op);
  LogicalResult evaluateExtent(tensor::DimOp op);
  /// Evaluates the operations that `create` puts before `op` and whose results it returns in place
  /// of those of `op`, and erases them.
  LogicalResult
  evaluateParts(Operation &op,
                llvm::function_ref<FailureOr<SmallVector<Value>>(OpBuilder &)> create);
  /// Evaluates a structured operation on the dense forms of its sparse operands. A sparse result
  /// has the pattern of the first of them.
  LogicalResult evaluateSparse(linalg::LinalgOp op);
  LogicalResult evaluateScalar(Operation &op);
  /// Defines the results that `evaluate` computes from the operands of `op`.
  LogicalResult evaluateWith(
      Operation &op,
      llvm::function_ref<FailureOr<std::vector<ReferenceValue>>(ReferenceLookup)> evaluate);
  LogicalResult evaluateLoop(scf::ForOp op);
  LogicalResult evaluateLoop(scf::WhileOp op);
  LogicalResult evaluateLoop(scf::ForallOp op);
  /// Inserts what one iteration of an scf.forall computed into `results`.
  LogicalResult insertResults(scf::InParallelOp op, Bounds &results);
  /// Returns numbers that are known; `user` is the operation that needs them.
  FailureOr<SmallVector<int64_t>> getNumbers(ArrayRef<OpFoldResult> mixed, Operation *user);
  LogicalResult evaluateChoice(scf::IfOp op);
  /// Executes the blocks of a region, and returns its last terminator.
  FailureOr<Operation *> runRegion(Region &region, ArrayRef<Bound> arguments);
  /// Returns the operands of `op` and what its regions use from outside; a number is a tensor of
  /// rank 0.
  FailureOr<Operands> getOperands(Operation &op);
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
