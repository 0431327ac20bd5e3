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

/// Returns the same without pictures as plain text for `--help`: a line for each pattern and one
/// for each of its parameters.
std::string summarizePatterns();

} // namespace blocksparse

#endif // BLOCKSPARSE_LAYOUT_PATTERNREFERENCE_H
