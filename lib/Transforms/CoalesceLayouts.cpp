// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Plan/SuperBlocks.h"
#include "blocksparse/Transforms/Passes.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_COALESCELAYOUTSPASS
#include "blocksparse/Transforms/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

static bool isStaticSparse(Value value) {
  std::optional<SparseTensor> sparse = SparseTensor::get(value.getType());
  return sparse && sparse->isStatic();
}

/// Returns true if the block shape of `op`'s sparse operands and results may be changed: the op
/// works with any block shape, and all its sparse tensors have one pattern.
static bool isIndifferentToBlocks(Operation *op) {
  return isa<SDDOp, FromDenseOp, SoftmaxOp, SoftmaxGradOp, SampledAddmmOp, DSDOp, DDSOp, BsrAddmmOp,
             ToDenseOp, AddOp>(op) &&
         !op->getAttr("schedule");
}

/// Returns the groups of sparse values whose layouts can only be changed together, in program
/// order. A group with a value whose storage is visible outside (an argument, an operand of return,
/// ...) is excluded.
static SmallVector<SmallVector<Value>> collectGroups(Operation *root) {
  llvm::EquivalenceClasses<Value> classes;
  SmallVector<Value> values;
  DenseSet<Value> pinned;
  root->walk([&](Operation *op) {
    SmallVector<Value> sparse;
    for (ValueRange range : {ValueRange(op->getOperands()), ValueRange(op->getResults())})
      llvm::copy_if(range, std::back_inserter(sparse), isStaticSparse);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        pinned.insert(block.args_begin(), block.args_end());
    if (sparse.empty())
      return;
    values.append(sparse);
    for (Value value : sparse)
      classes.unionSets(sparse.front(), value);
    if (!isIndifferentToBlocks(op))
      pinned.insert(sparse.begin(), sparse.end());
  });
  llvm::MapVector<Value, SmallVector<Value>> groups;
  DenseSet<Value> seen, pinnedLeaders;
  for (Value value : values) {
    Value leader = classes.getLeaderValue(value);
    if (pinned.contains(value))
      pinnedLeaders.insert(leader);
    if (seen.insert(value).second)
      groups[leader].push_back(value);
  }
  SmallVector<SmallVector<Value>> free;
  for (auto &[leader, members] : groups)
    if (!pinnedLeaders.contains(leader))
      free.push_back(members);
  return free;
}

namespace {
struct CoalesceLayouts : mlir::blocksparse::impl::CoalesceLayoutsPassBase<CoalesceLayouts> {
  using CoalesceLayoutsPassBase::CoalesceLayoutsPassBase;

  void runOnOperation() override {
    for (const SmallVector<Value> &group : collectGroups(getOperation())) {
      SparseTensor sparse = *SparseTensor::get(group.front().getType());
      const ::blocksparse::BlockLayout *layout = sparse.getLayout().resolve();
      if (!layout)
        continue;
      std::optional<::blocksparse::BlockLayout> larger =
          ::blocksparse::fullSuperBlocks(*layout, maxBlock);
      if (!larger)
        continue;
      LayoutAttr encoding = LayoutAttr::get(&getContext(), *larger);
      for (Value value : group) {
        auto type = cast<RankedTensorType>(value.getType());
        value.setType(RankedTensorType::get(type.getShape(), type.getElementType(), encoding));
      }
    }
  }
};
} // namespace
