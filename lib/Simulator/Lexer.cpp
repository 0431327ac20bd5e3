// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lexer.h"

using namespace blocksparse::sim;

static bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool startsWord(char c) {
  return isLetter(c) || c == '_' || c == '$' || c == '%' || c == '.';
}
static bool continuesWord(char c) {
  return isLetter(c) || isDigit(c) || c == '_' || c == '$' || c == '.';
}

void Lexer::skipBlanks() {
  while (position < text.size()) {
    char c = text[position];
    if (c == '\n') {
      ++line;
      ++position;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++position;
    } else if (text.substr(position, 2) == "//") {
      position = text.find('\n', position);
      if (position == std::string_view::npos)
        position = text.size();
    } else if (text.substr(position, 2) == "/*") {
      size_t end = text.find("*/", position + 2);
      end = end == std::string_view::npos ? text.size() : end + 2;
      for (; position < end; ++position)
        line += text[position] == '\n';
    } else {
      return;
    }
  }
}

Token Lexer::take(Token::Kind kind, size_t length) {
  Token token{kind, text.substr(position, length), line};
  position += length;
  return token;
}

Token Lexer::next() {
  skipBlanks();
  if (position >= text.size())
    return {Token::Kind::End, {}, line};
  std::string_view rest = text.substr(position);
  char c = rest.front();
  if (c == '"') {
    size_t end = rest.find('"', 1);
    return take(Token::Kind::String, end == std::string_view::npos ? rest.size() : end + 1);
  }
  size_t length = 1;
  if (startsWord(c)) {
    // "::" belongs to a modifier ("shared::cluster"); a single ':' ends a label.
    while (length < rest.size()) {
      if (continuesWord(rest[length]))
        ++length;
      else if (rest.substr(length, 2) == "::")
        length += 2;
      else
        break;
    }
    return take(Token::Kind::Word, length);
  }
  if (isDigit(c)) {
    while (length < rest.size() &&
           (isLetter(rest[length]) || isDigit(rest[length]) || rest[length] == '.'))
      ++length;
    return take(Token::Kind::Number, length);
  }
  return take(Token::Kind::Punctuation, 1);
}
