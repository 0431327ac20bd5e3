// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LAYOUT_PATTERNREFERENCE_H
#define BLOCKSPARSE_LAYOUT_PATTERNREFERENCE_H

#include <string>

namespace blocksparse {

/// Returns the reference of the named patterns as Markdown, made from patternTable(): for each
/// pattern what it stores, a picture with its default parameters, and a table of its parameters
/// with types, defaults and bounds.
std::string describePatterns();

} // namespace blocksparse

#endif // BLOCKSPARSE_LAYOUT_PATTERNREFERENCE_H
