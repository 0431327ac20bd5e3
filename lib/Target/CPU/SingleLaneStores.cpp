// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SingleLaneStores.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <optional>

using namespace llvm;

/// The lane of a constant mask that has one.
static std::optional<unsigned> findSingleLane(Value *mask) {
  auto *constant = dyn_cast<Constant>(mask);
  auto *type = dyn_cast<FixedVectorType>(mask->getType());
  if (!constant || !type)
    return std::nullopt;
  std::optional<unsigned> lane;
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    Constant *bit = constant->getAggregateElement(i);
    if (!bit || bit->isZeroValue())
      continue;
    if (!bit->isOneValue() || lane)
      return std::nullopt;
    lane = i;
  }
  return lane;
}

static void storeLanes(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *call = dyn_cast<IntrinsicInst>(&instruction);
      if (!call || call->getIntrinsicID() != Intrinsic::masked_store)
        continue;
      Value *value = call->getArgOperand(0), *address = call->getArgOperand(1);
      std::optional<unsigned> lane = findSingleLane(call->getArgOperand(call->arg_size() - 1));
      if (!lane)
        continue;
      IRBuilder<> b(call);
      Type *element = value->getType()->getScalarType();
      uint64_t size = module.getDataLayout().getTypeStoreSize(element);
      Align align = commonAlignment(call->getParamAlign(1).valueOrOne(), *lane * size);
      b.CreateAlignedStore(b.CreateExtractElement(value, *lane),
                           b.CreateConstInBoundsGEP1_64(element, address, *lane), align);
      call->eraseFromParent();
    }
}

// In mlir::blocksparse other types have these names.
void mlir::blocksparse::storeSingleLanes(llvm::Module &module) { storeLanes(module); }
