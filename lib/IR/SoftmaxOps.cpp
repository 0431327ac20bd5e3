// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Verifiers of softmax and attention. BlockSparseConstraints.td has the words of the numbered
// constraints.

#include "Constraints.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::detail;

/// Checks C27 and C21: `type` has the shape and pattern of `other` and is floating-point; the
/// element types may differ.
static LogicalResult checkSamePattern(RankedTensorType type, RankedTensorType other, StringRef name,
                                      StringRef otherName, EmitError emitError) {
  if (type.getShape() != other.getShape() || type.getEncoding() != other.getEncoding())
    return emitError() << "expects " << name << " of the shape and pattern of " << otherName << ", "
                       << other << ", but got " << type;
  return checkFloat(type.getElementType(), name, emitError);
}

LogicalResult SoftmaxOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  RankedTensorType x = getX().getType();
  if (failed(checkFloat(x.getElementType(), "x", emitError)) || // C21
      failed(checkResolvable(x, "x", emitError)) ||
      failed(checkSamePattern(getY().getType(), x, "y", "x", emitError)))
    return failure();
  SoftmaxOperands operands{SmallVector<int64_t>(x.getShape()),
                           getRpe(),
                           getKeyPaddingMask(),
                           getAttentionMask(),
                           getKeyPaddingMaskMode(),
                           getAttentionMaskMode()};
  Factor scale{"scale", getScale().convertToDouble(), getDynamicScale()};
  if (failed(checkSoftmaxOperands(operands, emitError)) ||
      failed(checkPositionMasks(PositionMasks::get(*this), x.getShape(), emitError)) ||
      failed(checkFactors(scale, x.getElementType(), emitError))) // C62
    return failure();
  for (auto [value, name] : {std::pair(getKnownLse(), "known_lse"), {getLse(), "lse"}})
    if (value &&
        failed(checkLogSumExp(cast<RankedTensorType>(value.getType()), x.getShape().drop_back(),
                              x.getElementType(), name, emitError))) // C26
      return failure();
  return success();
}

LogicalResult SoftmaxGradOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  RankedTensorType y = getY().getType();
  if (failed(checkFloat(y.getElementType(), "y", emitError)) || // C21
      failed(checkResolvable(y, "y", emitError)) ||
      failed(checkSamePattern(getDy().getType(), y, "dy", "y", emitError)) ||
      failed(checkSamePattern(getDx().getType(), y, "dx", "y", emitError)) ||
      failed(checkOutAndGradient(getOut(), getDout(), emitError)) || // C47
      failed(checkFactors(Factor{"scale", getScale().convertToDouble(), getDynamicScale()},
                          y.getElementType(), emitError))) // C62
    return failure();
  if (getOut()) {
    auto out = cast<RankedTensorType>(getOut().getType());
    SmallVector<int64_t> shape(y.getShape().drop_back());
    shape.push_back(out.getRank() == 0 ? 1 : out.getShape().back());
    for (auto [value, name] : {std::pair(getOut(), "out"), {getDout(), "dout"}}) {
      auto type = cast<RankedTensorType>(value.getType());
      if (failed(checkShape(type, shape, name, emitError)) ||         // C8
          failed(checkFloat(type.getElementType(), name, emitError))) // C21
        return failure();
    }
  }
  if (getDlse() &&
      failed(checkLogSumExp(cast<RankedTensorType>(getDlse().getType()), y.getShape().drop_back(),
                            y.getElementType(), "dlse", emitError))) // C26
    return failure();
  if (!getDrpe())
    return success();
  auto drpe = cast<RankedTensorType>(getDrpe().getType()); // C22
  if (failed(checkBroadcastable(drpe, y.getShape(), "drpe", emitError)))
    return failure();
  return checkFloat(drpe.getElementType(), "drpe", emitError);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {
/// Holds the sizes that q, k, v and the layout of attention have in common.
struct AttentionShape {
  /// The leading dimensions [], [H] or [B, H].
  SmallVector<int64_t> leading;
  int64_t rows;
  int64_t cols;
  int64_t valueSize;

  /// Returns the leading dimensions followed by `sizes`.
  SmallVector<int64_t> with(std::initializer_list<int64_t> sizes) const {
    SmallVector<int64_t> shape(leading);
    shape.append(sizes.begin(), sizes.end());
    return shape;
  }
};
} // namespace

/// Checks C28: `rows` and `cols` are static, and the grid of the layout covers them exactly.
static LogicalResult checkGrid(LayoutAttrInterface layout, int64_t rows, int64_t cols,
                               EmitError emitError) {
  ::blocksparse::BlockShape block = layout.getBlockShape();
  ::blocksparse::BlockGrid grid = layout.getBlockGrid();
  if (ShapedType::isDynamic(rows) || ShapedType::isDynamic(cols))
    return emitError() << "expects static rows of q and k with a static layout, but got a dynamic "
                          "size";
  int64_t blockRows = llvm::divideCeil(rows, block.rows);
  int64_t blockCols = llvm::divideCeil(cols, block.cols);
  if (grid.rows != blockRows || grid.cols != blockCols)
    return emitError() << "expects a grid of " << formatShape({blockRows, blockCols})
                       << " blocks to cover " << formatShape({rows, cols}) << ", but got "
                       << formatShape({grid.rows, grid.cols});
  return success();
}

