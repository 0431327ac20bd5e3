// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Declares the patterns that lower planned products to the CPU.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_MATMULPATTERNS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_MATMULPATTERNS_H

#include "blocksparse/Conversion/BlockSparseToCPU.h"

namespace mlir::blocksparse {

/// Adds the pattern that lowers planned_dsd.
void populateDSDToCPUPatterns(RewritePatternSet &patterns, const CPULoweringOptions &options);
/// Adds the pattern that lowers planned_sdd.
void populateSDDToCPUPatterns(RewritePatternSet &patterns, const CPULoweringOptions &options);
/// Adds the pattern that lowers planned_matmul.
void populateDenseMatmulToCPUPatterns(RewritePatternSet &patterns,
                                      const CPULoweringOptions &options);
/// Adds the pattern that lowers planned_scatter_mm.
void populateScatterMMToCPUPatterns(RewritePatternSet &patterns, const CPULoweringOptions &options);

/// Fails with an error at `op` unless all its operands are memrefs with a known strided layout.
LogicalResult checkBuffers(Operation *op);
/// Fails with an error at `op` unless the last two axes of `values` are static.
LogicalResult checkStaticBlocks(Operation *op, Value values);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_MATMULPATTERNS_H
