// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Device/DeviceMath.h"
#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../../ElementwiseBody.h"
#include "../../OperandView.h"
#include "../KernelBuilder.h"
#include "blocksparse/Conversion/BlockSparseToGPU.h"
#include "blocksparse/Conversion/ElementwiseToGPU.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

/// Launches a kernel with one thread for each element of the buffer `shape`; `body` gets the
/// indices of the element.
static void launchForElements(
    KernelBuilder &kernels, ImplicitLocOpBuilder &host, StringRef name, Value shape,
    ValueRange operands,
    function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, ArrayRef<Value> index)> body) {
  auto sizesOf = [](ImplicitLocOpBuilder &b, Value buffer) {
    SmallVector<Value> sizes;
    for (int64_t axis = 0, rank = cast<MemRefType>(buffer.getType()).getRank(); axis < rank; ++axis)
      sizes.push_back(memrefDim(b, buffer, axis));
    return sizes;
  };
  kernels.launchForEach(host, name, operands, productOf(host, sizesOf(host, shape)),
                        [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
                          body(b, mapping, splitIndex(b, item, sizesOf(b, mapping.lookup(shape))));
                        });
}

void mlir::blocksparse::convertCopiesToGPU(ArrayRef<memref::CopyOp> copies, ModuleOp module,
                                           const ::blocksparse::TargetInfo &target) {
  KernelBuilder kernels(module, target);
  for (memref::CopyOp copy : copies) {
    ImplicitLocOpBuilder host(copy.getLoc(), copy);
    Value source = copy.getSource(), target = copy.getTarget();
    launchForElements(
        kernels, host, "copy", source, {source, target},
        [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, ArrayRef<Value> index) {
          Value element = memref::LoadOp::create(b, mapping.lookup(source), index);
          memref::StoreOp::create(b, element, mapping.lookup(target), index);
        });
    copy.erase();
  }
}

LogicalResult mlir::blocksparse::convertFillsToGPU(ArrayRef<linalg::MapOp> fills, ModuleOp module,
                                                   const ::blocksparse::TargetInfo &target) {
  KernelBuilder kernels(module, target);
  for (linalg::MapOp fill : fills) {
    Value value = fill.getBody()->getTerminator()->getOperand(0);
    if (!fill.getInputs().empty() || value.getParentRegion() == &fill.getMapper())
      return fill.emitOpError("expects a fill with one value, but got a computation on elements");
    ImplicitLocOpBuilder host(fill.getLoc(), fill);
    Value target = fill.getInit();
    launchForElements(
        kernels, host, "fill", target, {target, value},
        [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, ArrayRef<Value> index) {
          memref::StoreOp::create(b, mapping.lookup(value), mapping.lookup(target), index);
        });
    fill.erase();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Elementwise loops
//===----------------------------------------------------------------------===//

/// Returns true if a device without a mathematics library has the operation.
static bool hasDeviceForm(Operation *op) {
  if (isa<arith::ArithDialect>(op->getDialect()))
    return !isa<arith::RemFOp>(op);
  return isa<math::AbsFOp, math::ErfOp, math::ErfcOp, math::ExpOp, math::FmaOp, math::LogOp,
             math::TanhOp>(op);
}

/// Emits the operations that MLIR would lower to calls of a library; returns null for all others.
static Value emitDeviceForm(ImplicitLocOpBuilder &b, Operation *op, ValueRange operands) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::AbsFOp) { return deviceAbs(b, operands[0]); })
      .Case([&](math::ErfOp) { return deviceErf(b, operands[0]); })
      .Case([&](math::ErfcOp) { return deviceErfc(b, operands[0]); })
      .Case([&](math::ExpOp) { return deviceExp(b, operands[0]); })
      .Case([&](math::FmaOp) { return fusedMultiplyAdd(b, operands[0], operands[1], operands[2]); })
      .Case([&](math::LogOp) { return deviceLog(b, operands[0]); })
      .Case([&](math::TanhOp) { return deviceTanh(b, operands[0]); })
      .Default([](Operation *) { return Value(); });
}

LogicalResult mlir::blocksparse::convertElementwiseToGPU(ArrayRef<linalg::GenericOp> loops,
                                                         ModuleOp module,
                                                         const ::blocksparse::TargetInfo &gpu) {
  KernelBuilder kernels(module, gpu);
  const ElementwiseTarget target{convertElement, emitDeviceForm};
  for (linalg::GenericOp op : loops) {
    if (std::string fault = findElementwiseFault(op, hasDeviceForm); !fault.empty())
      return op.emitOpError("expects host code that does not touch device memory, or an "
                            "elementwise computation that a kernel can do, but got ")
             << op->getName() << ", which is none: " << fault;
    ImplicitLocOpBuilder host(op.getLoc(), op);
    SmallVector<Value> operands = op->getOperands();
    llvm::append_range(operands, getOutsideValues(op));
    launchForElements(
        kernels, host, "elementwise", op.getDpsInits().front(), operands,
        [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, ArrayRef<Value> index) {
          SmallVector<Value> elements;
          for (OpOperand &operand : op->getOpOperands()) {
            SmallVector<Value> at;
            for (AffineExpr dim : op.getMatchingIndexingMap(&operand).getResults())
              at.push_back(index[cast<AffineDimExpr>(dim).getPosition()]);
            bool isRead = !op.isDpsInit(&operand) || op.payloadUsesValueFromOperand(&operand);
            elements.push_back(isRead ? memref::LoadOp::create(b, mapping.lookup(operand.get()), at)
                                      : Value());
          }
          SmallVector<Value> results =
              emitElementwiseBody(b, op, elements, /*width=*/0, mapping, target);
          for (auto [result, init] : llvm::zip_equal(results, op.getDpsInits()))
            memref::StoreOp::create(b, result, mapping.lookup(init), index);
        });
    op.erase();
  }
  return success();
}
