// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Transforms/Bufferization/Passes.h"

#include "LoopExtents.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_RESOLVELOOPSIZESPASS
#include "blocksparse/Transforms/Bufferization/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

struct ResolveLoopSizes
    : public mlir::blocksparse::impl::ResolveLoopSizesPassBase<ResolveLoopSizes> {
  void runOnOperation() override {
    getOperation()->walk([](tensor::DimOp size) { resolveLoopSize(size); });
  }
};

} // namespace
