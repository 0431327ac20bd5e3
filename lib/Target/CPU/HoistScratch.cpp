// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/CPU/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_HOISTSCRATCHPASS
#include "blocksparse/Target/CPU/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;

/// Moves `op` and the operations that compute its operands in front of `loop`, an operation of the
/// block that every thread runs. Returns false if an operand belongs to an iteration.
static bool hoist(Operation *op, Operation *loop) {
  for (Value operand : op->getOperands()) {
    if (operand.getParentRegion()->isAncestor(loop->getParentRegion()))
      continue;
    Operation *definition = operand.getDefiningOp();
    if (!definition || !isMemoryEffectFree(definition) || definition->getNumRegions() != 0 ||
        !hoist(definition, loop))
      return false;
  }
  op->moveBefore(loop);
  return true;
}

namespace {

struct HoistScratch : mlir::blocksparse::impl::HoistScratchPassBase<HoistScratch> {
  void runOnOperation() override {
    WalkResult walked = getOperation().walk([](omp::ParallelOp parallel) {
      Block &entry = parallel.getRegion().front();
      return parallel.walk([&](memref::AllocaOp alloca) -> WalkResult {
        Operation *loop = entry.findAncestorOpInBlock(*alloca);
        if (loop == alloca || (loop && hoist(alloca, loop)))
          return success();
        return alloca.emitOpError("expects a size that does not depend on the loop iteration");
      });
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
