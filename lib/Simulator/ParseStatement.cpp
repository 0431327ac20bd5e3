// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements in the body of a kernel: scopes, registers, labels, instructions and operands.

#include "Parser.h"

#include "Types.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

using namespace blocksparse::sim;

static constexpr uint32_t lanes = 32;

bool Parser::parseBody(Function &function) {
  uint32_t line = token.line;
  if (!expect('{'))
    return false;
  Scope scope;
  scope.registerBytes = scopes.back().registerBytes;
  scopes.push_back(std::move(scope));
  while (!token.is('}')) {
    if (token.kind == Token::Kind::End)
      return fail("expects '}', but got the end of the text", line);
    if (!parseStatement(function))
      return false;
  }
  advance();
  return closeScope(function);
}

bool Parser::closeScope(Function &function) {
  Scope scope = std::move(scopes.back());
  scopes.pop_back();
  for (const Scope::Use &use : scope.uses) {
    auto label = scope.labels.find(use.name);
    if (label != scope.labels.end())
      function.instructions[use.instruction].operands[use.operand].value = label->second;
    else if (scopes.empty())
      return fail("expects a label, register or variable, but got '" + std::string(use.name) + "'",
                  use.line);
    else
      scopes.back().uses.push_back(use);
  }
  return true;
}

bool Parser::parseStatement(Function &function) {
  if (token.is('{'))
    return parseBody(function);
  if (accept(';'))
    return true;
  if (acceptWord(".reg"))
    return parseRegisters();
  if (token.isWord(".shared") || token.isWord(".local")) {
    Space space = token.isWord(".shared") ? Space::Shared : Space::Local;
    advance();
    if (!parseVariable(space, false, function.variables))
      return false;
    scopes.back().variables[function.variables.back().name] =
        static_cast<uint32_t>(function.variables.size() - 1);
    return true;
  }
  if (acceptWord(".pragma")) {
    while (!token.is(';') && token.kind != Token::Kind::End)
      advance();
    return expect(';');
  }
  return parseInstruction(function);
}

bool Parser::parseRegisters() {
  std::optional<Type> type = parseType(token.text.substr(std::min<size_t>(1, token.text.size())));
  if (!type)
    return expected("the type of a register");
  advance();
  Scope &scope = scopes.back();
  uint32_t step = type->bits == 1 ? 4 : lanes * type->bits / 8;
  do {
    if (token.kind != Token::Kind::Word)
      return expected("the name of a register");
    std::string name(token.text);
    advance();
    uint64_t count = 0;
    if (accept('<') && (!parseInteger(count) || !expect('>')))
      return false;
    // Vectors of lanes begin at multiples of 64 bytes, so that the host's vector loads are aligned.
    uint32_t offset = (scope.registerBytes + 63) / 64 * 64;
    scope.registers[name] = {type->bits, offset, static_cast<uint32_t>(count)};
    scope.registerBytes = offset + step * std::max<uint32_t>(1, static_cast<uint32_t>(count));
    current->registerFileBytes = std::max(current->registerFileBytes, scope.registerBytes);
  } while (accept(','));
  return expect(';');
}

const Scope::Registers *Parser::findRegisters(std::string_view name, uint32_t &index) const {
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
    --digits;
  std::string_view stem = name.substr(0, digits);
  uint64_t number = 0;
  for (char c : name.substr(digits))
    number = number * 10 + static_cast<uint64_t>(c - '0');
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    auto single = scope->registers.find(name);
    if (single != scope->registers.end() && single->second.count == 0) {
      index = 0;
      return &single->second;
    }
    auto range = digits < name.size() ? scope->registers.find(stem) : scope->registers.end();
    if (range != scope->registers.end() && number < range->second.count) {
      index = static_cast<uint32_t>(number);
      return &range->second;
    }
  }
  return nullptr;
}

