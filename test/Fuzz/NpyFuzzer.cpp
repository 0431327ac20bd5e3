// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Files of NumPy.

#include "Check.h"
#include "blocksparse/Support/Npy.h"

#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

using namespace blocksparse;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // The file stays in memory, and its path leads to the open descriptor.
  static const int file = ::memfd_create("fuzzed.npy", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
    return -1;
  std::string error;
  std::optional<HostTensor> tensor = readNpy(path, error);
  checkError(tensor.has_value(), error);
  if (!tensor)
    return 0;
  // A volatile read or write is not optimized away, so that each element is read.
  volatile double element = 0;
  forEachIndex(tensor->shape(),
               [&](std::span<const int64_t> index) { element = tensor->at(index); });
  return 0;
}
