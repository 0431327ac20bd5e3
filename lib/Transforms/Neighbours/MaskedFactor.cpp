// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Transforms/Neighbours/MaskedFactor.h"
#include "blocksparse/Layout/ElementMask.h"
#include "blocksparse/Transforms/Neighbours/ElementExpression.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::blocksparse;

using Kind = ElementExpression::Kind;

/// Returns a mask's elements as 0 and 1, or nothing if it has others.
template <typename Range>
static std::optional<std::vector<uint8_t>> readElements(Range &&elements) {
  std::vector<uint8_t> mask;
  for (const auto &element : elements) {
    const bool isOne = element.isOne();
    if (!isOne && !element.isZero())
      return std::nullopt;
    mask.push_back(isOne);
  }
  return mask;
}

namespace {

/// Is a number of a resource, as its bits.
struct StoredNumber {
  uint64_t bits, one;

  bool isOne() const { return bits == one; }
  bool isZero() const { return bits == 0; }
};

/// Is a floating-point number of a constant.
struct FloatNumber {
  APFloat number;

  bool isOne() const { return number.isExactlyValue(1.0); }
  bool isZero() const { return number.isZero(); }
};

} // namespace

static std::optional<std::vector<uint8_t>> readResource(DenseResourceElementsAttr resource) {
  Type element = resource.getType().getElementType();
  const AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  const unsigned width = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (!blob || width % 8 != 0 || width == 0 || width > 64)
    return std::nullopt;
  StoredNumber number{0, 1};
  if (auto real = dyn_cast<FloatType>(element)) {
    APFloat one(1.0);
    bool isInexact;
    one.convert(real.getFloatSemantics(), APFloat::rmNearestTiesToEven, &isInexact);
    number.one = one.bitcastToAPInt().getZExtValue();
  }
  std::vector<StoredNumber> numbers;
  ArrayRef<char> data = blob->getData();
  for (size_t at = 0; at + width / 8 <= data.size(); at += width / 8) {
    number.bits = 0;
    std::memcpy(&number.bits, data.data() + at, width / 8);
    numbers.push_back(number);
  }
  return readElements(numbers);
}

/// Returns the bytes of a constant mask of 0 and 1.
static std::optional<std::vector<uint8_t>> readMask(Value constant) {
  ElementsAttr elements;
  if (!matchPattern(constant, m_Constant(&elements)))
    return std::nullopt;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements))
    return readResource(resource);
  if (auto integers = dyn_cast<DenseIntElementsAttr>(elements))
    return readElements(integers.getValues<APInt>());
  auto reals = dyn_cast<DenseFPElementsAttr>(elements);
  if (!reals)
    return std::nullopt;
  return readElements(llvm::map_range(reals.getValues<APFloat>(),
                                      [](const APFloat &number) { return FloatNumber{number}; }));
}

/// Returns the constant tensor that an expression reads at the indices of the result, converted to
/// another type or not; null if it is none.
static Value getConstantTensor(Expression e) {
  while (e->kind == Kind::Operation && isa<arith::UIToFPOp, arith::ExtUIOp>(e->op))
    e = e->operands[0];
  if (e->kind != Kind::Operand || !e->map || !e->map.isIdentity())
    return {};
  return matchPattern(e->operand, m_Constant()) ? e->operand : Value();
}

static bool isZero(Expression e) { return e->kind == Kind::Constant && e->number == 0; }

/// Returns the mask of an expression of the product, which stands for the dense matrix here.
static Value getMask(Expression e) {
  if (!e || e->kind != Kind::Operation)
    return {};
  if (isa<arith::MulFOp>(e->op))
    for (unsigned i = 0; i < 2; ++i)
      if (e->operands[i]->kind == Kind::Product)
        return getConstantTensor(e->operands[1 - i]);
  if (isa<arith::SelectOp>(e->op) && e->operands[1]->kind == Kind::Product &&
      isZero(e->operands[2]))
    return getConstantTensor(e->operands[0]);
  return {};
}

std::optional<MaskedFactor> mlir::blocksparse::matchMaskedFactor(Value factor) {
  Operation *op = factor.getDefiningOp();
  auto type = cast<RankedTensorType>(factor.getType());
  if (!op || !isElementwiseComputation(op) || type.getRank() != 2 || !type.hasStaticShape())
    return std::nullopt;
  llvm::DenseSet<Operation *> inside{op};
  // A conversion of the mask belongs to the computation.
  for (Value operand : op->getOperands())
    if (Operation *source = operand.getDefiningOp();
        source && isa<arith::UIToFPOp, arith::ExtUIOp>(source))
      inside.insert(source);
  for (Value dense : op->getOperands()) {
    if (dense.getType() != type || matchPattern(dense, m_Constant()))
      continue;
    ElementExpressions expressions(dense, inside);
    Value mask = getMask(expressions.get(factor));
    std::optional<std::vector<uint8_t>> elements = mask ? readMask(mask) : std::nullopt;
    if (!elements)
      continue;
    if (auto layout =
            ::blocksparse::findBlockLayout(*elements, type.getDimSize(0), type.getDimSize(1)))
      return MaskedFactor{dense, LayoutAttr::get(type.getContext(), *layout)};
  }
  return std::nullopt;
}
