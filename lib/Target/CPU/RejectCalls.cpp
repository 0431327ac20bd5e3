// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/CPU/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_REJECTCALLSPASS
#include "blocksparse/Target/CPU/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;

namespace {

struct RejectCalls : mlir::blocksparse::impl::RejectCallsPassBase<RejectCalls> {
  void runOnOperation() override {
    WalkResult walked = getOperation().walk([](CallOpInterface call) {
      return WalkResult(call->emitOpError("expects a callee that can be inlined, but got one that "
                                          "is recursive, indirect or without a body"));
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
