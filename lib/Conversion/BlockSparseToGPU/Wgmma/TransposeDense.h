// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Transposition of a dense factor before the kernel that reads it. `cuda.wgmma_transposed` uses it
// for MN-major factors: afterwards the values of k of a row (or column) are contiguous in memory,
// so that TMA loads any block row or block column in lines of 128 bytes. `cuda.wgmma` uses it for
// factors of bytes, which wgmma multiplies K-major alone.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_TRANSPOSEDENSE_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_TRANSPOSEDENSE_H

#include "../KernelBuilder.h"

namespace mlir::blocksparse::device {

/// Emits a kernel that writes the matrices of `source` [.., R, C] transposed to new memory [.., C,
/// R], which is returned. Its elements have 8 or 16 bits; it is aligned (see isAligned16). Requires
/// the bytes of R and of C elements to be multiples of 16, so that each 16-byte chunk is either
/// inside or outside of the matrix.
Value emitTransposed(ImplicitLocOpBuilder &host, KernelBuilder &kernels, Value source);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_WGMMA_TRANSPOSEDENSE_H
