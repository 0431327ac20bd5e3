// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_SIMULATOR_PARSER_H
#define BLOCKSPARSE_LIB_SIMULATOR_PARSER_H

#include "Lexer.h"
#include "Module.h"

#include <functional>
#include <map>
#include <optional>

namespace blocksparse::sim {

/// Holds the registers, variables and labels that one pair of braces of a function declares.
struct Scope {
  struct Registers {
    uint8_t bits;
    uint32_t offset;
    uint32_t count; // 0: a single register whose name has no number
    bool operator==(const Registers &) const = default;
  };
  std::map<std::string, Registers, std::less<>> registers;
  std::map<std::string, uint32_t, std::less<>> variables;
  std::map<std::string, uint32_t, std::less<>> labels;
  /// These uses name labels that were not yet defined.
  struct Use {
    uint32_t instruction, operand;
    std::string_view name;
    uint32_t line;
  };
  std::vector<Use> uses;
  uint32_t registerBytes = 0; // where the registers of the scope end
};

/// This is a recursive-descent parser. Every function returns false after it has set the error.
class Parser {
public:
  explicit Parser(Module &module) : module(module), lexer(module.text) { advance(); }

  bool parse();
  const std::string &getError() const { return error; }

private:
  void advance() { token = lexer.next(); }
  bool fail(const std::string &message, uint32_t line = 0);
  bool expected(const std::string &what);
  bool expect(char punctuation);
  bool accept(char punctuation);
  bool acceptWord(std::string_view word);

  bool parseModuleItem();
  bool parseVariable(Space space, bool isExtern, std::vector<Variable> &variables);
  bool parseFunction(bool isEntry);
  bool parseParameters(Function &function);
  bool parseTuning(Function &function);
  bool parseBody(Function &function);
  bool parseStatement(Function &function);
  bool parseRegisters();
  bool parseInstruction(Function &function);
  bool parseOperand(Operand &operand);
  bool parseAddress(Operand &operand);
  bool parseName(Operand &operand);
  bool parseNumber(Operand &operand, bool negative);
  bool parseInteger(uint64_t &value);
  bool parseDimensions(uint32_t (&dimensions)[3]);
  bool closeScope(Function &function);
  const Scope::Registers *findRegisters(std::string_view name, uint32_t &index) const;

  Module &module;
  Lexer lexer;
  Token token;
  std::string error;
  std::vector<Scope> scopes;
  Function *current = nullptr;
};

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_PARSER_H
