// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_EPILOGUEMATCH_H
#define BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_EPILOGUEMATCH_H

#include "blocksparse/Transforms/Neighbours/ActivationMatch.h"

namespace mlir::blocksparse {

/// Is a tensor of an epilogue: the map takes indices of the result to its own.
struct EpilogueTensor {
  Value tensor;
  AffineMap map;
  double factor = 1;
};

/// Describes act(left * (alpha * product) * right + before[0] + before[1] + ...) + after[0] + ...
struct EpilogueTerms {
  double alpha = 1;
  std::optional<EpilogueTensor> left, right;
  /// A second factor `alpha` that is known when the program runs: a number or a tensor of one
  /// element. Null if there is none.
  Value dynamicAlpha;
  SmallVector<EpilogueTensor> before, after;
  /// Holds the activation; its kind is None if there is none.
  ActivationKind activation = ActivationKind::None;
  double slope = 0;

  bool hasActivation() const { return activation != ActivationKind::None; }
};

/// Returns the epilogue that an expression applies to the product, with additions in the order of
/// the expression; or a reason in `fault` why it is no epilogue.
FailureOr<EpilogueTerms> matchEpilogue(Expression expression, std::string &fault);

/// Returns the epilogue that applies `inner` and then `outer`, or a reason in `fault` why that is
/// no epilogue.
FailureOr<EpilogueTerms> composeEpilogues(const EpilogueTerms &inner, const EpilogueTerms &outer,
                                          std::string &fault);

/// Is an operand of a product's epilogue that is added.
enum class AddedOperand { Input, Bias, Residual };

/// Says which tensors of an epilogue become which operands; null where an operand is missing.
struct AddedOperands {
  const EpilogueTensor *input = nullptr, *bias = nullptr, *residual = nullptr;
};

/// Returns the operands that add the terms of an epilogue in their order: `input`, if `hasInput`
/// says that the product may have one, and `bias`, the activation, then `residual`. Without an
/// activation all three add to the same sum. `rank` is that of the result. Fails if there is no
/// such choice; one without `input` is preferred.
FailureOr<AddedOperands> chooseOperands(const EpilogueTerms &terms, int64_t rank, bool hasInput);

/// Returns true if the map reads a vector along dimension `dim` of the result: other dimensions of
/// the tensor have the size 1.
bool isVectorAlong(const EpilogueTensor &term, int64_t dim);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_EPILOGUEMATCH_H
