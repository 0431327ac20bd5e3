// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A factor written transposed before the kernel that reads it, so that the copy engine finds the
// values of k of a row or column in a line of memory.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_TRANSPOSEDENSE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_TRANSPOSEDENSE_H

#include "../KernelBuilder.h"

namespace mlir::blocksparse::device {

/// Emits a kernel that writes the matrices of `source` [.., R, C] transposed to `target` [.., C,
/// R]. Both have elements of 16 bits, the same batches and heads, and are aligned (see
/// isAligned16); R and C are multiples of 8, so that every 16 bytes are wholly inside or outside.
void emitTransposeDense(ImplicitLocOpBuilder &host, KernelBuilder &kernels, Value source,
                        Value target);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_TRANSPOSEDENSE_H
