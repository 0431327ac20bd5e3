// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RuntimeCalls.h"

using namespace mlir;

Value mlir::blocksparse::getText(OpBuilder &builder, Location location, ModuleOp module,
                                 StringRef name, StringRef text) {
  auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    std::string bytes = text.str();
    bytes.push_back('\0');
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
    global = LLVM::GlobalOp::create(builder, location, type, /*isConstant=*/true,
                                    LLVM::Linkage::Internal, name, builder.getStringAttr(bytes));
  }
  return LLVM::AddressOfOp::create(builder, location, global);
}

Value mlir::blocksparse::getSite(OpBuilder &builder, Location location, ModuleOp module,
                                 StringRef name) {
  std::string symbol = ("blocksparse.site." + name).str();
  auto global = module.lookupSymbol<LLVM::GlobalOp>(symbol);
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
    global = LLVM::GlobalOp::create(builder, location, pointer, /*isConstant=*/false,
                                    LLVM::Linkage::Internal, symbol, Attribute());
    builder.createBlock(&global.getInitializerRegion());
    Value zero = LLVM::ZeroOp::create(builder, location, pointer);
    LLVM::ReturnOp::create(builder, location, zero);
  }
  return LLVM::AddressOfOp::create(builder, location, global);
}

Value mlir::blocksparse::callRuntime(OpBuilder &builder, Location location, ModuleOp module,
                                     StringRef name, Type result, ValueRange arguments) {
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    auto type =
        LLVM::LLVMFunctionType::get(result ? result : LLVM::LLVMVoidType::get(builder.getContext()),
                                    llvm::to_vector(arguments.getTypes()));
    function = LLVM::LLVMFuncOp::create(builder, location, name, type);
  }
  auto call = LLVM::CallOp::create(builder, location, function, arguments);
  return result ? call.getResult() : Value();
}

Value mlir::blocksparse::makeVariable(OpBuilder &builder, Location location, func::FuncOp function,
                                      Type type, int64_t count, unsigned alignment) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  Value number = LLVM::ConstantOp::create(builder, location, builder.getI64Type(), count);
  return LLVM::AllocaOp::create(builder, location, LLVM::LLVMPointerType::get(builder.getContext()),
                                type, number, alignment);
}
