// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Inline assembly for instructions that no operation of the NVVM dialect covers.

#ifndef BLOCKSPARSE_LIB_CONVERSION_DEVICE_ASSEMBLY_H
#define BLOCKSPARSE_LIB_CONVERSION_DEVICE_ASSEMBLY_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// Emits inline assembly and returns its result. `text` and `constraints` have the syntax of LLVM's
/// inline assembly. `result` is the type of the result, a literal struct of several types, or null;
/// if it is null, null is returned. If `hasSideEffects` is false, LLVM may merge equal statements
/// and remove unused ones.
Value emitAssembly(ImplicitLocOpBuilder &b, const Twine &text, const Twine &constraints,
                   Type result, ValueRange operands, bool hasSideEffects = true);

/// Builds an inline assembly statement that changes its first operands (tied operands), makes
/// others, and reads the rest. All operands that are changed or made must be added before the first
/// operand that is read. Members return the index of an operand, by which the text names it: "$3".
class ChangingAssembly {
public:
  explicit ChangingAssembly(ImplicitLocOpBuilder &b) : b(b) {}

  int64_t change(Value value, StringRef constraint);
  int64_t make(Type type, StringRef constraint);
  int64_t read(Value value, StringRef constraint);
  /// Emits the statement and returns the operands that were changed or made, by index.
  SmallVector<Value> emit(const Twine &text);

  /// Returns the text "$first, ..., $(first + count - 1)".
  static std::string list(int64_t first, int64_t count);

private:
  ImplicitLocOpBuilder &b;
  SmallVector<Type> types;
  SmallVector<std::string> outputs, inputs;
  SmallVector<Value> operands;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_DEVICE_ASSEMBLY_H
