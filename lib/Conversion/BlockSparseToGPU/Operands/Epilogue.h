// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_EPILOGUE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_EPILOGUE_H

#include "../../Device/DeviceMath.h"
#include "../../EpilogueFormula.h"
#include "../../OperandView.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/IR/IRMapping.h"

#include <array>

namespace mlir::blocksparse::device {

/// Holds the indices of an element of a dense result, [.., .., row, column] of the result as it is
/// stored.
struct StoredPosition {
  Value batch, head, row, col;
};

/// Emits what follows the accumulation of an element of a dense result, see EpilogueFormula.
class Epilogue {
public:
  /// Return the operands that the epilogue of an operation reads. The input is left out if beta is
  /// 0.
  static SmallVector<Value> operands(PlannedDSDOp op);
  static SmallVector<Value> operands(PlannedMatmulOp op);

  /// Return true if the epilogue of an operation leaves the accumulator as it is.
  static bool isTrivial(PlannedDSDOp op);
  static bool isTrivial(PlannedMatmulOp op);

  /// Returns the epilogue of an operation, whose operands are the arguments that `mapping` gives.
  static Epilogue get(ImplicitLocOpBuilder &b, PlannedDSDOp op, const IRMapping &mapping);
  /// Returns the epilogue of a dense product. If `byRole` is true, positions are [batch, head, row,
  /// column] of the product, whatever the order of the axes of the result.
  static Epilogue get(ImplicitLocOpBuilder &b, PlannedMatmulOp op, const IRMapping &mapping,
                      bool byRole = false);

  /// Returns the element of the result at `position` from its accumulator `sum`, both in the
  /// accumulation type. `hasProducts` (i1) is false if alpha, K or nnz is 0: the first term of the
  /// formula is then 0, whatever its factors are.
  Value apply(ImplicitLocOpBuilder &b, Value sum, Value hasProducts,
              const StoredPosition &position) const;

  using Operand = EpilogueFormula::Operand;
  using enum EpilogueFormula::Operand;
  static constexpr int64_t numOperands = EpilogueFormula::numOperands;
  /// Says what the elements of an operand depend on, in the matrix of a batch and a head: the row,
  /// the column, both, or neither.
  enum class OperandKind { Row, Column, Matrix, Scalar };
  /// Returns what the elements of an operand depend on, as far as types tell. Nothing if the
  /// epilogue of the operation lacks the operand.
  static std::optional<OperandKind> kindOf(PlannedDSDOp op, Operand which);
  /// Describes an operand that the epilogue has.
  struct BoundOperand {
    DenseView view;
    OperandKind kind;
  };
  /// Returns an operand; nothing if the epilogue lacks it.
  const std::optional<BoundOperand> &getOperandOf(Operand which) const { return bound[which]; }
  /// Returns the element of the result from its accumulator `sum`. `element` returns the elements
  /// of the operands that the epilogue has; `hasProducts` is as in apply.
  Value combine(ImplicitLocOpBuilder &b, Value sum, Value hasProducts,
                function_ref<Value(Operand)> element, Accuracy accuracy = Accuracy::Full) const;

private:
  /// Returns an operand, or null; null also for an input that is multiplied by 0.
  static Value operandOf(PlannedDSDOp op, Operand which);
  void bind(ImplicitLocOpBuilder &b, Operand which, Value operand, bool headsBehindRows = false);
  void bind(std::optional<ActivationAttr> activation);

  EpilogueFormula formula;
  ActivationKind activation = ActivationKind::None;
  double slope = 0;
  std::array<std::optional<BoundOperand>, numOperands> bound;
};

/// Returns `term`, or 0 if `factor` is 0. Both are numbers of one type.
Value dropZero(ImplicitLocOpBuilder &b, Value factor, Value term);
/// Loads a factor from a memref of rank 0.
Value loadFactor(ImplicitLocOpBuilder &b, Value memref);
/// Returns factor * term, or 0 if the factor is 0, whatever the term is.
Value scaleBy(ImplicitLocOpBuilder &b, Value factor, Value term);

/// Returns act(x) of a float; of an integer only relu. act(-infinity) is the limit, 0, of
/// activations that vanish far below 0.
Value emitActivation(ImplicitLocOpBuilder &b, ActivationKind kind, double slope, Value x,
                     Accuracy accuracy = Accuracy::Full);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_EPILOGUE_H
