// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Device/Loops.h"
#include "../../OperandView.h"
#include "SimtElements.h"
#include "blocksparse/Conversion/BlockSparseToGPU.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

void mlir::blocksparse::device::launchForElements(
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

void mlir::blocksparse::convertFillsToGPU(ArrayRef<linalg::MapOp> fills, ModuleOp module,
                                          const ::blocksparse::TargetInfo &target) {
  KernelBuilder kernels(module, target);
  for (linalg::MapOp fill : fills) {
    Value value = fill.getBody()->getTerminator()->getOperand(0);
    ImplicitLocOpBuilder host(fill.getLoc(), fill);
    Value target = fill.getInit();
    launchForElements(
        kernels, host, "fill", target, {target, value},
        [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, ArrayRef<Value> index) {
          memref::StoreOp::create(b, mapping.lookup(value), mapping.lookup(target), index);
        });
    fill.erase();
  }
}
