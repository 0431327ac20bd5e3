// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// This file declares what the functions of the compiler's C interface share.

#ifndef BLOCKSPARSE_LIB_CAPI_PROGRAM_H
#define BLOCKSPARSE_LIB_CAPI_PROGRAM_H

#include "blocksparse-c/Compiler.h"
#include "blocksparse/Compiler/Compiler.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/SourceMgr.h"

struct BlocksparseProgramImpl {
  /// Makes an empty program with a context of its own.
  BlocksparseProgramImpl();
  /// Makes an empty program in the caller's context.
  explicit BlocksparseProgramImpl(mlir::MLIRContext &context) : context(context) {}

  // Members are destroyed in reverse order: the module before its context.
  std::unique_ptr<mlir::MLIRContext> ownContext;
  mlir::MLIRContext &context;
  llvm::SourceMgr sourceMgr;
  mlir::blocksparse::Program program;
  /// Last stage that the program has passed.
  mlir::blocksparse::Stage passed = mlir::blocksparse::Stage::Parse;
};

namespace mlir::blocksparse {

/// Passes the diagnostics of a context to a callback as long as it lives.
class DiagnosticReporter {
public:
  DiagnosticReporter(MLIRContext &context, BlocksparseDiagnosticCallback onDiagnostic,
                     void *userData);

private:
  ScopedDiagnosticHandler handler;
};

/// Holds what one call compiles: a copy of the program with the names of its entry points.
struct Compilation {
  Program program;
  CompileOptions options;
  EntryPoints entryPoints = EntryPoints::Plain;
};

/// Reads the options and copies the program.
FailureOr<Compilation> prepareCompilation(BlocksparseProgram program,
                                          const BlocksparseCompileOptions *options);

/// Returns the stage that a program has passed; NULL names the first.
FailureOr<Stage> readPassedStage(const char *name, EmitErrorFn emitError);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CAPI_PROGRAM_H
