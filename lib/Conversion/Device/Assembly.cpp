// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembly.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::blocksparse;

Value mlir::blocksparse::device::emitAssembly(ImplicitLocOpBuilder &b, const Twine &text,
                                              const Twine &constraints, Type result,
                                              ValueRange operands, bool hasSideEffects) {
  auto assembly = LLVM::InlineAsmOp::create(
      b, result ? TypeRange(result) : TypeRange(), operands, text.str(), constraints.str(),
      hasSideEffects, /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr(), ArrayAttr());
  return result ? assembly.getResult(0) : Value();
}
