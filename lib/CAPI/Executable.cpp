// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Program.h"
#include "blocksparse-c/Runtime.h"
#include "blocksparse/Execution/HostProgram.h"

using namespace mlir;
using namespace mlir::blocksparse;

struct BlocksparseExecutableImpl {
  BlocksparseExecutableImpl() : context(MLIRContext::Threading::DISABLED) {}

  /// Context for the diagnostics of lookups: that of the program may be gone.
  MLIRContext context;
  std::optional<HostProgram> program;
};

extern "C" {

BlocksparseExecutable blocksparseProgramLoad(BlocksparseProgram program,
                                             const BlocksparseCompileOptions *options,
                                             BlocksparseDiagnosticCallback onDiagnostic,
                                             void *userData) {
  DiagnosticReporter reporter(program->context, onDiagnostic, userData);
  FailureOr<Compilation> compilation = prepareCompilation(program, options);
  if (failed(compilation))
    return nullptr;
  FailureOr<HostProgram> loaded =
      HostProgram::create(*compilation->program.module, compilation->options);
  if (failed(loaded))
    return nullptr;
  auto executable = std::make_unique<BlocksparseExecutableImpl>();
  executable->program.emplace(std::move(*loaded));
  return executable.release();
}

BlocksparseExecutable blocksparseExecutableLoad(const void *object, size_t size,
                                                BlocksparseDiagnosticCallback onDiagnostic,
                                                void *userData) {
  auto executable = std::make_unique<BlocksparseExecutableImpl>();
  MLIRContext &context = executable->context;
  DiagnosticReporter reporter(context, onDiagnostic, userData);
  FailureOr<HostProgram> loaded =
      HostProgram::load(StringRef(static_cast<const char *>(object), size),
                        [&] { return emitError(UnknownLoc::get(&context)); });
  if (failed(loaded))
    return nullptr;
  executable->program.emplace(std::move(*loaded));
  return executable.release();
}

void blocksparseExecutableDestroy(BlocksparseExecutable executable) { delete executable; }

void *blocksparseExecutableLookup(BlocksparseExecutable executable, const char *name,
                                  BlocksparseDiagnosticCallback onDiagnostic, void *userData) {
  MLIRContext &context = executable->context;
  DiagnosticReporter reporter(context, onDiagnostic, userData);
  FailureOr<void *> address = executable->program->getJIT().lookupSymbol(
      name, [&] { return emitError(UnknownLoc::get(&context)); });
  return succeeded(address) ? *address : nullptr;
}

int blocksparseExecutableSetThreads(BlocksparseExecutable executable, int count) {
  if (count < 1)
    return 1;
  executable->program->getJIT().setThreads(count);
  return 0;
}

const char *blocksparseExecutableLastError(void) { return blocksparseRtLastError(); }

} // extern "C"
