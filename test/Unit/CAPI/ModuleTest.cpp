// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse-c/Module.h"

#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"

#include "gtest/gtest.h"

#include <string>

namespace {

const char *const source = R"(
#layout = #blocksparse.layout<2x2, grid 2x2, mask "10/11">
func.func @product(%w: tensor<4x4xf32, #layout>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = blocksparse.dsd %w, %x : (tensor<4x4xf32, #layout>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
)";

void onText(const char *text, size_t length, void *userData) {
  static_cast<std::string *>(userData)->append(text, length);
}

void onMlirText(MlirStringRef text, void *userData) { onText(text.data, text.length, userData); }

void onDiagnostic(const BlocksparseDiagnostic *diagnostic, void *userData) {
  static_cast<std::string *>(userData)->append(diagnostic->message);
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

class ModuleCAPI : public testing::Test {
protected:
  ModuleCAPI() {
    MlirDialectRegistry registry = mlirDialectRegistryCreate();
    blocksparseRegisterAllDialects(registry);
    context = mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
    mlirDialectRegistryDestroy(registry);
    module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(source));
  }
  ~ModuleCAPI() override {
    mlirModuleDestroy(module);
    mlirContextDestroy(context);
  }

  MlirContext context;
  MlirModule module;
  std::string text;
};

TEST_F(ModuleCAPI, CompilesAModule) {
  BlocksparseProgram program = blocksparseProgramFromModule(module, nullptr, onDiagnostic, &text);
  ASSERT_NE(program, nullptr) << text;
  EXPECT_EQ(blocksparseProgramEmitToMemory(program, nullptr, BLOCKSPARSE_FORMAT_ASSEMBLY, onText,
                                           onDiagnostic, &text),
            0)
      << text;
  EXPECT_TRUE(contains(text, "product:"));
  blocksparseProgramDestroy(program);
  // The module is the caller's as before.
  text.clear();
  mlirOperationPrint(mlirModuleGetOperation(module), onMlirText, &text);
  EXPECT_TRUE(contains(text, "blocksparse.dsd")) << text;
}

TEST_F(ModuleCAPI, RefusesAnUnknownStage) {
  EXPECT_EQ(blocksparseProgramFromModule(module, "never", onDiagnostic, &text), nullptr);
  EXPECT_TRUE(contains(text, "but got 'never'")) << text;
}

TEST_F(ModuleCAPI, RegistersPassesAndPipelines) {
  blocksparseRegisterPasses();
  blocksparseRegisterPipelines();
  MlirPassManager manager = mlirPassManagerCreate(context);
  MlirOpPassManager passes = mlirPassManagerGetAsOpPassManager(manager);
  for (const char *name : {"blocksparse-expand-layouts", "blocksparse-to-planned"})
    EXPECT_TRUE(mlirLogicalResultIsSuccess(mlirOpPassManagerAddPipeline(
        passes, mlirStringRefCreateFromCString(name), onMlirText, &text)))
        << text;
  EXPECT_TRUE(
      mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module))));
  mlirPassManagerDestroy(manager);
  mlirOperationPrint(mlirModuleGetOperation(module), onMlirText, &text);
  EXPECT_TRUE(contains(text, "blocksparse.planned_dsd")) << text;
  // The module that the pipeline has lowered is still a program.
  BlocksparseProgram program = blocksparseProgramFromModule(module, "plan", onDiagnostic, &text);
  ASSERT_NE(program, nullptr) << text;
  text.clear();
  EXPECT_EQ(
      blocksparseProgramPrintStage(program, nullptr, "bufferize", onText, onDiagnostic, &text), 0);
  EXPECT_TRUE(contains(text, "memref<4x8xf32")) << text;
  blocksparseProgramDestroy(program);
}

} // namespace
