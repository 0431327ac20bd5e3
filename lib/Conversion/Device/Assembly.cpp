// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembly.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

Value mlir::blocksparse::device::emitAssembly(ImplicitLocOpBuilder &b, const Twine &text,
                                              const Twine &constraints, Type result,
                                              ValueRange operands, bool hasSideEffects) {
  auto assembly = LLVM::InlineAsmOp::create(
      b, result ? TypeRange(result) : TypeRange(), operands, text.str(), constraints.str(),
      hasSideEffects, /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr(), ArrayAttr());
  return result ? assembly.getResult(0) : Value();
}

int64_t ChangingAssembly::change(Value value, StringRef constraint) {
  types.push_back(value.getType());
  outputs.push_back(("=" + constraint).str());
  inputs.push_back(std::to_string(types.size() - 1));
  operands.push_back(value);
  return static_cast<int64_t>(types.size()) - 1;
}

int64_t ChangingAssembly::make(Type type, StringRef constraint) {
  types.push_back(type);
  outputs.push_back(("=" + constraint).str());
  return static_cast<int64_t>(types.size()) - 1;
}

int64_t ChangingAssembly::read(Value value, StringRef constraint) {
  inputs.push_back(constraint.str());
  operands.push_back(value);
  return static_cast<int64_t>(outputs.size() + inputs.size()) - 1;
}

SmallVector<Value> ChangingAssembly::emit(const Twine &text) {
  llvm::append_range(outputs, inputs);
  Value all = emitAssembly(b, text, llvm::join(outputs, ","),
                           LLVM::LLVMStructType::getLiteral(b.getContext(), types), operands);
  SmallVector<Value> results;
  for (size_t i = 0; i < types.size(); ++i)
    results.push_back(LLVM::ExtractValueOp::create(b, all, i));
  return results;
}

std::string ChangingAssembly::list(int64_t first, int64_t count) {
  auto names = llvm::map_range(llvm::seq(first, first + count),
                               [](int64_t i) { return "$" + std::to_string(i); });
  return llvm::join(names, ", ");
}
