// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_REPORTASSERTIONSPASS
#include "blocksparse/Target/CPU/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;

namespace {

struct ReportAssertions : mlir::blocksparse::impl::ReportAssertionsPassBase<ReportAssertions> {
  void runOnOperation() override {
    messages.clear();
    count = 0;
    SmallVector<cf::AssertOp> assertions;
    getOperation().walk([&](cf::AssertOp assertion) { assertions.push_back(assertion); });
    for (cf::AssertOp assertion : assertions)
      if (failed(report(assertion)))
        return signalPassFailure();
  }

  LogicalResult report(cf::AssertOp assertion) {
    ImplicitLocOpBuilder b(assertion.getLoc(), assertion);
    Type word = b.getI32Type(), size = b.getI64Type();
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    FailureOr<LLVM::LLVMFuncOp> write =
        LLVM::lookupOrCreateFn(b, getOperation(), "write", {word, pointer, size}, size);
    FailureOr<LLVM::LLVMFuncOp> abort = LLVM::lookupOrCreateFn(
        b, getOperation(), "abort", {}, LLVM::LLVMVoidType::get(b.getContext()));
    if (failed(write) || failed(abort))
      return failure();
    LLVM::GlobalOp message = getMessage(assertion.getMsg());

    Value yes = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
    Value fails = arith::XOrIOp::create(b, assertion.getArg(), yes);
    auto branch = scf::IfOp::create(b, fails, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    Value text = LLVM::AddressOfOp::create(b, message);
    Value length = LLVM::ConstantOp::create(
        b, size, b.getI64IntegerAttr(cast<StringAttr>(message.getValueAttr()).size()));
    Value standardError = LLVM::ConstantOp::create(b, word, b.getI32IntegerAttr(2));
    LLVM::CallOp::create(b, *write, ValueRange{standardError, text, length});
    LLVM::CallOp::create(b, *abort, ValueRange());
    assertion.erase();
    return success();
  }

  /// The constant that holds `text` and a line end, made once.
  LLVM::GlobalOp getMessage(StringRef text) {
    LLVM::GlobalOp &global = messages[text];
    if (global)
      return global;
    ModuleOp module = getOperation();
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    std::string line = (text + "\n").str();
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), line.size());
    std::string name;
    do
      name = "blocksparse_message_" + std::to_string(count++);
    while (module.lookupSymbol(name));
    global = LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true,
                                    LLVM::Linkage::Internal, name, builder.getStringAttr(line));
    return global;
  }

  llvm::StringMap<LLVM::GlobalOp> messages;
  unsigned count = 0;
};

} // namespace
