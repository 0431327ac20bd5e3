// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// This file emits what host code does where it refuses a call: it makes the message and hands it to
// the runtime.

#ifndef BLOCKSPARSE_LIB_TARGET_CPU_REFUSEDCALLS_H
#define BLOCKSPARSE_LIB_TARGET_CPU_REFUSEDCALLS_H

#include "blocksparse/Support/IndexFaults.h"
#include "blocksparse/Target/Assertions.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::blocksparse {

/// Emits the messages of refused calls in a module. The text goes to blocksparseRtRefuse where the
/// runtime is in the process, so that blocksparseRtLastError returns it, and to standard error
/// where it is not: a program for the CPU needs no runtime.
class RefusedCalls {
public:
  explicit RefusedCalls(ModuleOp module) : module(module) {}

  /// Reports an assertion that does not hold.
  void report(ImplicitLocOpBuilder &b, const FailedAssertion &assertion);
  /// Reports the fault with the words `record` (i64), from the code to the limit.
  void report(ImplicitLocOpBuilder &b, StringRef subject, ValueRange record);

private:
  Value getText(ImplicitLocOpBuilder &b, const std::string &text);
  Value formatText(ImplicitLocOpBuilder &b, Value format, ValueRange arguments);
  Value getRule(ImplicitLocOpBuilder &b, Value code);
  LLVM::LLVMFuncOp getHandler();
  LLVM::LLVMFuncOp getIndexHandler();
  LLVM::LLVMFuncOp addFunction(StringRef name, ArrayRef<Type> arguments);
  LLVM::LLVMFuncOp declare(StringRef name, Type result, ArrayRef<Type> arguments,
                           bool isVarArg = false, LLVM::Linkage linkage = LLVM::Linkage::External);

  ModuleOp module;
  llvm::StringMap<LLVM::GlobalOp> texts;
  unsigned count = 0;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TARGET_CPU_REFUSEDCALLS_H
