// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Allocation of host tensors with a test for physical memory.

#ifndef BLOCKSPARSE_LIB_EXECUTION_HOSTMEMORY_H
#define BLOCKSPARSE_LIB_EXECUTION_HOSTMEMORY_H

#include "blocksparse/Support/HostTensor.h"
#include "mlir/Support/LLVM.h"

#include <optional>
#include <string>

namespace mlir::blocksparse {

/// Returns the size of the physical memory of this machine in bytes.
double getPhysicalMemory();

/// Allocates a tensor like HostTensor::allocate. Also fails, and sets `error`, if the tensor
/// exceeds the physical memory of this machine: the operating system would overcommit it and kill
/// the process when it is written.
std::optional<::blocksparse::HostTensor>
allocateTensor(::blocksparse::ElementType type, ArrayRef<int64_t> shape, std::string &error);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_EXECUTION_HOSTMEMORY_H
