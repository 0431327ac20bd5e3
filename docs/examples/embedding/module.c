// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* A program that has its modules in MLIR's C API: it runs the passes of blocksparse on one, and
   compiles what they leave. */

#include "blocksparse-c/Module.h"
#include "mlir-c/Pass.h"

#include <stdio.h>

static const char *const source =
    "#layout = #blocksparse.layout<16x16, grid 2x2, mask \"10/11\">\n"
    "func.func @f(%w: tensor<32x32xf32, #layout>, %x: tensor<32x8xf32>) -> tensor<32x8xf32> {\n"
    "  %y = blocksparse.dsd %w, %x\n"
    "    : (tensor<32x32xf32, #layout>, tensor<32x8xf32>) -> tensor<32x8xf32>\n"
    "  return %y : tensor<32x8xf32>\n"
    "}\n";

static void printMlirText(MlirStringRef text, void *stream) {
  fwrite(text.data, 1, text.length, (FILE *)stream);
}

static void printDiagnostic(const BlocksparseDiagnostic *diagnostic, void *stream) {
  fprintf((FILE *)stream, "%s\n", diagnostic->message);
}

static void countBytes(const char *bytes, size_t length, void *userData) {
  (void)bytes;
  (void)userData;
  printf("an object of %s bytes\n", length > 500 ? "more than 500" : "too few");
}

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  blocksparseRegisterAllDialects(registry);
  blocksparseRegisterPasses();
  blocksparseRegisterPipelines();
  MlirContext context = mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  mlirDialectRegistryDestroy(registry);

  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(source));
  MlirPassManager manager = mlirPassManagerCreate(context);
  MlirLogicalResult done = mlirOpPassManagerAddPipeline(
      mlirPassManagerGetAsOpPassManager(manager),
      mlirStringRefCreateFromCString("blocksparse-to-planned"), printMlirText, stderr);
  if (mlirLogicalResultIsSuccess(done))
    done = mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module));
  mlirPassManagerDestroy(manager);
  if (mlirLogicalResultIsFailure(done))
    return 1;
  mlirOperationPrint(mlirModuleGetOperation(module), printMlirText, stdout);

  BlocksparseProgram program =
      blocksparseProgramFromModule(module, "plan", printDiagnostic, stderr);
  int failed = !program || blocksparseProgramEmitToMemory(program, NULL, BLOCKSPARSE_FORMAT_OBJECT,
                                                          countBytes, printDiagnostic, stderr);
  blocksparseProgramDestroy(program);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return failed;
}
