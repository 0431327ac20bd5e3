// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The vector-Jacobian products of operations, one rule for each. A rule reads the cotangents of the
// results of an operation and adds its share to those of the operands.

#ifndef BLOCKSPARSE_LIB_TRANSFORMS_GRADIENTS_GRADIENTRULES_H
#define BLOCKSPARSE_LIB_TRANSFORMS_GRADIENTS_GRADIENTRULES_H

#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse {

/// Holds what the rules compute with: values of the differentiated function, which a rule names as
/// they are there, and their cotangents in the backward function.
class GradientBuilder : public ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  virtual ~GradientBuilder() = default;

  /// Returns `value` of the differentiated function where the backward function has it.
  virtual Value getPrimal(Value value) = 0;
  /// Returns true if the gradient of `value` is asked for.
  virtual bool isWanted(Value value) const = 0;

  /// Returns the cotangent of `value`; null if there is none.
  Value getCotangent(Value value) const { return cotangents.lookup(value); }
  /// Adds `term`, of the type of `value`, to the cotangent of `value`.
  void addCotangent(Value value, Value term);

private:
  DenseMap<Value, Value> cotangents;
};

/// Adds the gradients of the operands of `op`, at least one of whose results has a cotangent. Fails
/// with an error at `op` if it has no rule. Each function has the rules of one family.
LogicalResult addGradients(Operation *op, GradientBuilder &b);
std::optional<LogicalResult> addProductGradients(Operation *op, GradientBuilder &b);
std::optional<LogicalResult> addRowGradients(Operation *op, GradientBuilder &b);
std::optional<LogicalResult> addElementGradients(Operation *op, GradientBuilder &b);

/// Returns a tensor with its elements as floats of type `element`.
Value asElement(ImplicitLocOpBuilder &b, Value tensor, Type element);

/// Returns a tensor of zeros of the type and the sizes of `like`, whose elements are not read. A
/// sparse one has the pattern of `like`.
Value createZeros(ImplicitLocOpBuilder &b, Value like);

/// Returns a sparse tensor times a factor: `factor`, or `operand` (a tensor of rank 0) where it is
/// not null.
Value scaleSparse(ImplicitLocOpBuilder &b, Value sparse, const llvm::APFloat &factor,
                  Value operand = {});

/// Returns a factor that is an operand, as the gradient uses it; null for one that is absent.
Value factorOf(GradientBuilder &b, Value operand);

/// Fails with an error if the gradient of a factor that is an operand is asked for.
LogicalResult checkFactor(Operation *op, GradientBuilder &b, Value factor, StringRef name);

/// Computes each element of a dense tensor of the type of `like`, by `body`, from the elements of
/// `inputs`, which broadcast to it by numpy's rules, in the accumulation type of `like`.
Value mapElements(ImplicitLocOpBuilder &b, Value like, ValueRange inputs,
                  llvm::function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> body);

/// Sums `full` to `type`, which broadcasts to it by numpy's rules, in the accumulation type.
Value sumToShape(ImplicitLocOpBuilder &b, Value full, RankedTensorType type);

/// Returns the cotangent of the argument of an activation from that of its result. `x` is the
/// argument.
Value createActivationGradient(ImplicitLocOpBuilder &b, ActivationAttr activation, Value cotangent,
                               Value x);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TRANSFORMS_GRADIENTS_GRADIENTRULES_H
