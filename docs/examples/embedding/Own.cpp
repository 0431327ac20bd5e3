// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A dialect outside this project: it has a layout attribute of its own and an operation that
// becomes a product of blocksparse, and a pass reads block-sparse types.

#include "Own.h"

#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/SparseTensor.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

#include "OwnDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "OwnAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "OwnOps.cpp.inc"

using ::blocksparse::BlockGrid;
using ::blocksparse::BlockLayout;
using ::blocksparse::BlockShape;

void own::OwnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "OwnAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "OwnOps.cpp.inc"
      >();
}

const BlockLayout *own::OwnDialect::getDiagonal(int64_t block, int64_t count) {
  std::scoped_lock lock(mutex);
  auto [entry, isNew] = diagonals.try_emplace({block, count});
  if (isNew) {
    std::vector<int32_t> offsets(count + 1), columns(count);
    std::iota(offsets.begin(), offsets.end(), 0);
    std::iota(columns.begin(), columns.end(), 0);
    std::string error;
    if (auto layout =
            BlockLayout::fromCsr({block, block}, {1, count, count}, offsets, columns, error))
      entry->second = *layout;
  }
  return &entry->second;
}

BlockShape own::DiagonalAttr::getBlockShape() const { return {getBlock(), getBlock()}; }
BlockGrid own::DiagonalAttr::getBlockGrid() const { return {1, getCount(), getCount()}; }
const BlockLayout *own::DiagonalAttr::resolve() const {
  return static_cast<own::OwnDialect &>(getDialect()).getDiagonal(getBlock(), getCount());
}
llvm::StringRef own::DiagonalAttr::getResolveError() const { return ""; }

namespace {

/// Emits a remark that says how many blocks each sparse argument of a function stores.
struct CountBlocks
    : mlir::PassWrapper<CountBlocks, mlir::InterfacePass<mlir::FunctionOpInterface>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountBlocks)
  llvm::StringRef getArgument() const override { return "own-count-blocks"; }
  void runOnOperation() override {
    for (mlir::Type type : getOperation().getArgumentTypes())
      if (auto sparse = mlir::blocksparse::SparseTensor::get(type))
        getOperation().emitRemark() << "stores " << sparse->getStoredBlocks() << " blocks";
  }
};

/// Replaces own.layer by the product of blocksparse with its activation.
struct LowerLayers : mlir::PassWrapper<LowerLayers, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerLayers)
  llvm::StringRef getArgument() const override { return "own-lower-layers"; }
  void runOnOperation() override {
    namespace bs = mlir::blocksparse;
    auto relu =
        bs::ActivationAttr::get(&getContext(), bs::ActivationKind::Relu, llvm::APFloat(0.0));
    getOperation()->walk([&](own::LayerOp layer) {
      mlir::OpBuilder builder(layer);
      auto product =
          bs::DSDOp::create(builder, layer.getLoc(), layer.getWeight(), layer.getInput());
      product.setActivationAttr(relu);
      layer->replaceAllUsesWith(product);
      layer->erase();
    });
  }
};

} // namespace

void own::registerPasses() {
  mlir::PassRegistration<CountBlocks>();
  mlir::PassRegistration<LowerLayers>();
}
