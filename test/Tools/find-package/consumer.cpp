// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program of somebody else's that reads block-sparse types.

#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/IR/SparseTensor.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"

int main() {
  mlir::MLIRContext context;
  context.loadDialect<mlir::blocksparse::BlockSparseDialect>();
  mlir::Type type = mlir::parseType(
      "tensor<64x32xf32, #blocksparse.layout<16x16, grid 4x2, mask \"10/11/00/01\">>", &context);
  auto sparse = mlir::blocksparse::SparseTensor::get(type);
  if (!sparse)
    return 1;
  llvm::outs() << "stored blocks: " << sparse->getStoredBlocks() << "\n";
  return 0;
}
