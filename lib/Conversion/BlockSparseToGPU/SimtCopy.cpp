// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../OperandView.h"
#include "KernelBuilder.h"
#include "Loops.h"
#include "blocksparse/Conversion/BlockSparseToGPU.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

void mlir::blocksparse::convertCopiesToGPU(ArrayRef<memref::CopyOp> copies, ModuleOp module,
                                           StringRef chip) {
  KernelBuilder kernels(module, chip);
  for (memref::CopyOp copy : copies) {
    ImplicitLocOpBuilder host(copy.getLoc(), copy);
    Value source = copy.getSource(), target = copy.getTarget();
    SmallVector<Value> sizes;
    for (int64_t axis = 0, rank = cast<MemRefType>(source.getType()).getRank(); axis < rank; ++axis)
      sizes.push_back(memrefDim(host, source, axis));
    kernels.launchForEach(host, "copy", {source, target}, productOf(host, sizes),
                          [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
                            Value from = mapping.lookup(source);
                            SmallVector<Value> own;
                            for (int64_t axis = 0, rank = sizes.size(); axis < rank; ++axis)
                              own.push_back(memrefDim(b, from, axis));
                            SmallVector<Value> index = splitIndex(b, item, own);
                            Value element = memref::LoadOp::create(b, from, index);
                            memref::StoreOp::create(b, element, mapping.lookup(target), index);
                          });
    copy.erase();
  }
}
