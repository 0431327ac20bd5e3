// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Checks of the numbered constraints that several operations share. Each returns failure after it
// has reported one error through `emitError`. BlockSparseConstraints.td has the words of each
// number.

#ifndef BLOCKSPARSE_LIB_IR_CONSTRAINTS_H
#define BLOCKSPARSE_LIB_IR_CONSTRAINTS_H

#include "ProductShapes.h"

namespace mlir::blocksparse::detail {

/// Checks C4: `layout`, the layout of the operand or result `name`, resolves to a pattern. A null
/// layout passes.
LogicalResult checkResolvable(LayoutAttrInterface layout, StringRef name, EmitError emitError);
/// Checks C4 for the encoding of a sparse tensor. A dynamic pattern passes.
LogicalResult checkResolvable(RankedTensorType type, StringRef name, EmitError emitError);

/// Checks that `type` has the shape `expected`, in which a dynamic size equals any other.
LogicalResult checkShape(ShapedType type, ArrayRef<int64_t> expected, StringRef name,
                         EmitError emitError);

/// Checks C9: the factors have one element type, which is floating-point or i8.
LogicalResult checkFactorElements(Type a, Type b, StringRef nameA, StringRef nameB,
                                  EmitError emitError);
/// Checks C10: a product of factors of type `element` may have elements of type `result`.
LogicalResult checkProductElement(Type element, Type result, EmitError emitError);
/// Checks C11: a precision other than ieee has f32 factors.
LogicalResult checkPrecision(Precision precision, Type element, EmitError emitError);

/// Checks C8 to C11 of a product. `shape` is the inferred shape of its result; inference has
/// checked C5 to C7 and reported an error if it failed.
LogicalResult checkDenseProduct(const ProductOperands &operands, ShapedType result,
                                FailureOr<SmallVector<int64_t>> shape, Precision precision,
                                EmitError emitError);

/// Checks C12: a dynamic result has a pattern operand of its type, a static one has none.
LogicalResult checkPattern(Value pattern, RankedTensorType result, EmitError emitError);

/// Describes a factor that an attribute or an operand (null: none) gives.
struct Factor {
  StringRef name;
  double attribute;
  Value operand;
};
/// Checks C62: each operand has the accumulation type of `element`, and its attribute is 1.
LogicalResult checkFactors(ArrayRef<Factor> factors, Type element, EmitError emitError);

/// The operands and attributes of an epilogue (see the dialect's description). A null value is an
/// operand that the operation lacks.
struct EpilogueOperands {
  Type factorElement;
  ShapedType result;
  Value bias = {};
  Value residual = {};
  double alpha = 1.0;
  std::optional<ActivationAttr> activation = std::nullopt;
  Value input = {};
  Value leftAlpha = {};
  Value rightAlpha = {};
  double beta = 0.0;
  Value dynamicAlpha = {};
  Value dynamicBeta = {};
};

/// Returns the operands of the epilogue of `op`, which has no input; `element` is the type of its
/// factors, `result` that of its result.
template <typename OpTy>
EpilogueOperands getEpilogue(OpTy op, Type element, ShapedType result) {
  EpilogueOperands epilogue{
      element,           result, op.getBias(), op.getResidual(), op.getAlpha().convertToDouble(),
      op.getActivation()};
  epilogue.dynamicAlpha = op.getDynamicAlpha();
  return epilogue;
}

/// Returns the operands of an epilogue that has an input and scales of rows and columns, too.
template <typename OpTy>
EpilogueOperands getScaledEpilogue(OpTy op, Type element, ShapedType result) {
  EpilogueOperands epilogue = getEpilogue(op, element, result);
  epilogue.input = op.getInput();
  epilogue.leftAlpha = op.getLeftAlpha();
  epilogue.rightAlpha = op.getRightAlpha();
  epilogue.beta = op.getBeta().convertToDouble();
  epilogue.dynamicBeta = op.getDynamicBeta();
  return epilogue;
}

/// Checks C13, C14, C17, C44 and C62.
LogicalResult checkEpilogue(const EpilogueOperands &epilogue, EmitError emitError);
/// Checks C13 to C17, C44 and C62 of an epilogue that has an input and scales of rows and columns.
LogicalResult checkScaledEpilogue(const EpilogueOperands &epilogue, EmitError emitError);

/// Checks C16: an operation whose beta is not 0 has an input.
LogicalResult checkInput(Value input, double beta, EmitError emitError);

/// Checks C17: alpha and beta are integral where the factors, of type `element`, are integers.
LogicalResult checkIntegralFactors(Type element, double alpha, double beta, EmitError emitError);

/// Checks that `type` has rank 2 to 4 and that each of its dimensions is missing, 1 or equal to
/// that of `shape`. A dynamic dimension passes.
LogicalResult checkBroadcastable(ShapedType type, ArrayRef<int64_t> shape, StringRef name,
                                 EmitError emitError);

/// Describes the operands and attributes of scatter_mm or planned_scatter_mm.
struct ScatterOperands {
  ShapedType blocks;
  ShapedType others;
  ShapedType accumulators;
  ValueRange indices;
  ScatterFormat format;
  int64_t splitN;
  Precision precision;
};

/// Checks C9 to C11 and C18 to C20.
LogicalResult checkScatterMM(const ScatterOperands &operands, EmitError emitError);
/// Checks the part of C18 that concerns the index tensors alone: their number, their ranks, and
/// that they have one element type.
LogicalResult checkScatterIndices(ValueRange indices, ScatterFormat format, EmitError emitError);
/// Checks the part of C20 that concerns `split_n` alone.
LogicalResult checkSplit(ScatterFormat format, int64_t splitN, EmitError emitError);

/// Checks that two operands have one element type.
LogicalResult checkSameElement(Value value, Value other, StringRef name, StringRef otherName,
                               EmitError emitError);
/// Checks C41: `crow` and `col`, which messages call crow_indices and col_indices, have one rank
/// and one element type.
LogicalResult checkPatternIndices(Value crow, Value col, EmitError emitError);

/// Describes the masks and the bias of a softmax over scores of shape `shape` = [..., M, N].
struct SoftmaxOperands {
  SmallVector<int64_t> shape;
  Value rpe;
  Value keyPaddingMask;
  Value attentionMask;
  MaskMode keyPaddingMaskMode;
  MaskMode attentionMaskMode;
};

/// Describes the masks of a softmax that are functions of the position.
struct PositionMasks {
  Value keyLengths, queryLengths, querySegments, keySegments;
  bool causal;
  int64_t causalOffset;
  std::optional<ArrayRef<int64_t>> window;

