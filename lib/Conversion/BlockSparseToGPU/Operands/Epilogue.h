// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_EPILOGUE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_EPILOGUE_H

#include "../../Device/DeviceMath.h"
#include "../../OperandView.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/IR/IRMapping.h"

#include <array>

namespace mlir::blocksparse::device {

/// Where an element of a dense result stands, as [.., .., row, column] of the result as it is
/// stored.
struct StoredPosition {
  Value batch, head, row, col;
};

/// What follows the sum of products of an element with a dense result:
/// act(left_alpha * (alpha * sum) * right_alpha + beta * input + bias) + residual, computed in
/// the accumulator's type.
class Epilogue {
public:
  /// The operands that the epilogue of an op reads. `input` is left out where beta is 0.
  static SmallVector<Value> operands(PlannedDSDOp op);
  static SmallVector<Value> operands(PlannedMatmulOp op);

  /// Whether the epilogue of an op leaves the sum as it is.
  static bool isTrivial(PlannedDSDOp op);
  static bool isTrivial(PlannedMatmulOp op);

  /// The epilogue of an op with its operands seen through `mapping`.
  static Epilogue get(ImplicitLocOpBuilder &b, PlannedDSDOp op, const IRMapping &mapping);
  /// With `byRole`, positions are [batch, head, row, column] of the product, whatever the order of
  /// the axes of the result.
  static Epilogue get(ImplicitLocOpBuilder &b, PlannedMatmulOp op, const IRMapping &mapping,
                      bool byRole = false);

  /// `hasProducts` (i1) is false where alpha, K or nnz is 0: the first term is then 0 whatever
  /// the factors are. `sum` and the result are of the accumulator's type.
  Value apply(ImplicitLocOpBuilder &b, Value sum, Value hasProducts,
              const StoredPosition &position) const;

  enum Term { LeftAlpha, RightAlpha, Input, Bias, Residual };
  static constexpr int64_t numTerms = 5;
  /// What the elements of a term depend on, in the matrix of a batch and a head.
  enum class TermKind { Row, Column, Matrix };
  /// As far as types tell; nothing where the epilogue of the op lacks the term.
  static std::optional<TermKind> kindOf(PlannedDSDOp op, Term term);
  struct TermView {
    DenseView view;
    TermKind kind;
  };
  /// A term's operand; nothing where the epilogue lacks it.
  const std::optional<TermView> &getTerm(Term term) const { return terms[term]; }
  /// `apply` on the elements that `element` gives of the terms that there are.
  Value combine(ImplicitLocOpBuilder &b, Value sum, Value hasProducts,
                function_ref<Value(Term)> element, Accuracy accuracy = Accuracy::Full) const;

private:
  /// The operand of a term, or null; none where it is multiplied by 0.
  static Value operandOf(PlannedDSDOp op, Term term);
  void bind(ImplicitLocOpBuilder &b, Term term, Value operand, bool headsBehindRows = false);
  void bind(std::optional<ActivationAttr> activation);

  double alpha = 1, beta = 0;
  ActivationKind activation = ActivationKind::None;
  double slope = 0;
  std::array<std::optional<TermView>, numTerms> terms;
};

/// act(x) of a float; only relu of an integer. Factors that vanish far below 0 win over -infinity.
Value emitActivation(ImplicitLocOpBuilder &b, ActivationKind kind, double slope, Value x,
                     Accuracy accuracy = Accuracy::Full);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_EPILOGUE_H
