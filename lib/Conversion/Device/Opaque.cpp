// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Opaque.h"

#include "Assembly.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

SmallVector<Value> mlir::blocksparse::device::makeOpaque(ImplicitLocOpBuilder &b,
                                                         ValueRange words) {
  // Result i is tied to the register of operand i.
  SmallVector<std::string> constraints(words.size(), "=r");
  for (size_t i = 0; i < words.size(); ++i)
    constraints.push_back(std::to_string(i));
  Type word = b.getI32Type();
  Type type =
      words.size() == 1
          ? word
          : LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(words.size(), word));
  Value result = emitAssembly(b, "", llvm::join(constraints, ","), type, words);
  if (words.size() == 1)
    return {result};
  SmallVector<Value> results;
  for (size_t i = 0; i < words.size(); ++i)
    results.push_back(LLVM::ExtractValueOp::create(b, result, static_cast<int64_t>(i)));
  return results;
}

Value mlir::blocksparse::device::makeOpaque(ImplicitLocOpBuilder &b, Value word) {
  return makeOpaque(b, ValueRange(word)).front();
}
