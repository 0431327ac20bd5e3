// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A compiler outside this project: its dialect has a layout attribute of its own and an operation
// that becomes a product of blocksparse, a pass reads block-sparse types, and its opt tool runs all
// of it beside the passes of blocksparse.

#include "blocksparse/Compiler/Registration.h"
#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Layout/BlockLayout.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>
#include <mutex>
#include <numeric>

#include "OwnDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "OwnAttrs.h.inc"
#define GET_OP_CLASSES
#include "OwnOps.h.inc"

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

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::blocksparse::registerAllDialects(registry);
  mlir::blocksparse::registerAllPasses();
  registry.insert<own::OwnDialect>();
  mlir::PassRegistration<CountBlocks>();
  mlir::PassRegistration<LowerLayers>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "A compiler outside of blocksparse\n", registry));
}
