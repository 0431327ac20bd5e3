// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Transforms/Bufferization/Passes.h"

#include "LoopExtents.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

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
    // The tensor that a loop starts with may be carried by another loop.
    getOperation()->walk([](tensor::DimOp dim) {
      std::optional<int64_t> axis = dim.getConstantIndex();
      while (axis) {
        std::optional<CarriedTensor> carried = getCarriedTensor(dim.getSource());
        if (!carried || !keepsExtent(*carried, *axis))
          return;
        dim.getSourceMutable().assign(carried->initial);
      }
    });
  }
};

} // namespace
