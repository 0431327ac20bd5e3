// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ArgumentIndices.h"

#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Reference/ScatterMM.h"
#include "blocksparse/Transforms/IndexUses.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::HostTensor;
namespace ref = ::blocksparse::ref;

bool mlir::blocksparse::needsUniqueColumns(BlockArgument argument) {
  return argument.getOwner()
      ->getParentOp()
      ->walk([&](Operation *op) {
        std::optional<IndexUse> use = getIndexUse(op);
        bool found = use && use->unique && getIndexSource(use->sparse) == argument;
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns the tensor of an operand, which has no elements to read if it is not an argument; empty
/// if its shape is not known.
static std::optional<HostTensor> getOperand(Value operand, LookUpArgument lookUp) {
  if (auto argument = dyn_cast<BlockArgument>(operand))
    if (const HostTensor *tensor = lookUp(argument))
      return *tensor;
  auto type = cast<RankedTensorType>(operand.getType());
  if (!type.hasStaticShape())
    return std::nullopt;
  std::string error;
  SmallVector<int64_t> strides(type.getRank(), 0);
  return HostTensor::wrap(::blocksparse::ElementType::i8, nullptr, type.getShape(), strides,
                          nullptr, error);
}

static LogicalResult checkScatter(ScatterMMOp op, LookUpArgument lookUp) {
  SmallVector<HostTensor> indices;
  for (Value index : op.getIndices()) {
    auto argument = dyn_cast<BlockArgument>(index);
    const HostTensor *tensor = argument ? lookUp(argument) : nullptr;
    if (!tensor)
      return success();
    indices.push_back(*tensor);
  }
  std::optional<HostTensor> blocks = getOperand(op.getBlocks(), lookUp);
  std::optional<HostTensor> others = getOperand(op.getOthers(), lookUp);
  std::optional<HostTensor> accumulators = getOperand(op.getAccumulators(), lookUp);
  if (!blocks || !others || !accumulators)
    return success();
  std::string error;
  bool valid = false;
  if (op.getFormat() == ScatterFormat::ScatterMM) {
    valid = ref::checkScatterMM(*blocks, *others, *accumulators, indices[0], indices[1], error);
  } else {
    bool compressed = op.getFormat() == ScatterFormat::BsrStridedMMCompressed;
    ref::StridedIndices strided;
    strided.cIndices = indices[0];
    strided.rOffsets = indices[1];
    strided.pOffsets = compressed ? HostTensor() : indices[2];
    strided.qOffsets = indices.back();
    strided.splitN = op.getSplitN();
    valid = (compressed ? ref::checkStridedMMCompressed
                        : ref::checkStridedMM)(*blocks, *others, *accumulators, strided, error);
  }
  return valid ? success() : op.emitOpError() << error;
}

LogicalResult mlir::blocksparse::checkScatterArguments(func::FuncOp function,
                                                       LookUpArgument lookUp) {
  WalkResult walked = function.walk([&](ScatterMMOp op) -> WalkResult {
    // An argument of a loop is none of the function.
    return checkScatter(op, [&](BlockArgument argument) {
      return argument.getOwner() == &function.getBody().front() ? lookUp(argument) : nullptr;
    });
  });
  return failure(walked.wasInterrupted());
}
