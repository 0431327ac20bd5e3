// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LoopExtents.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace mlir::blocksparse;

/// Returns true if an extent of two tensors is provably equal.
static bool haveEqualExtent(Value a, Value b, int64_t axis) {
  using Variable = ValueBoundsConstraintSet::Variable;
  if (!b || b.getType() != a.getType())
    return false;
  FailureOr<bool> equal = ValueBoundsConstraintSet::areEqual(Variable(a, axis), Variable(b, axis));
  return succeeded(equal) && *equal;
}

bool mlir::blocksparse::keepsExtent(const CarriedTensor &tensor, int64_t axis) {
  return haveEqualExtent(tensor.next, tensor.current, axis) ||
         haveEqualExtent(tensor.next, tensor.initial, axis);
}

bool mlir::blocksparse::resolveLoopSize(tensor::DimOp size) {
  std::optional<int64_t> axis = size.getConstantIndex();
  bool changed = false;
  // The tensor that a loop starts with may be carried by another loop.
  while (axis) {
    std::optional<CarriedTensor> carried = getCarriedTensor(size.getSource());
    if (!carried || !keepsExtent(*carried, *axis))
      break;
    size.getSourceMutable().assign(carried->initial);
    changed = true;
  }
  return changed;
}

std::optional<CarriedTensor> mlir::blocksparse::getCarriedTensor(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *op = argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
  unsigned number = argument ? argument.getArgNumber() : cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast_or_null<scf::ForOp>(op)) {
    if (argument && number-- == 0)
      return std::nullopt;
    return CarriedTensor{loop.getInitArgs()[number], loop.getRegionIterArgs()[number],
                         loop.getYieldedValues()[number]};
  }
  auto loop = dyn_cast_or_null<scf::WhileOp>(op);
  if (!loop || ValueRange(loop.getConditionOp().getArgs()) != ValueRange(loop.getBeforeArguments()))
    return std::nullopt;
  return CarriedTensor{loop.getInits()[number], loop.getAfterArguments()[number],
                       loop.getYieldOp().getOperand(number)};
}
