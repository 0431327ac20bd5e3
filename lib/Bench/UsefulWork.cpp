// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Bench/UsefulWork.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/IR/SparseTensor.h"
#include "blocksparse/Layout/BlockLayout.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::HostTensor;

namespace {

/// Holds the sizes of the values of one function.
class Sizes {
public:
  Sizes(func::FuncOp function, const FunctionSignature &signature, ArrayRef<HostTensor> arguments) {
    for (auto [parameter, tensor] : llvm::zip_equal(signature.arguments, arguments)) {
      if (!parameter.isTensor())
        continue;
      Value argument = function.getArgument(parameter.source);
      if (parameter.role == Parameter::Role::Dense)
        shapes[argument].assign(tensor.shape().begin(), tensor.shape().end());
      else if (parameter.role == Parameter::Role::CrowIndices)
        stored[argument] = countStored(tensor, SparseTensor::get(parameter.type)->getHeads());
    }
  }

  /// Returns the extent of a dense value, or of the tensor that a sparse value represents; -1 if
  /// unknown.
  double getExtent(Value value, int64_t fromEnd) const {
    auto type = cast<RankedTensorType>(value.getType());
    auto found = shapes.find(value);
    ArrayRef<int64_t> shape = found != shapes.end() ? found->second : type.getShape();
    if (fromEnd > int64_t(shape.size()))
      return 1;
    int64_t extent = shape[shape.size() - fromEnd];
    return ShapedType::isDynamic(extent) ? -1 : extent;
  }

  /// Returns the number of elements of the stored blocks over all batches and heads; -1 if unknown.
  double getStoredElements(Value value) const {
    std::optional<SparseTensor> sparse = SparseTensor::get(value.getType());
    ::blocksparse::BlockShape block = sparse->getBlock();
    double size = double(block.rows) * block.cols;
    if (auto found = stored.find(value); found != stored.end())
      return found->second * size;
    double batches = getExtent(value, 4);
    if (!sparse->isStatic() || batches < 0 || sparse->getStoredBlocks() < 0)
      return -1;
    return batches * sparse->getStoredBlocks() * size;
  }

private:
  /// Returns the number of stored blocks over all batches and heads.
  static double countStored(const HostTensor &crow, int64_t heads) {
    int64_t last = crow.dim(crow.rank() - 1) - 1;
    double count = 0;
    if (crow.rank() == 1)
      count = crow.intAt({last});
    else
      for (int64_t batch = 0; batch < crow.dim(0); ++batch)
        count += crow.intAt({batch, last});
    return count * heads;
  }

  llvm::DenseMap<Value, SmallVector<int64_t>> shapes;
  llvm::DenseMap<Value, double> stored;
};

} // namespace

/// Counts the operations of stored elements and the free dimension of a dense factor.
static double countSparseDense(const Sizes &sizes, Value sparse, Value dense, int64_t freeFromEnd) {
  double stored = sizes.getStoredElements(sparse), free = sizes.getExtent(dense, freeFromEnd);
  if (stored < 0 || free < 0)
    return -1;
  // A sparse factor that all batches share is used once for each.
  double own = std::max(1.0, sizes.getExtent(sparse, 4));
  double batches = std::max(own, sizes.getExtent(dense, 4));
  return 2 * stored * free * batches / own;
}

static double countSampled(const Sizes &sizes, Value pattern, Value a, bool transposeA) {
  double stored = sizes.getStoredElements(pattern), inner = sizes.getExtent(a, transposeA ? 2 : 1);
  return stored < 0 || inner < 0 ? -1 : 2 * stored * inner;
}

static double countMatmul(const Sizes &sizes, MatmulOp op) {
  double count = 2;
  Value result = op.getResult();
  for (int64_t axis = 1; axis <= 4; ++axis)
    count *= std::max(0.0, sizes.getExtent(result, axis));
  bool linear = op.getForm() == MatmulForm::Linear;
  return count * sizes.getExtent(op.getA(), linear && op.getTransposeA() ? 2 : 1);
}

/// Counts the operations of the layout's stored elements for every batch and head of `lse`:
/// `products` reductions along the depth of q and `valueProducts` along that of v.
template <typename OpTy>
static double countAttention(const Sizes &sizes, OpTy op, double products, double valueProducts) {
  const ::blocksparse::BlockLayout *layout = op.getLayout().resolve();
  double batches = sizes.getExtent(op.getLse(), 3), heads = sizes.getExtent(op.getLse(), 2);
  double depth = sizes.getExtent(op.getQ(), 1), valueDepth = sizes.getExtent(op.getV(), 1);
  if (!layout || batches < 0 || heads < 0 || depth < 0 || valueDepth < 0)
    return -1;
  double perHead =
      double(layout->nnz()) / layout->grid().heads * layout->block().rows * layout->block().cols;
  return 2 * batches * heads * perHead * (products * depth + valueProducts * valueDepth);
}

/// Returns the number of operations of `op`, 0 for an op without a product, and -1 if unknown.
static double countOp(const Sizes &sizes, Operation *op) {
  return TypeSwitch<Operation *, double>(op)
      .Case<SDDOp>([&](SDDOp sdd) {
        Value pattern = sdd.getPattern() ? sdd.getPattern() : sdd.getResult();
        return countSampled(sizes, pattern, sdd.getA(), sdd.getTransposeA());
      })
      .Case<SampledAddmmOp>([&](SampledAddmmOp sampled) {
        return countSampled(sizes, sampled.getSparse(), sampled.getA(), sampled.getTransposeA());
      })
      .Case<DSDOp>([&](DSDOp dsd) {
        return countSparseDense(sizes, dsd.getA(), dsd.getB(), dsd.getTransposeB() ? 2 : 1);
      })
      .Case<DDSOp>([&](DDSOp dds) {
        return countSparseDense(sizes, dds.getB(), dds.getA(), dds.getTransposeA() ? 1 : 2);
      })
      .Case<BsrAddmmOp>([&](BsrAddmmOp addmm) {
        return countSparseDense(sizes, addmm.getSparse(), addmm.getDense(), 1);
      })
      .Case<MatmulOp>([&](MatmulOp matmul) { return countMatmul(sizes, matmul); })
      .Case<ScatterMMOp>([](ScatterMMOp) { return -1.0; })
      .Case<AttentionOp>(
          [&](AttentionOp attention) { return countAttention(sizes, attention, 1, 1); })
      .Case<AttentionGradOp>(
          [&](AttentionGradOp grad) { return countAttention(sizes, grad, 3, 2); })
      .Default([](Operation *) { return 0.0; });
}

std::optional<double> mlir::blocksparse::countUsefulOperations(func::FuncOp function,
                                                               const FunctionSignature &signature,
                                                               ArrayRef<HostTensor> arguments) {
  Sizes sizes(function, signature, arguments);
  double total = 0;
  WalkResult walked = function.walk([&](Operation *op) {
    double count = isa<func::CallOp>(op) ? -1 : countOp(sizes, op);
    if (count < 0)
      return WalkResult::interrupt();
    total += count;
    return WalkResult::advance();
  });
  return walked.wasInterrupted() ? std::nullopt : std::optional(total);
}