  template <typename OpTy>
  static PositionMasks get(OpTy op) {
    return {op.getKeyLengths(),  op.getQueryLengths(), op.getQuerySegments(),
            op.getKeySegments(), op.getCausal(),       static_cast<int64_t>(op.getCausalOffset()),
            op.getWindow()};
  }
};

/// Checks C50 to C52 and C58 for scores of shape `shape` = [..., M, N].
LogicalResult checkPositionMasks(const PositionMasks &masks, ArrayRef<int64_t> shape,
                                 EmitError emitError);

/// Checks C22 to C25.
LogicalResult checkSoftmaxOperands(const SoftmaxOperands &operands, EmitError emitError);

/// Checks that `element`, the element type of `name`, is floating-point.
LogicalResult checkFloat(Type element, StringRef name, EmitError emitError);

/// Checks C26: `lse`, the operand or result `name`, has the shape `rowShape` = [..., M] and the
/// accumulation type of `element`.
LogicalResult checkLogSumExp(ShapedType lse, ArrayRef<int64_t> rowShape, Type element,
                             StringRef name, EmitError emitError);

/// Checks C56: `sink`, which messages call `name`, has one number for each head of rows of
/// shape `rowShape` = [..., M], in the accumulation type of `element`.
LogicalResult checkSink(ShapedType sink, ArrayRef<int64_t> rowShape, Type element, StringRef name,
                        EmitError emitError);

/// Checks C53: the heads of `q` are a multiple of those of `type`, keys or values that messages
/// call `name`, where both have several.
LogicalResult checkSharedHeads(ShapedType type, ShapedType q, StringRef name, EmitError emitError);

/// Checks C54: a bound of scores, if there is one, is a finite number above 0.
LogicalResult checkSoftCap(std::optional<APFloat> cap, EmitError emitError);

/// Checks C47: `out` and `dout` are both there or both null.
LogicalResult checkOutAndGradient(Value out, Value dout, EmitError emitError);

} // namespace mlir::blocksparse::detail

#endif // BLOCKSPARSE_LIB_IR_CONSTRAINTS_H
