// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/Assertions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;

/// Returns `type` with all sizes unknown; its strides stay.
static MemRefType withOpenSizes(MemRefType type) {
  auto [strides, offset] = type.getStridesAndOffset();
  return MemRefType::get(
      SmallVector<int64_t>(type.getRank(), ShapedType::kDynamic), type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), offset, strides), type.getMemorySpace());
}

/// Asserts that dimension `axis` of `parameter`, whose type had the size `size`, has that size or,
/// where it was open, one that is not negative.
static void assertSize(ImplicitLocOpBuilder &b, func::FuncOp function, BlockArgument parameter,
                       int64_t axis, int64_t size) {
  const bool isOpen = ShapedType::isDynamic(size);
  Value own = memref::DimOp::create(b, parameter, axis);
  Value known = arith::ConstantIndexOp::create(b, isOpen ? 0 : size);
  std::string message;
  llvm::raw_string_ostream(message) << "parameter " << parameter.getArgNumber() << " of "
                                    << function.getName() << " expects dimension " << axis << " of "
                                    << (isOpen ? "at least " : "") << "{1}, but got {0}";
  auto predicate = isOpen ? arith::CmpIPredicate::sge : arith::CmpIPredicate::eq;
  cf::AssertOp::create(b, arith::CmpIOp::create(b, predicate, own, known), message);
}

void mlir::blocksparse::assertSizes(func::FuncOp function) {
  ImplicitLocOpBuilder b(function.getLoc(), function.getContext());
  b.setInsertionPointToStart(&function.front());
  for (BlockArgument parameter : function.getArguments()) {
    auto type = dyn_cast<MemRefType>(parameter.getType());
    if (!type || !type.isStrided())
      continue;
    const bool knowsSizes = !llvm::all_of(type.getShape(), ShapedType::isDynamic);
    if (knowsSizes)
      parameter.setType(withOpenSizes(type));
    for (auto [axis, size] : llvm::enumerate(type.getShape()))
      assertSize(b, function, parameter, axis, size);
    if (!knowsSizes)
      continue;
    auto cast = memref::CastOp::create(b, type, parameter);
    parameter.replaceUsesWithIf(cast, [&](OpOperand &use) {
      return use.getOwner() != cast && !isa<memref::DimOp>(use.getOwner());
    });
  }
  function.setType(FunctionType::get(function.getContext(), function.front().getArgumentTypes(),
                                     function.getFunctionType().getResults()));
}

static Value widen(ImplicitLocOpBuilder &b, Value number) {
  Type wide = b.getI64Type();
  if (number.getType().isIndex())
    return arith::IndexCastOp::create(b, wide, number);
  return number.getType() == wide ? number : arith::ExtSIOp::create(b, wide, number);
}

FailedAssertion mlir::blocksparse::describeAssertion(ImplicitLocOpBuilder &b,
                                                     cf::AssertOp assertion) {
  FailedAssertion failed{assertion.getMsg().str(), Value(), Value()};
  if (auto comparison = assertion.getArg().getDefiningOp<arith::CmpIOp>()) {
    failed.left = widen(b, comparison.getLhs());
    failed.right = widen(b, comparison.getRhs());
    return failed;
  }
  for (StringRef place : {"{0}", "{1}"})
    for (size_t at; (at = failed.message.find(place)) != std::string::npos;)
      failed.message.replace(at, place.size(), "?");
  return failed;
}

void mlir::blocksparse::lowerAssertions(
    Operation *root, function_ref<void(ImplicitLocOpBuilder &, const FailedAssertion &)> report) {
  root->walk([&](cf::AssertOp assertion) {
    ImplicitLocOpBuilder b(assertion.getLoc(), assertion);
    Value yes = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
    Value fails = arith::XOrIOp::create(b, assertion.getArg(), yes);
    auto branch = scf::IfOp::create(b, fails, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    report(b, describeAssertion(b, assertion));
    assertion.erase();
  });
}
