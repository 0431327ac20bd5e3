// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IndexChecks.h"
#include "blocksparse/Conversion/BlockSparseToCPU.h"
#include "blocksparse/Conversion/Passes.h"
#include "blocksparse/IR/BlockSparseDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_CONVERTBLOCKSPARSETOCPUPASS
#include "blocksparse/Conversion/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

struct ConvertBlockSparseToCPUPass
    : blocksparse::impl::ConvertBlockSparseToCPUPassBase<ConvertBlockSparseToCPUPass> {
  using ConvertBlockSparseToCPUPassBase::ConvertBlockSparseToCPUPassBase;

  void runOnOperation() override {
    if (vectorBits < 128 || vectorBits % 128 != 0) {
      getOperation()->emitError("expects vector-bits to be a multiple of 128, but got ")
          << vectorBits.getValue();
      return signalPassFailure();
    }
    if (checkIndices)
      insertIndexChecks(getOperation());
    CPULoweringOptions options;
    options.vectorBits = vectorBits;
    RewritePatternSet patterns(&getContext());
    populateMatmulToCPUPatterns(patterns, options);
    populateSoftmaxToCPUPatterns(patterns, options);
    ConversionTarget target(getContext());
    target.addIllegalDialect<BlockSparseDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
