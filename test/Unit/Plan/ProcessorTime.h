// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TEST_UNIT_PLAN_PROCESSORTIME_H
#define BLOCKSPARSE_TEST_UNIT_PLAN_PROCESSORTIME_H

#include "gtest/gtest.h"

#include <cstdio>
#include <ctime>

namespace blocksparse::test {

/// Tells whether the sanitizers watch this code, which then takes several times as long.
#if defined(__has_feature)
inline constexpr bool isSanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool isSanitized = false;
#endif

/// Runs `work`, prints the seconds of processor time that it takes, and expects fewer than 3 of
/// them, unless the sanitizers watch. Other programs on a loaded machine do not count. Returns the
/// result of `work`.
template <typename Work>
auto timed(const char *name, Work work) {
  const std::clock_t start = std::clock();
  auto result = work();
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("  %-28s %.3f s\n", name, seconds);
  if (!isSanitized)
    EXPECT_LT(seconds, 3.0) << name;
  return result;
}

} // namespace blocksparse::test

#endif // BLOCKSPARSE_TEST_UNIT_PLAN_PROCESSORTIME_H
