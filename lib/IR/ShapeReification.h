// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_IR_SHAPEREIFICATION_H
#define BLOCKSPARSE_LIB_IR_SHAPEREIFICATION_H

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace mlir::blocksparse::detail {

/// Makes passes of MLIR resolve open sizes of products with a dense result (dsd, dds, bsr_addmm and
/// the linear form of matmul) from those of their factors: ReifyRankedShapedTypeOpInterface. The
/// operations of the dialect must have been added to the context.
void attachShapeReification(MLIRContext &context);

} // namespace mlir::blocksparse::detail

#endif // BLOCKSPARSE_LIB_IR_SHAPEREIFICATION_H
