// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProductShapes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::blocksparse;

namespace mlir::blocksparse::detail {

std::string formatShape(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      shape, os,
      [&](int64_t size) {
        if (ShapedType::isDynamic(size))
          os << '?';
        else
          os << size;
      },
      "x");
  return text;
}

bool maybeEqual(int64_t a, int64_t b) {
  return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
}

bool maybeEqual(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip_equal(a, b), [](auto sizes) {
           return maybeEqual(std::get<0>(sizes), std::get<1>(sizes));
         });
}

FailureOr<Matrices> getMatrices(ShapedType type, bool transposed, StringRef name,
                                EmitError emitError) {
  if (type.getRank() < 2 || type.getRank() > 4) // C5
    return emitError() << "expects " << name << " of rank 2 to 4, but got rank " << type.getRank();
  ArrayRef<int64_t> shape = type.getShape();
  Matrices matrices{shape.drop_back(2), shape[shape.size() - 2], shape.back()};
  if (transposed)
    std::swap(matrices.rows, matrices.cols);
  return matrices;
}

/// Returns the common size of two leading dimensions, or nothing if they do not fit each other.
static std::optional<int64_t> broadcastSize(int64_t a, int64_t b) {
  if (a == 1)
    return b;
  if (b == 1)
    return a;
  if (!maybeEqual(a, b))
    return std::nullopt;
  return ShapedType::isDynamic(a) ? b : a;
}

FailureOr<SmallVector<int64_t>> broadcastLeading(ArrayRef<int64_t> a, ArrayRef<int64_t> b,
                                                 EmitError emitError) {
  if (a.size() < b.size())
    std::swap(a, b);
  SmallVector<int64_t> result(a);
  size_t missing = a.size() - b.size();
  for (size_t i = missing; i < a.size(); ++i) {
    std::optional<int64_t> size = broadcastSize(a[i], b[i - missing]);
    if (!size) // C6
      return emitError() << "expects leading dimensions that are equal or 1, but got "
                         << formatShape(a) << " and " << formatShape(b);
    result[i] = *size;
  }
  return result;
}

FailureOr<SmallVector<int64_t>> getProductShape(const ProductOperands &operands,
                                                EmitError emitError) {
  FailureOr<Matrices> a = getMatrices(operands.a, operands.transposeA, operands.nameA, emitError);
  if (failed(a))
    return failure();
  FailureOr<Matrices> b = getMatrices(operands.b, operands.transposeB, operands.nameB, emitError);
  if (failed(b))
    return failure();
  if (!maybeEqual(a->cols, b->rows)) // C7
    return emitError() << "expects " << operands.nameB << " to have " << a->cols
                       << " rows, the columns of " << operands.nameA << ", but got " << b->rows;
  FailureOr<SmallVector<int64_t>> shape = broadcastLeading(a->leading, b->leading, emitError);
  if (failed(shape))
    return failure();
  shape->push_back(operands.transposeOut ? b->cols : a->rows);
  shape->push_back(operands.transposeOut ? a->rows : b->cols);
  return shape;
}

FailureOr<SmallVector<int64_t>> getMatmulShape(MatmulForm form, const ProductOperands &operands,
                                               EmitError emitError) {
  if (form == MatmulForm::Linear)
    return getProductShape(operands, emitError);
  StringRef name = stringifyMatmulForm(form);
  if (operands.a.getRank() != 4 || operands.b.getRank() != 4) // C36
    return emitError() << "expects operands of rank 4 in the form " << name << ", but got rank "
                       << operands.a.getRank() << " and " << operands.b.getRank();
  if (operands.transposeA || operands.transposeB)
    return emitError() << "expects no transposes in the form " << name << ", but got "
                       << (operands.transposeA ? "transpose_a" : "transpose_b");
  // In both forms b is [B, N, H, D]. In score, a is [B, M, H, D]; in context, it is [B, H, M, N].
  bool score = form == MatmulForm::Score;
  ArrayRef<int64_t> a = operands.a.getShape(), b = operands.b.getShape();
  int64_t headsA = a[score ? 2 : 1], rows = a[score ? 1 : 2], inner = a[3];
  int64_t innerB = score ? b[3] : b[1];
  if (!maybeEqual(inner, innerB)) // C7
    return emitError() << "expects " << operands.nameB << " to have an inner size of " << inner
                       << ", as " << operands.nameA << ", but got " << innerB;
  FailureOr<SmallVector<int64_t>> leading =
      broadcastLeading({a[0], headsA}, {b[0], b[2]}, emitError);
  if (failed(leading))
    return failure();
  int64_t batch = (*leading)[0], heads = (*leading)[1];
  if (score)
    return SmallVector<int64_t>{batch, heads, rows, b[1]};
  return SmallVector<int64_t>{batch, rows, heads, b[3]};
}

Type getDefaultProductElement(Type element) {
  return element.isInteger(8) ? getAccumulatorType(element) : element;
}

bool isProductElement(Type element, Type result) {
  if (element.isInteger())
    return result == getAccumulatorType(element);
  bool narrow = isa<Float8E4M3FNType, Float8E5M2Type>(element);
  return result == element || result == getAccumulatorType(element) ||
         (narrow && (result.isF16() || result.isBF16()));
}

} // namespace mlir::blocksparse::detail
