// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_CPU_JIT_H
#define BLOCKSPARSE_TARGET_CPU_JIT_H

#include "blocksparse/Target/CPU/Code.h"

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace mlir::blocksparse {

/// An entry point whose arguments (pointers to descriptors, numbers) are passed as an
/// array of their addresses, so that a caller needs not know their number. Gives a status: 0, or
/// why a device failed.
using PackedFunction = int32_t (*)(void **);

/// A function of this process that programs call.
struct JITSymbol {
  StringRef name;
  void *address;
};

/// A program in memory, ready to be called. Where compiled code finds its arguments wrong
/// (blocksparse-report-assertions), it writes why and ends the process with status 1.
class JIT {
public:
  /// Links the object code of `code`, which has packed entry points and is made for the
  /// host, in memory, together with LLVM's OpenMP runtime and `symbols`.
  static FailureOr<JIT> create(Code code, EmitErrorFn emitError, ArrayRef<JITSymbol> symbols = {});

  JIT(JIT &&);
  ~JIT();

  /// The packed form of an entry point; an unknown name is an error.
  FailureOr<PackedFunction> lookup(StringRef name, EmitErrorFn emitError);

  /// Number of OpenMP threads of later calls from this thread; `count` >= 1.
  void setThreads(int count) { setNumThreads(count); }
  /// Number of OpenMP threads of the next call from this thread.
  int getThreads() const { return getMaxThreads(); }

private:
  explicit JIT(std::unique_ptr<llvm::orc::LLJIT> engine);

  using SetThreads = void (*)(int);
  using GetThreads = int (*)();

  std::unique_ptr<llvm::orc::LLJIT> engine;
  SetThreads setNumThreads = nullptr;
  GetThreads getMaxThreads = nullptr;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_CPU_JIT_H
