// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A check that is made before a recursive parser reads a text.

#ifndef BLOCKSPARSE_SUPPORT_NESTING_H
#define BLOCKSPARSE_SUPPORT_NESTING_H

#include <cstddef>
#include <optional>
#include <string_view>

namespace blocksparse {

/// Is the number of brackets that a text may have open at one place. Parsers of MLIR and of
/// llvm::json call themselves for each, with up to 8 KB of stack; a thread has 8 MB.
inline constexpr size_t maxNesting = 256;

/// Returns the position of the bracket that is the first to be more than maxNesting deep; empty if
/// there is none. The text is MLIR or JSON: the brackets are ( [ { and <, and none counts in a
/// string, in a comment from "//" to the end of its line, or as a part of "->", "<=" and ">=".
std::optional<size_t> findDeepNesting(std::string_view text);

} // namespace blocksparse

#endif // BLOCKSPARSE_SUPPORT_NESTING_H
