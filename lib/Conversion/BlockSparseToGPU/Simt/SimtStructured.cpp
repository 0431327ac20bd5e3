// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lowers elementwise loops and reductions of linalg to kernels with a thread for each element of
// the result.

#include "../../Device/DeviceForms.h"
#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../../ElementwiseBody.h"
#include "../../OperandView.h"
#include "SimtElements.h"
#include "blocksparse/Conversion/StructuredToGPU.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

namespace {

/// Emits what one thread computes: an element of each result, by a nest of loops over the terms of
/// a reduction.
class ElementEmitter {
public:
  ElementEmitter(linalg::GenericOp op, const IRMapping &mapping)
      : op(op), mapping(mapping), point(op.getNumLoops()), iterators(op.getIteratorTypesArray()) {}

  void emit(ImplicitLocOpBuilder &b, ArrayRef<Value> index) {
    size_t next = 0;
    for (auto [at, iterator] : llvm::zip_equal(point, iterators))
      if (iterator == utils::IteratorType::parallel)
        at = index[next++];
    const bool isSum = op.getNumReductionLoops() != 0;
    SmallVector<Value> results;
    for (OpOperand &init : op.getDpsInitsMutable())
      results.push_back(isSum || op.payloadUsesValueFromOperand(&init) ? load(b, init) : Value());
    results = emitFrom(b, 0, results);
    for (auto [result, init] : llvm::zip_equal(results, op.getDpsInits()))
      memref::StoreOp::create(b, result, mapping.lookup(init), index);
  }

private:
  Value load(ImplicitLocOpBuilder &b, OpOperand &operand) {
    SmallVector<Value> at;
    for (AffineExpr index : op.getMatchingIndexingMap(&operand).getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(index);
      at.push_back(dim ? point[dim.getPosition()]
                       : affine::expandAffineExpr(b, b.getLoc(), index, point, {}));
    }
    return memref::LoadOp::create(b, mapping.lookup(operand.get()), at);
  }

  /// Returns the extent of a loop: that of a dimension which it indexes.
  Value getExtent(ImplicitLocOpBuilder &b, unsigned loop) {
    for (OpOperand &operand : op->getOpOperands())
      for (auto [axis, dim] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
        if (auto index = dyn_cast<AffineDimExpr>(dim); index && index.getPosition() == loop)
          return memrefDim(b, mapping.lookup(operand.get()), axis);
    llvm_unreachable("linalg verifies that the shapes of operands tell every extent");
  }

  /// Emits the loops from `loop` on and the body inside; returns what it makes of `results`.
  SmallVector<Value> emitFrom(ImplicitLocOpBuilder &b, unsigned loop, ValueRange results) {
    if (loop == iterators.size())
      return emitBody(b, results);
    if (iterators[loop] == utils::IteratorType::parallel)
      return emitFrom(b, loop + 1, results);
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
    return emitCarry(b, zero, getExtent(b, loop), one, results,
                     [&](ImplicitLocOpBuilder &inner, Value at, ValueRange carried) {
                       point[loop] = at;
                       return emitFrom(inner, loop + 1, carried);
                     });
  }

  SmallVector<Value> emitBody(ImplicitLocOpBuilder &b, ValueRange results) {
    const ElementwiseTarget target{
        convertElement,
        [&](ImplicitLocOpBuilder &body, Operation *inner, ValueRange operands) -> Value {
          if (auto index = dyn_cast<linalg::IndexOp>(inner))
            return point[index.getDim()];
          if (isa<memref::LoadOp>(inner))
            return memref::LoadOp::create(body, operands.front(), operands.drop_front());
          return emitDeviceForm(body, inner, operands);
        }};
    SmallVector<Value> elements;
    for (OpOperand *input : op.getDpsInputOperands())
      elements.push_back(load(b, *input));
    llvm::append_range(elements, results);
    return emitElementwiseBody(b, op, elements, /*width=*/0, mapping, target);
  }

  linalg::GenericOp op;
  const IRMapping &mapping;
  /// The index of each loop, as far as it is known.
  SmallVector<Value> point;
  SmallVector<utils::IteratorType> iterators;
};

} // namespace

LogicalResult mlir::blocksparse::convertStructuredToGPU(ArrayRef<linalg::GenericOp> loops,
                                                        ModuleOp module,
                                                        const ::blocksparse::TargetInfo &gpu) {
  KernelBuilder kernels(module, gpu);
  for (linalg::GenericOp op : loops) {
    if (std::string fault = findStructuredFault(op, hasDeviceForm, /*readsAnywhere=*/true);
        !fault.empty())
      return op.emitOpError("expects host code that does not touch device memory, or a "
                            "computation of elements that a kernel can do, but got ")
             << op->getName() << ", which is none: " << fault;
    ImplicitLocOpBuilder host(op.getLoc(), op);
    SmallVector<Value> operands = op->getOperands();
    llvm::append_range(operands, getOutsideValues(op));
    StringRef name = op.getNumReductionLoops() == 0 ? "elementwise" : "reduction";
    launchForElements(kernels, host, name, op.getDpsInits().front(), operands,
                      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping,
                          ArrayRef<Value> index) { ElementEmitter(op, mapping).emit(b, index); });
    op.erase();
  }
  return success();
}
