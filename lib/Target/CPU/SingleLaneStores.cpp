// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SingleLaneStores.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <optional>

using llvm::dyn_cast;

/// Returns the lane of a constant mask that has one lane.
static std::optional<unsigned> findSingleLane(llvm::Value *mask) {
  auto *constant = dyn_cast<llvm::Constant>(mask);
  auto *type = dyn_cast<llvm::FixedVectorType>(mask->getType());
  if (!constant || !type)
    return std::nullopt;
  std::optional<unsigned> lane;
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    llvm::Constant *bit = constant->getAggregateElement(i);
    if (!bit || bit->isZeroValue())
      continue;
    if (!bit->isOneValue() || lane)
      return std::nullopt;
    lane = i;
  }
  return lane;
}

void mlir::blocksparse::storeSingleLanes(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(instructions(function))) {
      auto *call = dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (!call || call->getIntrinsicID() != llvm::Intrinsic::masked_store)
        continue;
      llvm::Value *value = call->getArgOperand(0), *address = call->getArgOperand(1);
      std::optional<unsigned> lane = findSingleLane(call->getArgOperand(2));
      if (!lane)
        continue;
      llvm::IRBuilder<> builder(call);
      llvm::Type *element = value->getType()->getScalarType();
      uint64_t size = module.getDataLayout().getTypeStoreSize(element);
      llvm::Align align = llvm::commonAlignment(call->getParamAlign(1).valueOrOne(), *lane * size);
      builder.CreateAlignedStore(builder.CreateExtractElement(value, *lane),
                                 builder.CreateConstInBoundsGEP1_64(element, address, *lane),
                                 align);
      call->eraseFromParent();
    }
}
