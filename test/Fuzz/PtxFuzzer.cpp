// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// PTX, as the simulated GPU parses and decodes it.

#include "../../lib/Simulator/Module.h"
#include "../../lib/Simulator/Op.h"
#include "Check.h"

#include <cstdint>

using namespace blocksparse::sim;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string error;
  std::unique_ptr<Module> module =
      parseModule(std::string(reinterpret_cast<const char *>(data), size), error);
  checkError(module != nullptr, error);
  if (!module)
    return 0;
  std::vector<uint64_t> globals(module->variables.size(), 4096);
  for (const Function &function : module->functions) {
    bool decoded = decodeKernel(function, globals, error) != nullptr;
    checkError(decoded, error);
    if (!decoded)
      return 0;
  }
  return 0;
}
