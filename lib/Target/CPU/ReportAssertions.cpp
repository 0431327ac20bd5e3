// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/Assertions.h"
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
using namespace mlir::blocksparse;

namespace {

struct ReportAssertions : mlir::blocksparse::impl::ReportAssertionsPassBase<ReportAssertions> {
  void runOnOperation() override {
    formats.clear();
    count = 0;
    bool reported = true;
    lowerAssertions(getOperation(), [&](ImplicitLocOpBuilder &b, const FailedAssertion &failed) {
      reported &= succeeded(report(b, failed));
    });
    if (!reported)
      signalPassFailure();
  }

  LogicalResult report(ImplicitLocOpBuilder &b, const FailedAssertion &assertion) {
    Type word = b.getI32Type();
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    // printf would lose the message: standard output is buffered, and abort does not flush it.
    FailureOr<LLVM::LLVMFuncOp> print = LLVM::lookupOrCreateFn(
        b, getOperation(), "dprintf", {word, pointer}, word, /*isVarArg=*/true);
    FailureOr<LLVM::LLVMFuncOp> abort = LLVM::lookupOrCreateFn(
        b, getOperation(), "abort", {}, LLVM::LLVMVoidType::get(b.getContext()));
    if (failed(print) || failed(abort))
      return failure();

    SmallVector<Value> numbers;
    std::string text = makeFormat(assertion, numbers);
    SmallVector<Value> arguments = {
        LLVM::ConstantOp::create(b, word, b.getI32IntegerAttr(2)),
        LLVM::AddressOfOp::create(b, getFormat(text)),
    };
    llvm::append_range(arguments, numbers);
    LLVM::CallOp::create(b, *print, arguments);
    LLVM::CallOp::create(b, *abort, ValueRange());
    return success();
  }

  /// Returns the message as a format of printf, and the numbers that it formats.
  static std::string makeFormat(const FailedAssertion &assertion, SmallVectorImpl<Value> &numbers) {
    std::string format;
    for (StringRef rest = assertion.message; !rest.empty();) {
      bool left = rest.consume_front("{0}");
      if (left || rest.consume_front("{1}")) {
        numbers.push_back(left ? assertion.left : assertion.right);
        format += "%lld";
        continue;
      }
      format += rest.front() == '%' ? "%%" : rest.take_front().str();
      rest = rest.drop_front();
    }
    return format + "\n";
  }

  /// Returns the constant that holds `text` and a terminating 0, which is made once.
  LLVM::GlobalOp getFormat(const std::string &text) {
    LLVM::GlobalOp &global = formats[text];
    if (global)
      return global;
    ModuleOp module = getOperation();
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    StringRef bytes(text.c_str(), text.size() + 1);
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
    std::string name;
    do
      name = "blocksparse_message_" + std::to_string(count++);
    while (module.lookupSymbol(name));
    global = LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true,
                                    LLVM::Linkage::Internal, name, builder.getStringAttr(bytes));
    return global;
  }

  llvm::StringMap<LLVM::GlobalOp> formats;
  unsigned count = 0;
};

} // namespace