/// Checks C53, and returns the type of k or v, which messages call `name`, with the heads of q:
/// each of its heads serves as many heads of q as follow each other.
static FailureOr<RankedTensorType> withQueryHeads(RankedTensorType type, RankedTensorType q,
                                                  StringRef name, EmitError emitError) {
  if (failed(checkSharedHeads(type, q, name, emitError)))
    return failure();
  if (countSharingHeads(q, type) == 1)
    return type;
  SmallVector<int64_t> shape(type.getShape());
  shape[shape.size() - 3] = q.getDimSize(q.getRank() - 3);
  return RankedTensorType::get(shape, type.getElementType());
}

/// Checks the attributes of the scores that softmax does not have.
template <typename OpTy>
static LogicalResult checkScores(OpTy op, EmitError emitError) {
  if (failed(checkSoftCap(op.getSoftCap(), emitError)))
    return failure();
  Type element = op.getQ().getType().getElementType();
  if (failed(checkFactors(Factor{"scale", op.getScale().convertToDouble(), op.getDynamicScale()},
                          element, emitError))) // C62
    return failure();
  std::optional<Type> scores = op.getScoreElement(); // C55
  if (!scores || isProductElement(element, *scores))
    return success();
  InFlightDiagnostic diagnostic = emitError();
  diagnostic << "expects score_element ";
  if (element != getAccumulatorType(element))
    diagnostic << element << " or ";
  return diagnostic << getAccumulatorType(element) << ", but got " << *scores;
}

/// Checks the operands that attention and its gradient share, and returns their sizes.
template <typename OpTy>
static FailureOr<AttentionShape> getAttentionShape(OpTy op, EmitError emitError) {
  RankedTensorType q = op.getQ().getType();
  FailureOr<RankedTensorType> sharedK = withQueryHeads(op.getK().getType(), q, "k", emitError);
  if (failed(sharedK))
    return failure();
  FailureOr<RankedTensorType> sharedV = withQueryHeads(op.getV().getType(), q, "v", emitError);
  if (failed(sharedV))
    return failure();
  RankedTensorType k = *sharedK, v = *sharedV;
  ProductOperands scores{q, k, false, true, false, "q", "k"};
  FailureOr<SmallVector<int64_t>> shape = getProductShape(scores, emitError);
  if (failed(shape))
    return failure();
  FailureOr<Matrices> values = getMatrices(v, false, "v", emitError);
  if (failed(values))
    return failure();
  int64_t rows = (*shape)[shape->size() - 2], cols = shape->back();
  if (!maybeEqual(values->rows, cols)) // C7
    return emitError() << "expects v to have " << cols << " rows, as k, but got " << values->rows;
  LayoutAttrInterface layout = op.getLayout();
  if (failed(checkGrid(layout, rows, cols, emitError)) ||
      failed(checkResolvable(layout, "the scores", emitError)) ||
      failed(checkFactorElements(q.getElementType(), k.getElementType(), "q", "k", emitError)) ||
      failed(checkFactorElements(q.getElementType(), v.getElementType(), "q", "v", emitError)) ||
      failed(checkFloat(q.getElementType(), "q", emitError)) || // C21
      failed(checkScores(op, emitError)))
    return failure();
  FailureOr<SmallVector<int64_t>> leading =
      broadcastLeading(ArrayRef(*shape).drop_back(2), values->leading, emitError);
  if (failed(leading))
    return failure();
  // C3: a layout of several heads gives the scores as many.
  if (int64_t heads = layout.getBlockGrid().heads; heads != 1) {
    leading = broadcastLeading(*leading, {heads}, emitError);
    if (failed(leading))
      return failure();
  }
  return AttentionShape{*leading, rows, cols, values->cols};
}

template <typename OpTy>
static LogicalResult checkAttentionMasks(OpTy op, const AttentionShape &shape,
                                         EmitError emitError) {
  SoftmaxOperands operands{shape.with({shape.rows, shape.cols}),
                           op.getRpe(),
                           op.getKeyPaddingMask(),
                           op.getAttentionMask(),
                           op.getKeyPaddingMaskMode(),
                           op.getAttentionMaskMode()};
  if (failed(checkSoftmaxOperands(operands, emitError)))
    return failure();
  return checkPositionMasks(PositionMasks::get(op), operands.shape, emitError);
}

