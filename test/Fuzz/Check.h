// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A check of what a reader promises. A fuzz target that finds a promise broken ends like a crash.

#ifndef BLOCKSPARSE_TEST_FUZZ_CHECK_H
#define BLOCKSPARSE_TEST_FUZZ_CHECK_H

#include <cstdio>
#include <cstdlib>
#include <string>

/// Ends the program unless `holds`.
inline void check(bool holds, const char *promise) {
  if (holds)
    return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

/// Checks that a reader gives either a result or an error in the form of this project.
inline void checkError(bool succeeded, const std::string &error) {
  check(succeeded == error.empty(), "a reader gives either a result or an error");
  check(succeeded || error.find("expects ") != std::string::npos, "an error says what it expects");
}

#endif // BLOCKSPARSE_TEST_FUZZ_CHECK_H