bool Parser::parseInstruction(Function &function) {
  Instruction instruction;
  instruction.line = token.line;
  if (accept('@')) {
    instruction.guardNegated = accept('!');
    uint32_t index = 0;
    const Scope::Registers *guard = findRegisters(token.text, index);
    if (!guard || guard->bits != 1)
      return expected("a predicate register");
    instruction.guard = static_cast<int32_t>(guard->offset + 4 * index);
    advance();
  }
  if (token.kind != Token::Kind::Word)
    return expected("an instruction");
  Token opcode = token;
  const auto words = static_cast<size_t>(std::count(token.text.begin(), token.text.end(), '.')) + 1;
  if (words > mostInstructionWords)
    return fail("expects an instruction of at most " + std::to_string(mostInstructionWords) +
                " words, but got " + std::to_string(words));
  advance();
  if (instruction.guard < 0 && accept(':')) {
    scopes.back().labels[std::string(opcode.text)] =
        static_cast<uint32_t>(function.instructions.size());
    return true;
  }
  instruction.text = opcode.text;
  std::string_view rest = opcode.text;
  for (size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
    instruction.words.push_back(rest.substr(0, dot));
    rest.remove_prefix(dot + 1);
  }
  instruction.words.push_back(rest);
  while (!token.is(';')) {
    Operand operand;
    if (!parseOperand(operand))
      return false;
    if (operand.kind == Operand::Kind::Label)
      scopes.back().uses.back().operand = static_cast<uint32_t>(instruction.operands.size());
    instruction.operands.push_back(std::move(operand));
    if (!token.is(';') && !expect(','))
      return false;
  }
  advance();
  function.instructions.push_back(std::move(instruction));
  return true;
}

bool Parser::parseOperand(Operand &operand) {
  if (accept('[')) {
    operand.kind = Operand::Kind::Address;
    return parseAddress(operand);
  }
  if (accept('{')) {
    operand.kind = Operand::Kind::Vector;
    do {
      if (!parseOperand(operand.parts.emplace_back()))
        return false;
    } while (accept(','));
    return expect('}');
  }
  if (accept('!')) {
    operand.negated = true;
    return parseName(operand);
  }
  if (token.is('-') || token.kind == Token::Kind::Number) {
    bool negative = accept('-');
    return parseNumber(operand, negative);
  }
  if (token.kind != Token::Kind::Word)
    return expected("an operand");
  if (!parseName(operand))
    return false;
  if (!accept('|'))
    return true;
  Operand pair;
  pair.kind = Operand::Kind::Pair;
  pair.parts.push_back(std::move(operand));
  if (!parseName(pair.parts.emplace_back()))
    return false;
  operand = std::move(pair);
  return true;
}

bool Parser::parseAddress(Operand &operand) {
  if (!parseOperand(operand.parts.emplace_back()))
    return false;
  if (token.is('+') || token.is('-')) {
    bool negative = token.is('-');
    advance();
    negative ^= accept('-');
    Operand number;
    if (!parseNumber(number, negative))
      return false;
    operand.offset = static_cast<int64_t>(number.value);
  }
  // Coordinates of a tensor follow the address of its map.
  while (accept(','))
    if (!parseOperand(operand.parts.emplace_back()))
      return false;
  return expect(']');
}

