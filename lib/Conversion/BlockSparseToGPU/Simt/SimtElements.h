// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_SIMT_SIMTELEMENTS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_SIMT_SIMTELEMENTS_H

#include "../KernelBuilder.h"

namespace mlir::blocksparse::device {

/// Launches a kernel with one thread for each element of the buffer `shape`; `body` gets the
/// indices of the element.
void launchForElements(
    KernelBuilder &kernels, ImplicitLocOpBuilder &host, StringRef name, Value shape,
    ValueRange operands,
    function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, ArrayRef<Value> index)> body);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_SIMT_SIMTELEMENTS_H