LogicalResult AttentionOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  FailureOr<AttentionShape> shape = getAttentionShape(*this, emitError);
  if (failed(shape) || failed(checkAttentionMasks(*this, *shape, emitError)))
    return failure();
  Type element = getQ().getType().getElementType();
  if (failed(checkShape(getOut().getType(), shape->with({shape->rows, shape->valueSize}), "out",
                        emitError)) || // C8
      failed(checkProductElement(element, getOut().getType().getElementType(), emitError)))
    return failure();
  SmallVector<int64_t> rows = shape->with({shape->rows});
  if (getSink() && failed(checkSink(cast<RankedTensorType>(getSink().getType()), rows, element,
                                    "sink", emitError))) // C56
    return failure();
  return checkLogSumExp(getLse().getType(), rows, element, "lse", emitError);
}

LogicalResult AttentionGradOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  FailureOr<AttentionShape> shape = getAttentionShape(*this, emitError);
  if (failed(shape) || failed(checkAttentionMasks(*this, *shape, emitError)))
    return failure();
  Type element = getQ().getType().getElementType();
  SmallVector<int64_t> out = shape->with({shape->rows, shape->valueSize});
  for (auto [type, name] : {std::pair(getOut().getType(), "out"), {getDout().getType(), "dout"}})
    if (failed(checkShape(type, out, name, emitError)) ||           // C8
        failed(checkFloat(type.getElementType(), name, emitError))) // C21
      return failure();
  // C9: dout is a factor of dP = dout v^T and of dV = P^T dout.
  if (failed(checkFactorElements(element, getDout().getType().getElementType(), "q", "dout",
                                 emitError)))
    return failure();
  SmallVector<int64_t> rows = shape->with({shape->rows});
  if (failed(checkLogSumExp(getLse().getType(), rows, element, "lse", emitError)))
    return failure();
  if (getDlse() && failed(checkLogSumExp(cast<RankedTensorType>(getDlse().getType()), rows, element,
                                         "dlse", emitError)))
    return failure();

  // C29: a gradient has the shape of its primal operand.
  std::tuple<RankedTensorType, RankedTensorType, StringRef> gradients[] = {
      {getDq().getType(), getQ().getType(), "dq"},
      {getDk().getType(), getK().getType(), "dk"},
      {getDv().getType(), getV().getType(), "dv"}};
  for (auto [type, primal, name] : gradients)
    if (failed(checkShape(type, primal.getShape(), name, emitError)) ||
        failed(checkProductElement(element, type.getElementType(), emitError)))
      return failure();
  if (!getDrpe())
    return success();
  if (!getRpe())
    return emitOpError() << "expects rpe where drpe is asked for, but got none";
  auto drpe = cast<RankedTensorType>(getDrpe().getType());
  auto rpe = cast<RankedTensorType>(getRpe().getType());
  if (failed(checkShape(drpe, rpe.getShape(), "drpe", emitError)))
    return failure();
  return checkFloat(drpe.getElementType(), "drpe", emitError);
}

LogicalResult AttentionSinkGradOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  RankedTensorType out = getOut().getType(), dout = getDout().getType();
  Type element = out.getElementType();
  for (auto [type, name] : {std::pair(out, "out"), {dout, "dout"}})
    if (failed(checkFloat(type.getElementType(), name, emitError))) // C21
      return failure();
  if (failed(getMatrices(out, /*transpose=*/false, "out", emitError))) // C5
    return failure();
  ArrayRef<int64_t> rows = out.getShape().drop_back();
  if (failed(checkShape(dout, out.getShape(), "dout", emitError)) || // C8
      failed(checkLogSumExp(getLse().getType(), rows, element, "lse", emitError)) ||
      (getDlse() && failed(checkLogSumExp(cast<RankedTensorType>(getDlse().getType()), rows,
                                          element, "dlse", emitError))) ||      // C26
      failed(checkSink(getSink().getType(), rows, element, "sink", emitError))) // C56
    return failure();
  return checkSink(getDsink().getType(), rows, element, "dsink", emitError);
}

LogicalResult AttentionMergeOp::verify() {
  auto emitError = [&] { return emitOpError(); };
  if (getParts().empty()) // C57
    return emitError() << "expects at least 1 part, but got 0";
  if (getLses().size() != getParts().size())
    return emitError() << "expects as many lses as parts, " << getParts().size() << ", but got "
                       << getLses().size();
  RankedTensorType out = getOut().getType();
  Type element = out.getElementType();
  if (failed(checkFloat(element, "out", emitError))) // C21
    return failure();
  if (failed(getMatrices(out, /*transpose=*/false, "out", emitError))) // C5
    return failure();
  for (Value part : getParts()) {
    auto type = cast<RankedTensorType>(part.getType());
    if (failed(checkFloat(type.getElementType(), "a part", emitError)) || // C21
        failed(checkShape(type, out.getShape(), "a part", emitError)))    // C8
      return failure();
  }
  ArrayRef<int64_t> rows = out.getShape().drop_back();
  for (Value lse : getLses())
    if (failed(checkLogSumExp(cast<RankedTensorType>(lse.getType()), rows, element, "lses",
                              emitError))) // C26
      return failure();
  return checkLogSumExp(getLse().getType(), rows, element, "lse", emitError);
}