bool Parser::parseName(Operand &operand) {
  static const std::map<std::string_view, Special> specials = {
      {"%tid.x", Special::TidX},
      {"%tid.y", Special::TidY},
      {"%tid.z", Special::TidZ},
      {"%ntid.x", Special::NtidX},
      {"%ntid.y", Special::NtidY},
      {"%ntid.z", Special::NtidZ},
      {"%ctaid.x", Special::CtaidX},
      {"%ctaid.y", Special::CtaidY},
      {"%ctaid.z", Special::CtaidZ},
      {"%nctaid.x", Special::NctaidX},
      {"%nctaid.y", Special::NctaidY},
      {"%nctaid.z", Special::NctaidZ},
      {"%laneid", Special::LaneId},
      {"%warpid", Special::WarpId},
      {"%nwarpid", Special::NwarpId},
      {"%clusterid.x", Special::ClusterIdX},
      {"%clusterid.y", Special::ClusterIdY},
      {"%clusterid.z", Special::ClusterIdZ},
      {"%nclusterid.x", Special::NclusterIdX},
      {"%nclusterid.y", Special::NclusterIdY},
      {"%nclusterid.z", Special::NclusterIdZ},
      {"%cluster_ctaid.x", Special::ClusterCtaidX},
      {"%cluster_ctaid.y", Special::ClusterCtaidY},
      {"%cluster_ctaid.z", Special::ClusterCtaidZ},
      {"%cluster_nctaid.x", Special::ClusterNctaidX},
      {"%cluster_nctaid.y", Special::ClusterNctaidY},
      {"%cluster_nctaid.z", Special::ClusterNctaidZ},
      {"%cluster_ctarank", Special::ClusterCtarank},
      {"%cluster_nctarank", Special::ClusterNctarank},
      {"%lanemask_eq", Special::LanemaskEq},
      {"%lanemask_le", Special::LanemaskLe},
      {"%lanemask_lt", Special::LanemaskLt},
      {"%lanemask_ge", Special::LanemaskGe},
      {"%lanemask_gt", Special::LanemaskGt},
      {"%dynamic_smem_size", Special::DynamicSmemSize},
      {"%clock", Special::Clock},
      {"%clock64", Special::Clock64},
      {"%globaltimer", Special::GlobalTimer},
      {"%smid", Special::SmId},
      {"%nsmid", Special::NsmId},
  };
  std::string_view name = token.text;
  uint32_t line = token.line;
  if (token.kind != Token::Kind::Word)
    return expected("a name");
  advance();
  if (name == "_") {
    operand.kind = Operand::Kind::Sink;
    return true;
  }
  uint32_t index = 0;
  if (const Scope::Registers *registers = findRegisters(name, index)) {
    operand.kind = Operand::Kind::Register;
    operand.bits = registers->bits;
    uint32_t step = registers->bits == 1 ? 4 : lanes * registers->bits / 8;
    operand.value = registers->offset + step * index;
    return true;
  }
  if (name.front() == '%') {
    auto special = specials.find(name);
    if (special == specials.end())
      return fail("expects a declared register, but got '" + std::string(name) + "'", line);
    operand.kind = Operand::Kind::Special;
    operand.value = static_cast<uint64_t>(special->second);
    return true;
  }
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    auto variable = scope->variables.find(name);
    if (variable == scope->variables.end())
      continue;
    operand.kind = Operand::Kind::Variable;
    operand.value = variable->second;
    return true;
  }
  operand.kind = Operand::Kind::Label;
  scopes.back().uses.push_back(
      {static_cast<uint32_t>(current->instructions.size()), 0, name, line});
  return true;
}

bool Parser::parseNumber(Operand &operand, bool negative) {
  if (token.kind != Token::Kind::Number)
    return expected("a number");
  std::string text(token.text);
  operand.kind = Operand::Kind::Immediate;
  operand.bits = 64;
  char *end = nullptr;
  bool isFloatBits = text.size() > 2 && text[0] == '0' &&
                     (text[1] == 'f' || text[1] == 'F' || text[1] == 'd' || text[1] == 'D');
  if (isFloatBits) {
    bool isSingle = text[1] == 'f' || text[1] == 'F';
    operand.bits = isSingle ? 32 : 64;
    operand.value = std::strtoull(text.c_str() + 2, &end, 16);
    if (negative)
      operand.value ^= isSingle ? 0x80000000ull : 0x8000000000000000ull;
  } else if (text.find('.') != std::string::npos) {
    operand.kind = Operand::Kind::Float;
    double value = std::strtod(text.c_str(), &end);
    operand.value = std::bit_cast<uint64_t>(negative ? -value : value);
  } else {
    bool isBinary = text.size() > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B');
    operand.value =
        isBinary ? std::strtoull(text.c_str() + 2, &end, 2) : std::strtoull(text.c_str(), &end, 0);
    if (negative)
      operand.value = 0 - operand.value;
    if (*end == 'U')
      ++end;
  }
  if (*end)
    return expected("a number");
  advance();
  return true;
}
