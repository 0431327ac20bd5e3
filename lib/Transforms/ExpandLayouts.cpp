// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseAttrs.h"
#include "blocksparse/Transforms/Passes.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_EXPANDLAYOUTSPASS
#include "blocksparse/Transforms/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

namespace {
struct ExpandLayouts : mlir::blocksparse::impl::ExpandLayoutsPassBase<ExpandLayouts> {
  void runOnOperation() override {
    LayoutAttrInterface unresolved;
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](Attribute attr) -> std::optional<Attribute> {
      auto layout = dyn_cast<LayoutAttrInterface>(attr);
      if (!layout)
        return std::nullopt;
      if (const ::blocksparse::BlockLayout *resolved = layout.resolve())
        return LayoutAttr::get(&getContext(), *resolved);
      unresolved = layout;
      return attr;
    });
    getOperation().walk([&](Operation *op) {
      replacer.replaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                 /*replaceTypes=*/true);
      if (!unresolved)
        return WalkResult::advance();
      op->emitOpError() << "got a layout without a pattern: " << unresolved.getResolveError();
      signalPassFailure();
      return WalkResult::interrupt();
    });
  }
};
} // namespace
