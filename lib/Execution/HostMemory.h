// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_EXECUTION_HOSTMEMORY_H
#define BLOCKSPARSE_LIB_EXECUTION_HOSTMEMORY_H

#include "blocksparse/Support/HostTensor.h"
#include "mlir/Support/LLVM.h"

#include <optional>
#include <string>

namespace mlir::blocksparse {

/// Bytes of memory that this machine has.
double getPhysicalMemory();

/// HostTensor::allocate that also fails on more than this machine's memory, which the system
/// would promise and, when it is written, not give.
std::optional<::blocksparse::HostTensor>
allocateTensor(::blocksparse::ElementType type, ArrayRef<int64_t> shape, std::string &error);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_EXECUTION_HOSTMEMORY_H
