// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PlanPatterns.h"
#include "blocksparse/IR/PlannedOps.h"
#include "blocksparse/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_MATERIALIZELUTSPASS
#include "blocksparse/Transforms/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

/// Returns the first sparse type among the operands and results of `op`, or null.
static Type findSparseType(Operation *op) {
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (isSparseTensor(type))
        return type;
  return {};
}

/// Emits an error for an op without a conversion that has a sparse operand or result. It runs
/// before anything changes.
static LogicalResult checkForeignOps(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    if (isa<BlockSparseDialect, scf::SCFDialect, func::FuncDialect>(op->getDialect()) ||
        !findSparseType(op))
      return WalkResult::advance();
    op->emitOpError() << "expects no block-sparse operand or result outside blocksparse, func and "
                         "scf operations, but got "
                      << findSparseType(op);
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

static void configureTarget(ConversionTarget &target, const TypeConverter &converter) {
  target.addDynamicallyLegalDialect<BlockSparseDialect>(
      [](Operation *op) { return isPlannedOp(op); });
  target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp func) {
    return converter.isSignatureLegal(func.getFunctionType()) && converter.isLegal(&func.getBody());
  });
  target.addDynamicallyLegalOp<func::CallOp, func::ReturnOp>(
      [&](Operation *op) { return converter.isLegal(op); });
  // Booleans of other operations stay as they are; casts join them.
  target.markUnknownOpDynamicallyLegal([](Operation *op) { return !findSparseType(op); });
}

namespace {
struct MaterializeLuts : mlir::blocksparse::impl::MaterializeLutsPassBase<MaterializeLuts> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    if (failed(checkForeignOps(module)))
      return signalPassFailure();

    SparseStorageConverter converter;
    RewritePatternSet patterns(context);
    ConversionTarget target(*context);
    configureTarget(target, converter);
    populatePlanMatmulPatterns(converter, patterns);
    populatePlanSoftmaxPatterns(converter, patterns);
    populatePlanConversionPatterns(converter, patterns);
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns, converter);
    populateCallOpTypeConversionPattern(patterns, converter);
    populateReturnOpTypeConversionPattern(patterns, converter);
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, target);

    // The patterns say why they can't proceed; the driver's own message adds nothing then.
    bool explained = false;
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return failure();
      bool generic = StringRef(diagnostic.str()).starts_with("failed to legalize");
      bool drop = generic && explained;
      explained |= !generic;
      return success(drop);
    });
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return signalPassFailure();
    planCalls(module);
  }
};
} // namespace
