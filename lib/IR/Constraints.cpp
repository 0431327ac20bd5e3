// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Constraints.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>
#include <cstdint>

using namespace mlir;
using namespace mlir::blocksparse;

namespace mlir::blocksparse::detail {

LogicalResult checkResolvable(LayoutAttrInterface layout, StringRef name, EmitError emitError) {
  // C4
  if (layout && !layout.resolve())
    return emitError() << layout.getResolveError() << " in the layout of " << name;
  return success();
}

LogicalResult checkResolvable(RankedTensorType type, StringRef name, EmitError emitError) {
  return checkResolvable(dyn_cast_if_present<LayoutAttrInterface>(type.getEncoding()), name,
                         emitError);
}

LogicalResult checkShape(ShapedType type, ArrayRef<int64_t> expected, StringRef name,
                         EmitError emitError) {
  if (!maybeEqual(type.getShape(), expected))
    return emitError() << "expects " << name << " of shape " << formatShape(expected)
                       << ", but got " << formatShape(type.getShape());
  return success();
}

LogicalResult checkFactorElements(Type a, Type b, StringRef nameA, StringRef nameB,
                                  EmitError emitError) {
  // C9
  if (a != b)
    return emitError() << "expects " << nameA << " and " << nameB
                       << " to have the same element type, but got " << a << " and " << b;
  if (!isa<FloatType>(a) && !a.isInteger(8))
    return emitError() << "expects factors of a floating-point type or i8, but got " << a;
  return success();
}

LogicalResult checkProductElement(Type element, Type result, EmitError emitError) {
  // C10
  if (isProductElement(element, result))
    return success();
  InFlightDiagnostic diagnostic = emitError();
  diagnostic << "expects a product of " << element << " to have element type ";
  if (!element.isInteger(8) && element != getAccumulatorType(element))
    diagnostic << element << " or ";
  return diagnostic << getAccumulatorType(element) << ", but got " << result;
}

LogicalResult checkPrecision(Precision precision, Type element, EmitError emitError) {
  // C11
  if (precision != Precision::IEEE && !element.isF32())
    return emitError() << "expects precision ieee for factors of " << element << ", but got "
                       << stringifyPrecision(precision);
  return success();
}

LogicalResult checkDenseProduct(const ProductOperands &operands, ShapedType result,
                                FailureOr<SmallVector<int64_t>> shape, Precision precision,
                                EmitError emitError) {
  Type element = operands.a.getElementType();
  if (failed(shape) ||
      failed(checkFactorElements(element, operands.b.getElementType(), operands.nameA,
                                 operands.nameB, emitError)) ||
      failed(checkPrecision(precision, element, emitError)))
    return failure();
  if (failed(checkShape(result, *shape, "a result", emitError))) // C8
    return failure();
  return checkProductElement(element, result.getElementType(), emitError);
}

LogicalResult checkPattern(Value pattern, RankedTensorType result, EmitError emitError) {
  // C12
  bool dynamic = isa_and_present<BsrAttr>(result.getEncoding());
  if (dynamic && !pattern)
    return emitError() << "expects a pattern operand for a result of dynamic pattern, but got "
                          "none";
  if (!dynamic && pattern)
    return emitError() << "expects no pattern operand for a result of static layout, but got one "
                          "of type "
                       << pattern.getType();
  if (pattern && pattern.getType() != result)
    return emitError() << "expects a pattern of the result's type " << result << ", but got "
                       << pattern.getType();
  return success();
}

LogicalResult checkBroadcastable(ShapedType type, ArrayRef<int64_t> shape, StringRef name,
                                 EmitError emitError) {
  ArrayRef<int64_t> own = type.getShape();
  bool fits = own.size() >= 2 && own.size() <= 4 && own.size() <= shape.size();
  if (fits)
    for (auto [size, full] : llvm::zip_equal(own, shape.take_back(own.size())))
      fits &= size == 1 || maybeEqual(size, full);
  if (!fits)
    return emitError() << "expects " << name << " to broadcast to " << formatShape(shape)
                       << ", but got " << formatShape(own);
  return success();
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

/// Checks that an epilogue operand has an epilogue element type: the type of the factors, the type
/// of the result or the accumulation type.
static LogicalResult checkEpilogueElement(const EpilogueOperands &epilogue, Type element,
                                          StringRef name, EmitError emitError) {
  llvm::SmallSetVector<Type, 3> allowed;
  allowed.insert(epilogue.factorElement);
  allowed.insert(epilogue.result.getElementType());
  allowed.insert(getAccumulatorType(epilogue.factorElement));
  if (allowed.contains(element))
    return success();
  InFlightDiagnostic diagnostic = emitError();
  diagnostic << "expects " << name << " of element type ";
  llvm::interleave(allowed, [&](Type type) { diagnostic << type; }, [&] { diagnostic << " or "; });
  return diagnostic << ", but got " << element;
}

/// Checks that `value`, if there is one, is a vector of `size` elements of an epilogue element
/// type.
static LogicalResult checkVector(const EpilogueOperands &epilogue, Value value, int64_t size,
                                 StringRef name, EmitError emitError) {
  if (!value)
    return success();
  auto type = cast<ShapedType>(value.getType());
  if (failed(checkShape(type, {size}, name, emitError)))
    return failure();
  return checkEpilogueElement(epilogue, type.getElementType(), name, emitError);
}

/// Checks that `value`, if there is one, broadcasts to the result and has an epilogue element type.
static LogicalResult checkAddend(const EpilogueOperands &epilogue, Value value, StringRef name,
                                 EmitError emitError) {
  if (!value)
    return success();
  auto type = cast<ShapedType>(value.getType());
  if (failed(checkBroadcastable(type, epilogue.result.getShape(), name, emitError)))
    return failure();
  return checkEpilogueElement(epilogue, type.getElementType(), name, emitError);
}

LogicalResult checkIntegralFactors(Type element, double alpha, double beta, EmitError emitError) {
  // C17
  std::pair<StringRef, double> factors[] = {{"alpha", alpha}, {"beta", beta}};
  for (auto [name, value] : factors)
    if (element.isInteger() && (!std::isfinite(value) || value != std::trunc(value)))
      return emitError() << "expects an integral " << name << " with factors of " << element
                         << ", but got " << value;
  return success();
}

/// Checks C44: the result of integer factors passes through integers alone.
static LogicalResult checkIntegerActivation(const EpilogueOperands &epilogue, EmitError emitError) {
  ActivationKind kind = epilogue.activation ? epilogue.activation->getKind() : ActivationKind::None;
  if (epilogue.factorElement.isInteger() && kind != ActivationKind::None &&
      kind != ActivationKind::Relu)
    return emitError() << "expects activation none or relu with factors of "
                       << epilogue.factorElement << ", but got " << stringifyActivationKind(kind);
  return success();
}

LogicalResult checkFactors(ArrayRef<Factor> factors, Type element, EmitError emitError) {
  // C62
  Type accumulator = getAccumulatorType(element);
  for (const Factor &factor : factors) {
    if (!factor.operand)
      continue;
    if (Type own = getElementTypeOrSelf(factor.operand); own != accumulator)
      return emitError() << "expects dynamic_" << factor.name << " of element type " << accumulator
                         << ", but got " << own;
    if (factor.attribute != 1)
      return emitError() << "expects " << factor.name
                         << " as an attribute or as an operand, but got " << factor.attribute
                         << " and an operand";
  }
  return success();
}

LogicalResult checkInput(Value input, double beta, EmitError emitError) {
  // C16
  if (beta != 0 && !input)
    return emitError() << "expects an input when beta is not 0, but got none and beta " << beta;
  return success();
}

LogicalResult checkEpilogue(const EpilogueOperands &epilogue, EmitError emitError) {
  int64_t cols = epilogue.result.getShape().back();
  if (failed(checkVector(epilogue, epilogue.bias, cols, "bias", emitError)) ||   // C13
      failed(checkAddend(epilogue, epilogue.residual, "residual", emitError)) || // C14
      failed(checkIntegerActivation(epilogue, emitError)) ||
      failed(checkFactors({{"alpha", epilogue.alpha, epilogue.dynamicAlpha},
                           {"beta", epilogue.beta, epilogue.dynamicBeta}},
                          epilogue.factorElement, emitError)))
    return failure();
  return checkIntegralFactors(epilogue.factorElement, epilogue.alpha, epilogue.beta, emitError);
}

LogicalResult checkScaledEpilogue(const EpilogueOperands &epilogue, EmitError emitError) {
  ArrayRef<int64_t> shape = epilogue.result.getShape();
  int64_t rows = shape[shape.size() - 2], cols = shape.back();
  if (failed(checkInput(epilogue.input, epilogue.beta, emitError)) ||
      failed(checkVector(epilogue, epilogue.leftAlpha, rows, "left_alpha", emitError)) || // C15
      failed(checkVector(epilogue, epilogue.rightAlpha, cols, "right_alpha", emitError)) ||
      failed(checkAddend(epilogue, epilogue.input, "input", emitError))) // C14
    return failure();
  return checkEpilogue(epilogue, emitError);
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

LogicalResult checkFloat(Type element, StringRef name, EmitError emitError) {
  if (!isa<FloatType>(element))
    return emitError() << "expects " << name << " of a floating-point type, but got " << element;
  return success();
}

/// Checks C25: an additive mask is floating-point. A mask of mode `mul` is only compared with 0 and
/// may have any element type. A mode without its mask would be ignored.
static LogicalResult checkMaskElement(Value mask, MaskMode mode, StringRef name,
                                      EmitError emitError) {
  if (!mask)
    return mode == MaskMode::Add ? success()
                                 : emitError() << "expects " << name << " for its mode "
                                               << stringifyMaskMode(mode) << ", but got none";
  Type element = cast<ShapedType>(mask.getType()).getElementType();
  if (mode == MaskMode::Mul || isa<FloatType>(element))
    return success();
  return emitError() << "expects " << name
                     << " of a floating-point type in the mode add, or the mode mul, but got "
                     << element;
}

/// Checks that `value`, one number for each batch and each of `size` rows or columns, has the shape
/// [size], [1, size] or [B, size], with the batches of the scores.
static LogicalResult checkBatchedVector(Value value, int64_t size, ArrayRef<int64_t> shape,
                                        StringRef name, EmitError emitError) {
  ArrayRef<int64_t> own = cast<ShapedType>(value.getType()).getShape();
  int64_t batch = shape.size() == 4 ? shape[0] : 1;
  bool fits = (own.size() == 1 || own.size() == 2) && maybeEqual(own.back(), size);
  if (own.size() == 2)
    fits &= own[0] == 1 || maybeEqual(own[0], batch);
  if (!fits)
    return emitError() << "expects " << name << " of shape " << formatShape(size) << " or "
                       << formatShape({batch, size}) << ", but got " << formatShape(own);
  return success();
}

LogicalResult checkSoftmaxOperands(const SoftmaxOperands &operands, EmitError emitError) {
  if (Value rpe = operands.rpe) { // C22
    auto type = cast<ShapedType>(rpe.getType());
    if (failed(checkBroadcastable(type, operands.shape, "rpe", emitError)) ||
        failed(checkFloat(type.getElementType(), "rpe", emitError)))
      return failure();
  }
  if (Value mask = operands.keyPaddingMask) // C23
    if (failed(checkBatchedVector(mask, operands.shape.back(), operands.shape, "key_padding_mask",
                                  emitError)))
      return failure();
  if (Value mask = operands.attentionMask) // C24
    if (failed(checkBroadcastable(cast<ShapedType>(mask.getType()), operands.shape,
                                  "attention_mask", emitError)))
      return failure();
  return success(succeeded(checkMaskElement(operands.keyPaddingMask, operands.keyPaddingMaskMode,
                                            "key_padding_mask", emitError)) &&
                 succeeded(checkMaskElement(operands.attentionMask, operands.attentionMaskMode,
                                            "attention_mask", emitError)));
}

/// Checks C51: the lengths are [1] or [B].
static LogicalResult checkLengths(Value value, ArrayRef<int64_t> shape, StringRef name,
                                  EmitError emitError) {
  if (!value)
    return success();
  ArrayRef<int64_t> own = cast<ShapedType>(value.getType()).getShape();
  int64_t batch = shape.size() == 4 ? shape[0] : 1;
  if (own.size() != 1 || (own[0] != 1 && !maybeEqual(own[0], batch)))
    return emitError() << "expects " << name << " of shape 1 or " << formatShape(batch)
                       << ", but got " << formatShape(own);
  return success();
}

/// Checks C52.
static LogicalResult checkSegments(const PositionMasks &masks, ArrayRef<int64_t> shape,
                                   EmitError emitError) {
  if (!masks.querySegments != !masks.keySegments)
    return emitError() << "expects query_segments and key_segments together, but got "
                       << (masks.querySegments ? "query_segments" : "key_segments") << " alone";
  if (!masks.querySegments)
    return success();
  if (failed(checkBatchedVector(masks.querySegments, shape[shape.size() - 2], shape,
                                "query_segments", emitError)))
    return failure();
  return checkBatchedVector(masks.keySegments, shape.back(), shape, "key_segments", emitError);
}

LogicalResult checkPositionMasks(const PositionMasks &masks, ArrayRef<int64_t> shape,
                                 EmitError emitError) {
  // Limits of 32 bits keep the sum of a row and a bound within 64.
  if (!llvm::isInt<32>(masks.causalOffset)) // C58
    return emitError() << "expects causal_offset from " << INT32_MIN << " to " << INT32_MAX
                       << ", but got " << masks.causalOffset;
  if (masks.causalOffset != 0 && !masks.causal && !masks.window)
    return emitError() << "expects causal or window with causal_offset " << masks.causalOffset
                       << ", but got neither";
  if (masks.window) { // C50
    if (masks.window->size() != 2)
      return emitError() << "expects window of 2 sizes, but got " << masks.window->size();
    for (int64_t size : *masks.window)
      if (size < -1 || size > INT32_MAX)
        return emitError() << "expects sizes of window from -1 to " << INT32_MAX << ", but got "
                           << size;
  }
  if (failed(checkLengths(masks.keyLengths, shape, "key_lengths", emitError)) ||
      failed(checkLengths(masks.queryLengths, shape, "query_lengths", emitError)))
    return failure();
  return checkSegments(masks, shape, emitError);
}

LogicalResult checkSink(ShapedType sink, ArrayRef<int64_t> rowShape, Type element, StringRef name,
                        EmitError emitError) {
  // C56
  int64_t heads = rowShape.size() > 1 ? rowShape[rowShape.size() - 2] : 1;
  if (failed(checkShape(sink, heads, name, emitError)))
    return failure();
  if (sink.getElementType() != getAccumulatorType(element))
    return emitError() << "expects " << name << " of element type " << getAccumulatorType(element)
                       << ", but got " << sink.getElementType();
  return success();
}

LogicalResult checkLogSumExp(ShapedType lse, ArrayRef<int64_t> rowShape, Type element,
                             StringRef name, EmitError emitError) {
  // C26
  if (failed(checkShape(lse, rowShape, name, emitError)))
    return failure();
  if (lse.getElementType() != getAccumulatorType(element))
    return emitError() << "expects " << name << " of element type " << getAccumulatorType(element)
                       << ", but got " << lse.getElementType();
  return success();
}

LogicalResult checkSharedHeads(ShapedType type, ShapedType q, StringRef name, EmitError emitError) {
  // C53
  if (type.getRank() < 3 || q.getRank() < 3)
    return success();
  int64_t heads = q.getDimSize(q.getRank() - 3), own = type.getDimSize(type.getRank() - 3);
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(own) || heads <= 1 || own <= 1 ||
      heads % own == 0)
    return success();
  return emitError() << "expects heads of q that are a multiple of the " << own << " heads of "
                     << name << ", but got " << heads;
}

LogicalResult checkSoftCap(std::optional<APFloat> cap, EmitError emitError) {
  // C54
  if (cap && (!cap->isFinite() || cap->isNegative() || cap->isZero()))
    return emitError() << "expects a finite soft_cap above 0, but got " << cap->convertToDouble();
  return success();
}

LogicalResult checkOutAndGradient(Value out, Value dout, EmitError emitError) {
  // C47
  if (!out != !dout)
    return emitError() << "expects out and dout together, but got " << (out ? "out" : "dout")
                       << " alone";
  return success();
}

LogicalResult checkSameElement(Value value, Value other, StringRef name, StringRef otherName,
                               EmitError emitError) {
  Type element = getElementTypeOrSelf(value), wanted = getElementTypeOrSelf(other);
  if (element != wanted)
    return emitError() << "expects " << name << " of the element type of " << otherName << ", "
                       << wanted << ", but got " << element;
  return success();
}

LogicalResult checkPatternIndices(Value crow, Value col, EmitError emitError) {
  // C41
  int64_t rank = cast<ShapedType>(crow.getType()).getRank();
  int64_t colRank = cast<ShapedType>(col.getType()).getRank();
  if (colRank != rank)
    return emitError() << "expects col_indices of rank " << rank
                       << ", as crow_indices, but got rank " << colRank;
  return checkSameElement(col, crow, "col_indices", "crow_indices", emitError);
}

} // namespace mlir::blocksparse::detail
