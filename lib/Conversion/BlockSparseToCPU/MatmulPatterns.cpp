// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MatmulPatterns.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::blocksparse;

LogicalResult mlir::blocksparse::checkBuffers(Operation *op) {
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (!type)
      return op->emitOpError("expects memref operands, as bufferization leaves them, but got ")
             << operand.getType();
    if (!type.isStrided())
      return op->emitOpError("expects operands of strided layout, but got ") << type;
  }
  return success();
}

LogicalResult mlir::blocksparse::checkStaticBlocks(Operation *op, Value values) {
  auto type = cast<MemRefType>(values.getType());
  if (type.getRank() >= 3 && llvm::none_of(type.getShape().take_back(2), ShapedType::isDynamic))
    return success();
  return op->emitOpError("expects values in blocks of static shape, but got ") << type;
}

void mlir::blocksparse::populateMatmulToCPUPatterns(RewritePatternSet &patterns,
                                                    const CPULoweringOptions &options) {
  populateDSDToCPUPatterns(patterns, options);
  populateSDDToCPUPatterns(patterns, options);
  populateDenseMatmulToCPUPatterns(patterns, options);
  populateScatterMMToCPUPatterns(patterns, options);
}
