// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_CPU_JIT_H
#define BLOCKSPARSE_TARGET_CPU_JIT_H

#include "blocksparse/Target/CPU/Code.h"

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace mlir::blocksparse {

/// Is the type of an entry point whose arguments (pointers to descriptors, numbers) are passed as
/// an array of their addresses, so that a caller need not know how many there are. It returns a
/// status: 0, or the reason why the call was refused or a device failed.
using PackedFunction = int32_t (*)(void **);

/// Describes a function of this process that programs call.
struct JITSymbol {
  StringRef name;
  void *address;
};

/// Holds a program in memory that can be called.
class JIT {
public:
  /// Links the object code of `code` in memory, together with LLVM's OpenMP runtime, `symbols` and
  /// what the libraries of this process define. Fails for a function that none of them has.
  /// Requires packed entry points and code for the host.
  static FailureOr<JIT> create(Code code, EmitErrorFn emitError, ArrayRef<JITSymbol> symbols = {});

  /// Links an object file for the host, given as bytes, in the same way.
  static FailureOr<JIT> create(StringRef object, EmitErrorFn emitError,
                               ArrayRef<JITSymbol> symbols = {});

  JIT(JIT &&);
  ~JIT();

  /// Returns the address of a function or variable that the program exports. Fails for an unknown
  /// name.
  FailureOr<void *> lookupSymbol(StringRef name, EmitErrorFn emitError);

  /// Returns the same; null for an unknown name.
  void *findSymbol(StringRef name);

  /// Returns the packed form of an entry point. Fails for an unknown name.
  FailureOr<PackedFunction> lookup(StringRef name, EmitErrorFn emitError);

  /// Sets the number of OpenMP threads of later calls from this thread. Requires `count` >= 1.
  void setThreads(int count) { setNumThreads(count); }
  /// Returns the number of OpenMP threads of the next call from this thread.
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
