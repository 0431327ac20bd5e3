// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Patterns of the pass convert-blocksparse-to-cpu, which lower planned ops to parallel loops.

#ifndef BLOCKSPARSE_CONVERSION_BLOCKSPARSETOCPU_H
#define BLOCKSPARSE_CONVERSION_BLOCKSPARSETOCPU_H

#include "mlir/IR/PatternMatch.h"

#include <string>

namespace mlir::blocksparse {

/// Holds the properties of the target that CPU kernels use if an op has no schedule.
struct CPULoweringOptions {
  /// Width of a vector in bits; a multiple of 128.
  int64_t vectorBits = 512;
};

/// Adds patterns for all planned operations and for the look-up tables of run-time patterns. Each
/// pattern replaces an operation on memrefs by `scf.forall` loops over code of the memref, vector,
/// arith, math and scf dialects. An operation that findCPULoweringFault refuses does not match, and
/// the match fails with that reason.
void populateBlockSparseToCPUPatterns(RewritePatternSet &patterns,
                                      const CPULoweringOptions &options);

/// Returns why the patterns don't lower `op`, as "expects X, but got Y": it is not planned, not on
/// memrefs of strided layout, or its value blocks have no static shape. Empty if they lower it.
std::string findCPULoweringFault(Operation *op);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_CONVERSION_BLOCKSPARSETOCPU_H
