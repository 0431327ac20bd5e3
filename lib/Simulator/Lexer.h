// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_SIMULATOR_LEXER_H
#define BLOCKSPARSE_LIB_SIMULATOR_LEXER_H

#include <cstdint>
#include <string_view>

namespace blocksparse::sim {

/// Holds one token of PTX text. A word is an identifier, a directive (".reg") or an opcode with all
/// its modifiers ("cp.async.bulk.commit_group"); punctuation is one character.
struct Token {
  enum class Kind : uint8_t { Word, Number, String, Punctuation, End };
  Kind kind = Kind::End;
  std::string_view text;
  uint32_t line = 0;

  bool is(char punctuation) const {
    return kind == Kind::Punctuation && text.front() == punctuation;
  }
  bool isWord(std::string_view word) const { return kind == Kind::Word && text == word; }
};

/// Splits PTX text into tokens and skips comments and white space. The text must outlive the
/// tokens.
class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}

  /// Returns the next token; kind End at the end of the text and ever after.
  Token next();

private:
  void skipBlanks();
  Token take(Token::Kind kind, size_t length);

  std::string_view text;
  size_t position = 0;
  uint32_t line = 1;
};

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_LEXER_H
