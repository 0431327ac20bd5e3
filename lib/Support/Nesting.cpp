// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Support/Nesting.h"

#include <algorithm>

using namespace blocksparse;

/// Returns the position of the last character of the string that begins at `begin`: its quotation
/// mark, or what ends a line or the text before that.
static size_t skipString(std::string_view text, size_t begin) {
  size_t end = begin + 1;
  while (end < text.size() && text[end] != '"' && text[end] != '\n')
    end += text[end] == '\\' ? 2 : 1;
  return end;
}

std::optional<size_t> blocksparse::findDeepNesting(std::string_view text) {
  auto at = [&](size_t position) { return position < text.size() ? text[position] : '\0'; };
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
    case '"':
      i = skipString(text, i);
      break;
    case '/':
      if (at(i + 1) == '/')
        i = std::min(text.find('\n', i), text.size());
      break;
    case '-':
      i += at(i + 1) == '>';
      break;
    case '<':
    case '>':
      if (at(i + 1) == '=') {
        ++i;
        break;
      }
      if (text[i] == '>') {
        depth -= depth > 0;
        break;
      }
      [[fallthrough]];
    case '(':
    case '[':
    case '{':
      if (++depth > maxNesting)
        return i;
      break;
    case ')':
    case ']':
    case '}':
      depth -= depth > 0;
      break;
    default:
      break;
    }
  }
  return std::nullopt;
}
