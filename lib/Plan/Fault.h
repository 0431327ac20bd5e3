// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_PLAN_FAULT_H
#define BLOCKSPARSE_LIB_PLAN_FAULT_H

#include <cstdint>
#include <optional>
#include <string>

namespace blocksparse {

/// Returns a number as an error message states it.
inline std::string text(int64_t value) { return std::to_string(value); }

/// Stores an error message and returns nothing: `return fail(error, "expects ...");`.
inline std::nullopt_t fail(std::string &error, std::string message) {
  error = std::move(message);
  return std::nullopt;
}

} // namespace blocksparse

#endif // BLOCKSPARSE_LIB_PLAN_FAULT_H
