// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RefusedCalls.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::blocksparse;

static constexpr StringLiteral handlerName = "blocksparse.refuse";
static constexpr StringLiteral indexHandlerName = "blocksparse.refuse_indices";
/// Is the size of a message, in bytes; a longer one is cut.
static constexpr int64_t textSize = 1024;

static Type pointerType(OpBuilder &b) { return LLVM::LLVMPointerType::get(b.getContext()); }

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
  return format;
}

/// Returns the address of the constant that holds `text` and a terminating 0, which is made once.
Value RefusedCalls::getText(ImplicitLocOpBuilder &b, const std::string &text) {
  LLVM::GlobalOp &global = texts[text];
  if (!global) {
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    StringRef bytes(text.c_str(), text.size() + 1);
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
    std::string name;
    do
      name = "blocksparse_message_" + std::to_string(count++);
    while (module.lookupSymbol(name));
    global = LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true,
                                    LLVM::Linkage::Internal, name, builder.getStringAttr(bytes));
  }
  return LLVM::AddressOfOp::create(b, global);
}

LLVM::LLVMFuncOp RefusedCalls::declare(StringRef name, Type result, ArrayRef<Type> arguments,
                                       bool isVarArg, LLVM::Linkage linkage) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  auto b = ImplicitLocOpBuilder::atBlockBegin(module.getLoc(), module.getBody());
  auto type = LLVM::LLVMFunctionType::get(result, arguments, isVarArg);
  return LLVM::LLVMFuncOp::create(b, name, type, linkage);
}

/// Formats `arguments` in memory of the frame, and returns the address of the text.
Value RefusedCalls::formatText(ImplicitLocOpBuilder &b, Value format, ValueRange arguments) {
  Type pointer = pointerType(b);
  Value size = LLVM::ConstantOp::create(b, b.getI64Type(), textSize);
  Value text;
  {
    OpBuilder::InsertionGuard guard(b);
    Region *region = b.getInsertionBlock()->getParent();
    b.setInsertionPointToStart(&region->front());
    Value bytes = LLVM::ConstantOp::create(b, b.getI64Type(), textSize);
    text = LLVM::AllocaOp::create(b, pointer, b.getI8Type(), bytes, /*alignment=*/1);
  }
  LLVM::LLVMFuncOp print =
      declare("snprintf", b.getI32Type(), {pointer, b.getI64Type(), pointer}, /*isVarArg=*/true);
  SmallVector<Value> operands = {text, size, format};
  llvm::append_range(operands, arguments);
  LLVM::CallOp::create(b, print, operands);
  return text;
}

/// Adds a function to the module whose result is void, and returns it with an empty entry block.
LLVM::LLVMFuncOp RefusedCalls::addFunction(StringRef name, ArrayRef<Type> arguments) {
  auto b = ImplicitLocOpBuilder::atBlockBegin(module.getLoc(), module.getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), arguments);
  auto function = LLVM::LLVMFuncOp::create(b, name, type, LLVM::Linkage::Internal);
  function.addEntryBlock(b);
  return function;
}

/// Returns void blocksparse.refuse(const char *text).
LLVM::LLVMFuncOp RefusedCalls::getHandler() {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(handlerName))
    return known;
  ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
  Type pointer = pointerType(b), i32 = b.getI32Type();
  LLVM::LLVMFuncOp function = addFunction(handlerName, pointer);
  LLVM::LLVMFuncOp runtime =
      declare("blocksparseRtRefuse", i32, pointer, /*isVarArg=*/false, LLVM::Linkage::ExternWeak);
  Block *entry = &function.getBody().front();
  Block *known = b.createBlock(&function.getBody(), function.getBody().end());
  Block *unknown = b.createBlock(&function.getBody(), function.getBody().end());
  Value text = function.getArgument(0);

  b.setInsertionPointToEnd(entry);
  Value address = LLVM::AddressOfOp::create(b, runtime);
  Value null = LLVM::ZeroOp::create(b, pointer);
  Value exists = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, address, null);
  LLVM::CondBrOp::create(b, exists, known, unknown);

  b.setInsertionPointToEnd(known);
  LLVM::CallOp::create(b, runtime, text);
  LLVM::ReturnOp::create(b, ValueRange());

  // Standard output is buffered, and would lose the message if the process ends.
  b.setInsertionPointToEnd(unknown);
  LLVM::LLVMFuncOp print = declare("dprintf", i32, {i32, pointer}, /*isVarArg=*/true);
  Value standardError = LLVM::ConstantOp::create(b, i32, b.getI32IntegerAttr(2));
  LLVM::CallOp::create(b, print, ValueRange{standardError, getText(b, "%s\n"), text});
  LLVM::ReturnOp::create(b, ValueRange());
  return function;
}

/// Returns the address of the words for a kind of fault.
Value RefusedCalls::getRule(ImplicitLocOpBuilder &b, Value code) {
  Value rule = getText(b, describeRule(::blocksparse::IndexFault::None));
  for (int64_t kind = 1; kind < ::blocksparse::indexFaultEnd; ++kind) {
    Value number = LLVM::ConstantOp::create(b, b.getI64Type(), kind);
    Value same = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, code, number);
    Value words = getText(b, describeRule(static_cast<::blocksparse::IndexFault>(kind)));
    rule = LLVM::SelectOp::create(b, same, words, rule);
  }
  return rule;
}

/// Returns void blocksparse.refuse_indices(const char *subject, int64_t code, int64_t batch,
/// int64_t row, int64_t position, int64_t value, int64_t limit).
LLVM::LLVMFuncOp RefusedCalls::getIndexHandler() {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(indexHandlerName))
    return known;
  ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
  SmallVector<Type> types(::blocksparse::Item + 1, b.getI64Type());
  types.front() = pointerType(b);
  LLVM::LLVMFuncOp function = addFunction(indexHandlerName, types);
  b.setInsertionPointToEnd(&function.getBody().front());
  Value subject = function.getArgument(0);
  ValueRange words = function.getArguments().drop_front();
  Value text =
      formatText(b, getText(b, BLOCKSPARSE_FAULT_FORMAT),
                 {subject, getRule(b, words[::blocksparse::Code]), words[::blocksparse::Limit],
                  words[::blocksparse::FaultyValue], words[::blocksparse::Batch],
                  words[::blocksparse::Row], words[::blocksparse::Position]});
  LLVM::CallOp::create(b, getHandler(), text);
  LLVM::ReturnOp::create(b, ValueRange());
  return function;
}

void RefusedCalls::report(ImplicitLocOpBuilder &b, const FailedAssertion &assertion) {
  SmallVector<Value> numbers;
  std::string format = makeFormat(assertion, numbers);
  LLVM::CallOp::create(b, getHandler(), formatText(b, getText(b, format), numbers));
}

void RefusedCalls::report(ImplicitLocOpBuilder &b, StringRef subject, ValueRange record) {
  SmallVector<Value> arguments = {getText(b, subject.str())};
  llvm::append_range(arguments, record);
  LLVM::CallOp::create(b, getIndexHandler(), arguments);
}
