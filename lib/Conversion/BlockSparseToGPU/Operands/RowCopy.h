// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_ROWCOPY_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_ROWCOPY_H

#include "../KernelBuilder.h"

namespace mlir::blocksparse::device {

/// Emits the kernel `align_rows`, which copies the elements of `source` to `target`, of the same
/// sizes and element type, where rows may begin at any address. Only elements are read and written,
/// not what lies between the rows.
void emitCopyRows(ImplicitLocOpBuilder &host, KernelBuilder &kernels, Value source, Value target);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_ROWCOPY_H
