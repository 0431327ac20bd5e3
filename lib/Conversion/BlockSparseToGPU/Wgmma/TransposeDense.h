// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Transposition of a dense factor before the kernel that reads it. `cuda.wgmma_transposed` uses it
// for MN-major factors: afterwards the values of k of a row (or column) are contiguous in memory,
// so that TMA loads any block row or block column in lines of 128 bytes.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_TRANSPOSEDENSE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_TRANSPOSEDENSE_H

#include "../KernelBuilder.h"

namespace mlir::blocksparse::device {

/// Emits a kernel that writes the matrices of `source` [.., R, C] transposed to `target` [.., C,
/// R]. Both have elements of 16 bits and the same batches and heads, and are aligned (see
/// isAligned16). Requires R and C to be multiples of 8, so that each 16-byte chunk is either inside
/// or outside of the matrix.
void emitTransposeDense(ImplicitLocOpBuilder &host, KernelBuilder &kernels, Value source,
                        Value target);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_TRANSPOSEDENSE_H
