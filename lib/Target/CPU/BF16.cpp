// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BF16.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using llvm::dyn_cast;

/// Returns true if some value of a function is a bf16 or a vector of them.
static bool usesBF16(const llvm::Module &module) {
  for (const llvm::Function &function : module)
    for (const llvm::BasicBlock &block : function)
      for (const llvm::Instruction &instruction : block) {
        if (instruction.getType()->getScalarType()->isBFloatTy())
          return true;
        for (const llvm::Use &operand : instruction.operands())
          if (operand->getType()->getScalarType()->isBFloatTy())
            return true;
      }
  return false;
}

/// Defines __truncsfbf2 in the module. If a target has no registers for bf16, LLVM keeps such
/// values as f32 between blocks and converts them back by calls of that function, which neither
/// libgcc 12 nor a program in memory has. It rounds to nearest, ties to even, and keeps NaN. The
/// result is the low half of the register in which a vector is returned, as a bf16 is.
static void defineTruncation(llvm::Module &module) {
  constexpr llvm::StringLiteral name("__truncsfbf2");
  if (!usesBF16(module) || module.getNamedValue(name))
    return;
  llvm::IRBuilder<> builder(module.getContext());
  auto *vector = llvm::FixedVectorType::get(builder.getInt32Ty(), 4);
  auto *type = llvm::FunctionType::get(vector, {builder.getFloatTy()}, /*isVarArg=*/false);
  auto *function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  function->setDoesNotThrow();
  builder.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", function));
  llvm::Value *x = function->getArg(0);
  llvm::Value *bits = builder.CreateBitCast(x, builder.getInt32Ty());
  llvm::Value *high = builder.CreateLShr(bits, 16);
  llvm::Value *half = builder.CreateAdd(builder.CreateAnd(high, 1), builder.getInt32(0x7fff));
  llvm::Value *rounded = builder.CreateLShr(builder.CreateAdd(bits, half), 16);
  llvm::Value *quiet = builder.CreateOr(high, 0x40);
  llvm::Value *result = builder.CreateSelect(builder.CreateFCmpUNO(x, x), quiet, rounded);
  builder.CreateRet(builder.CreateInsertElement(llvm::Constant::getNullValue(vector), result,
                                                builder.getInt32(0)));
  llvm::appendToUsed(module, {function});
}

/// Replaces masked loads and stores of bf16 by those of 16-bit integers, which need no such call if
/// a target splits them.
static void maskBF16AsIntegers(llvm::Module &module) {
  llvm::IRBuilder<> builder(module.getContext());
  auto integersOf = [&](llvm::Type *type) -> llvm::Type * {
    auto *vector = dyn_cast<llvm::FixedVectorType>(type);
    if (!vector || !vector->getElementType()->isBFloatTy())
      return nullptr;
    return llvm::FixedVectorType::get(builder.getInt16Ty(), vector->getNumElements());
  };
  auto replace = [&](llvm::IntrinsicInst &call) {
    bool loads = call.getIntrinsicID() == llvm::Intrinsic::masked_load;
    if (!loads && call.getIntrinsicID() != llvm::Intrinsic::masked_store)
      return;
    llvm::Type *integers = integersOf(loads ? call.getType() : call.getArgOperand(0)->getType());
    if (!integers)
      return;
    builder.SetInsertPoint(&call);
    unsigned pointer = loads ? 0 : 1;
    llvm::Align align = call.getParamAlign(pointer).valueOrOne();
    llvm::Value *address = call.getArgOperand(pointer), *mask = call.getArgOperand(pointer + 1);
    if (loads) {
      llvm::Value *rest = builder.CreateBitCast(call.getArgOperand(2), integers);
      llvm::Value *loaded = builder.CreateMaskedLoad(integers, address, align, mask, rest);
      call.replaceAllUsesWith(builder.CreateBitCast(loaded, call.getType()));
    } else {
      llvm::Value *value = builder.CreateBitCast(call.getArgOperand(0), integers);
      builder.CreateMaskedStore(value, address, align, mask);
    }
    call.eraseFromParent();
  };
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &instruction : llvm::make_early_inc_range(block))
        if (auto *call = dyn_cast<llvm::IntrinsicInst>(&instruction))
          replace(*call);
}

void mlir::blocksparse::prepareBF16(llvm::Module &module) {
  maskBF16AsIntegers(module);
  defineTruncation(module);
}
