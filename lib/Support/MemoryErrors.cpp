// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Support/MemoryErrors.h"

#include <new>
#include <stdexcept>

using namespace blocksparse;

bool blocksparse::catchMemoryErrors(const std::function<void()> &work, std::string &error) {
  try {
    work();
    return true;
  } catch (const std::length_error &reason) {
    error = reason.what();
  } catch (const std::bad_alloc &) {
    error = "expects more free memory than there is, but got none";
  }
  return false;
}
