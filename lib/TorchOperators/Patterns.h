// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The patterns of BSR matrices in memory of the host, with which an operation was called.

#ifndef BLOCKSPARSE_LIB_TORCHOPERATORS_PATTERNS_H
#define BLOCKSPARSE_LIB_TORCHOPERATORS_PATTERNS_H

#include "PythonObjects.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace blocksparse::torch_operators {

/// Holds the bytes of the indices of a matrix, and how many one index has.
struct IndexBytes {
  std::string_view crow, col;
  size_t width = 0;
};

class Patterns {
public:
  /// Says what is to be done with a pattern: called with a server of its own, called with the one
  /// for any pattern, or shown to the caller, who may compile a function.
  enum class Choice { Own, Any, Show };

  /// Chooses for the matrix of a call. A pattern that is not known is shown when it has been seen
  /// before. `server` is set for Choice::Own.
  Choice choose(const IndexBytes &indices, Reference &server);
  /// Remembers that a pattern was seen.
  void see(const IndexBytes &indices);
  /// Gives a pattern a server; without one, it stays with that for any pattern.
  void add(const IndexBytes &indices, Reference server);

private:
  struct Known {
    std::string crow, col;
    size_t width;
    Reference server;
  };
  Known *find(const IndexBytes &indices);

  /// The patterns that come again, the latest at the end.
  std::vector<Known> known;
  /// Hashes of patterns that were seen, in a ring.
  std::array<uint64_t, 64> seen = {};
  size_t next = 0;
};

} // namespace blocksparse::torch_operators

#endif // BLOCKSPARSE_LIB_TORCHOPERATORS_PATTERNS_H
