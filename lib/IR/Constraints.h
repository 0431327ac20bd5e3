// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The numbered constraints that several ops share. The table that the numbers refer to is
// the dialect's description (BlockSparseDialect.td); tests carry the same numbers.

#ifndef BLOCKSPARSE_LIB_IR_CONSTRAINTS_H
#define BLOCKSPARSE_LIB_IR_CONSTRAINTS_H

#include "ProductShapes.h"

namespace mlir::blocksparse::detail {

/// C4: the pattern of a static layout can be had.
LogicalResult checkResolvable(LayoutAttrInterface layout, StringRef name, EmitError emitError);
/// The same for a sparse tensor; a dynamic pattern passes.
LogicalResult checkResolvable(RankedTensorType type, StringRef name, EmitError emitError);

/// C8: `type` has the shape `expected`, as far as both are known.
LogicalResult checkShape(ShapedType type, ArrayRef<int64_t> expected, StringRef name,
                         EmitError emitError);

/// C9: the factors have one element type, and it is one that products take.
LogicalResult checkFactorElements(Type a, Type b, StringRef nameA, StringRef nameB,
                                  EmitError emitError);
/// C10: the product of `element` may be stored as `result`.
LogicalResult checkProductElement(Type element, Type result, EmitError emitError);
/// C11: a precision other than ieee comes with f32 factors.
LogicalResult checkPrecision(Precision precision, Type element, EmitError emitError);

/// C5 to C11 of a product whose shape was inferred (with errors reported) as `shape`.
LogicalResult checkDenseProduct(const ProductOperands &operands, ShapedType result,
                                FailureOr<SmallVector<int64_t>> shape, Precision precision,
                                EmitError emitError);

/// C12: a pattern operand is there for a dynamic result alone, and has its type.
LogicalResult checkPattern(Value pattern, RankedTensorType result, EmitError emitError);

/// What follows the sum of products in an op with a dense result.
struct EpilogueOperands {
  Type factorElement;
  ShapedType result;
  Value bias = {};
  Value residual = {};
  Value input = {};
  Value leftAlpha = {};
  Value rightAlpha = {};
  double alpha = 1.0;
  double beta = 0.0;
  std::optional<ActivationAttr> activation = std::nullopt;
};

/// C13 to C17.
LogicalResult checkEpilogue(const EpilogueOperands &epilogue, EmitError emitError);

/// C17: alpha and beta are integral where the factors are.
LogicalResult checkIntegralFactors(Type element, double alpha, double beta, EmitError emitError);

/// `type` has rank 2 to 4 and each of its dimensions is missing, 1 or that of `shape`; a
/// dynamic leading dimension counts as that of `shape`.
LogicalResult checkBroadcastable(ShapedType type, ArrayRef<int64_t> shape, StringRef name,
                                 EmitError emitError);

/// The operands of scatter_mm, before and after planning.
struct ScatterOperands {
  ShapedType blocks;
  ShapedType others;
  ShapedType accumulators;
  ValueRange indices;
  ScatterFormat format;
  int64_t splitN;
  Precision precision;
};

/// C9 to C11 and C18 to C20.
LogicalResult checkScatterMM(const ScatterOperands &operands, EmitError emitError);

/// The masks and the bias of a row softmax over elements `shape` = [..., M, N].
struct SoftmaxOperands {
  SmallVector<int64_t> shape;
  Value rpe;
  Value keyPaddingMask;
  Value attentionMask;
  MaskMode keyPaddingMaskMode;
  MaskMode attentionMaskMode;
};

/// C22 to C25.
LogicalResult checkSoftmaxOperands(const SoftmaxOperands &operands, EmitError emitError);

/// C21: the element type is floating-point.
LogicalResult checkFloat(Type element, StringRef name, EmitError emitError);

/// C26: `lse` is `rowShape` = [..., M] in the accumulation type of `element`.
LogicalResult checkLogSumExp(ShapedType lse, ArrayRef<int64_t> rowShape, Type element,
                             EmitError emitError);

} // namespace mlir::blocksparse::detail

#endif // BLOCKSPARSE_LIB_IR_CONSTRAINTS_H
