// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Compiler/Registration.h"
#include "blocksparse/Pipelines/Pipelines.h"
#include "blocksparse/Target/TargetInfo.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::blocksparse;

// A call, a loop, open sizes and operations of other dialects: what passes of MLIR need models for.
static constexpr StringLiteral program = R"(
#layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
!x = tensor<32x?xf32>
func.func private @scale(%x: !x, %n: f32) -> !x {
  %c1 = arith.constant 1 : index
  %cols = tensor.dim %x, %c1 : !x
  %e = tensor.empty(%cols) : !x
  %y = linalg.map ins(%x : !x) outs(%e : !x) (%a: f32, %o: f32) {
    %p = arith.mulf %a, %n : f32
    linalg.yield %p : f32
  }
  return %y : !x
}
func.func @f(%w: tensor<32x32xf32, #layout>, %x: !x, %n: f32) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%h = %x) -> (!x) {
    %y = blocksparse.dsd %w, %h : (tensor<32x32xf32, #layout>, !x) -> !x
    %s = func.call @scale(%y, %n) : (!x, f32) -> !x
    %z = math.exp %s : !x
    scf.yield %z : !x
  }
  return %r : !x
}
)";

// Runs the stages up to planned operations on buffers, and those that `addRest` adds, in a context
// with the dialects of the program and without interface models of MLIR, as another compiler makes
// it.
static LogicalResult compile(const ::blocksparse::TargetInfo &target,
                             llvm::function_ref<void(OpPassManager &)> addRest) {
  DialectRegistry registry;
  registerBlockSparseDialect(registry);
  registry.insert<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                  scf::SCFDialect, tensor::TensorDialect>();
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program, &context);
  if (!module)
    return failure();
  PassManager manager(&context);
  buildOptimizePipeline(manager, target);
  buildSchedulePipeline(manager, {target, "", nullptr});
  PlanOptions plan;
  plan.target = target;
  buildPlanPipeline(manager, plan);
  buildBufferizePipeline(manager);
  addRest(manager);
  return manager.run(*module);
}

TEST(Registration, PipelinesForCPUsBringTheirModels) {
  EXPECT_TRUE(succeeded(compile(::blocksparse::TargetInfo(), [](OpPassManager &manager) {
    buildConvertToCPUPipeline(manager, ::blocksparse::TargetInfo());
    buildLowerToLLVMPipeline(manager);
  })));
}

TEST(Registration, PipelinesForGPUsBringTheirModels) {
  GPUOptions options;
  options.target = ::blocksparse::TargetInfo::oldestGPU();
  EXPECT_TRUE(succeeded(compile(options.target, [&](OpPassManager &manager) {
    buildConvertToGPUPipeline(manager, options);
    buildLowerGPUToLLVMPipeline(manager, options);
  })));
}
