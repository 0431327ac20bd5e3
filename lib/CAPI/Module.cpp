// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse-c/Module.h"
#include "Program.h"
#include "blocksparse/Compiler/Registration.h"

#include "mlir/CAPI/IR.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace mlir::blocksparse;

BlocksparseProgram blocksparseProgramFromModule(MlirModule module, const char *stage,
                                                BlocksparseDiagnosticCallback onDiagnostic,
                                                void *userData) {
  ModuleOp source = unwrap(module);
  MLIRContext &context = *source.getContext();
  DialectRegistry registry;
  mlir::blocksparse::registerAllDialects(registry);
  context.appendDialectRegistry(registry);
  auto handle = std::make_unique<BlocksparseProgramImpl>(context);
  DiagnosticReporter reporter(context, onDiagnostic, userData);
  FailureOr<Stage> passed =
      readPassedStage(stage, [&] { return emitError(UnknownLoc::get(&context)); });
  if (failed(passed) || failed(verify(source)))
    return nullptr;
  handle->passed = *passed;
  FailureOr<Program> program = readProgram(source, handle->passed);
  if (failed(program))
    return nullptr;
  handle->program = std::move(*program);
  return handle.release();
}

void blocksparseRegisterAllDialects(MlirDialectRegistry registry) {
  mlir::blocksparse::registerAllDialects(*unwrap(registry));
}

void blocksparseRegisterBufferizationModels(MlirDialectRegistry registry) {
  registerBlockSparseBufferizationModels(*unwrap(registry));
}

void blocksparseRegisterPasses(void) { registerBlockSparsePasses(); }

void blocksparseRegisterPipelines(void) { registerBlockSparsePipelines(); }
