// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests the table of kernel families, and that the conversion patterns work outside of their pass.

#include "Conversion/BlockSparseToGPU/KernelFamilies.h"
#include "blocksparse/Conversion/BlockSparseToGPU.h"
#include "blocksparse/IR/BlockSparseDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/DialectConversion.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

namespace {

/// Returns the rows of the table for `part` of `operation`, in order.
std::vector<const FamilyKernel *> rowsOf(StringRef operation, KernelPart part) {
  std::vector<const FamilyKernel *> rows;
  for (const FamilyKernel &kernel : getFamilyKernels())
    if (kernel.operation == operation && kernel.part == part)
      rows.push_back(&kernel);
  return rows;
}

TEST(KernelFamilies, EveryChainEndsWithoutConditions) {
  for (const FamilyKernel &kernel : getFamilyKernels()) {
    std::vector<const FamilyKernel *> rows = rowsOf(kernel.operation, kernel.part);
    ASSERT_FALSE(rowsOf(kernel.operation, KernelPart::Result).empty()) << kernel.operation.str();
    EXPECT_EQ(rows.back()->fitsAtRunTime, nullptr) << kernel.operation.str();
    EXPECT_EQ(rows.back()->family, FamilyKind::Simt) << kernel.operation.str();
  }
}

TEST(KernelFamilies, FastestFirst) {
  for (const FamilyKernel &kernel : getFamilyKernels()) {
    std::vector<const FamilyKernel *> rows = rowsOf(kernel.operation, kernel.part);
    // A family may have several kernels, such as one for strides of any number of bytes.
    for (size_t i = 1; i < rows.size(); ++i)
      EXPECT_LE(rows[i - 1]->family, rows[i]->family) << kernel.operation.str();
  }
}

class Patterns : public testing::Test {
protected:
  void SetUp() override {
    context.loadDialect<BlockSparseDialect, arith::ArithDialect, func::FuncDialect, gpu::GPUDialect,
                        LLVM::LLVMDialect, memref::MemRefDialect, NVVM::NVVMDialect,
                        nvgpu::NVGPUDialect, scf::SCFDialect>();
  }

  /// Applies the patterns for `chip` to a program, as another pipeline would.
  LogicalResult convert(ModuleOp module, const std::string &chip) {
    std::string error;
    auto target = ::blocksparse::TargetInfo::parse("cuda:" + chip, error);
    RewritePatternSet patterns(&context);
    populateBlockSparseToGPUPatterns(patterns, *target);
    ConversionTarget legal(context);
    legal.addIllegalDialect<BlockSparseDialect>();
    legal.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    return applyPartialConversion(module, legal, std::move(patterns));
  }

  MLIRContext context;
};

constexpr char onBuffers[] = R"(
func.func @product(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf16>) {
  blocksparse.planned_matmul %a, %b outs(%c) {schedule = #blocksparse.schedule<cuda.mma>}
    : (memref<64x64xf16>, memref<64x64xf16>, memref<64x64xf16>) -> ()
  return
})";

TEST_F(Patterns, ChainOfFamilies) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(onBuffers, &context);
  ASSERT_TRUE(module);
  ASSERT_TRUE(succeeded(convert(*module, "sm_80")));
  std::vector<std::string> kernels;
  module->walk([&](gpu::GPUFuncOp kernel) { kernels.push_back(kernel.getName().str()); });
  // The addresses are known at run time only: the scalar kernel is the fallback.
  EXPECT_EQ(kernels, (std::vector<std::string>{"product_matmul_mma", "product_matmul"}));
  int64_t choices = 0;
  module->walk([&](func::FuncOp host) { host.walk([&](scf::IfOp) { ++choices; }); });
  EXPECT_EQ(choices, 1);
}

TEST_F(Patterns, NamesTheFault) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
func.func @product(%a: tensor<64x64xf16>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %0 = blocksparse.planned_matmul %a, %a outs(%c)
    : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
})",
                                                             &context);
  ASSERT_TRUE(module);
  module->walk([&](Operation *op) {
    if (isa<BlockSparseDialect>(op->getDialect()))
      EXPECT_EQ(findGPULoweringFault(op),
                "expects operands on memrefs, but got 'tensor<64x64xf16>'");
  });
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) { return success(); });
  EXPECT_TRUE(failed(convert(*module, "sm_80")));
}

} // namespace
