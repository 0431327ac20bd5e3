// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HostMemory.h"

#include <unistd.h>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::ElementType;
using ::blocksparse::HostTensor;

double mlir::blocksparse::getPhysicalMemory() {
  return double(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

std::optional<HostTensor>
mlir::blocksparse::allocateTensor(ElementType type, ArrayRef<int64_t> shape, std::string &error) {
  double bytes = ::blocksparse::elementSize(type);
  for (int64_t extent : shape)
    bytes *= extent;
  if (bytes > getPhysicalMemory()) {
    error = "expects a tensor that fits in " + std::to_string(int64_t(getPhysicalMemory()) >> 20) +
            " MiB of memory, but got " + std::string(::blocksparse::elementName(type)) +
            ::blocksparse::formatShape(shape);
    return std::nullopt;
  }
  return HostTensor::allocate(type, shape, error);
}
