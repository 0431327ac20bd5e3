// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Module directives, variables and functions. Statements are parsed in ParseStatement.cpp.

#include "Parser.h"

#include "Types.h"

#include <algorithm>

using namespace blocksparse::sim;

bool Parser::fail(const std::string &message, uint32_t line) {
  if (error.empty())
    error = "line " + std::to_string(line ? line : token.line) + ": " + message;
  return false;
}

bool Parser::expected(const std::string &what) {
  return fail("expects " + what + ", but got " +
              (token.kind == Token::Kind::End ? std::string("the end of the text")
                                              : "'" + std::string(token.text) + "'"));
}

bool Parser::accept(char punctuation) {
  if (!token.is(punctuation))
    return false;
  advance();
  return true;
}

bool Parser::acceptWord(std::string_view word) {
  if (!token.isWord(word))
    return false;
  advance();
  return true;
}

bool Parser::expect(char punctuation) {
  return accept(punctuation) || expected(std::string("'") + punctuation + "'");
}

bool Parser::parse() {
  if (!acceptWord(".version"))
    return expected("'.version'");
  // The lexer takes "8.0" as one number.
  std::string version(token.text);
  size_t dot = version.find('.');
  if (token.kind != Token::Kind::Number || dot == std::string::npos)
    return expected("a version like 8.0");
  module.majorVersion = std::atoi(version.c_str());
  module.minorVersion = std::atoi(version.c_str() + dot + 1);
  advance();
  if (!acceptWord(".target"))
    return expected("'.target'");
  std::optional<CodeTarget> target = CodeTarget::parse(token.text);
  if (!target)
    return expected("a target like sm_90a");
  module.target = *target;
  advance();
  while (accept(','))
    advance();
  while (token.kind != Token::Kind::End)
    if (!parseModuleItem())
      return false;
  return true;
}

bool Parser::parseModuleItem() {
  if (acceptWord(".address_size")) {
    if (token.text != "64")
      return expected("an address size of 64");
    advance();
    return true;
  }
  bool isExtern = false;
  while (token.isWord(".visible") || token.isWord(".extern") || token.isWord(".weak")) {
    isExtern |= token.isWord(".extern");
    advance();
  }
  if (acceptWord(".entry"))
    return parseFunction(/*isEntry=*/true);
  if (token.isWord(".func"))
    return fail("expects no '.func': calls are not modelled");
  if (acceptWord(".global"))
    return parseVariable(Space::Global, isExtern, module.variables);
  if (acceptWord(".const"))
    return parseVariable(Space::Const, isExtern, module.variables);
  if (acceptWord(".shared"))
    return parseVariable(Space::Shared, isExtern, module.variables);
  return expected("a directive of a module");
}

bool Parser::parseInteger(uint64_t &value) {
  Operand number;
  if (token.kind != Token::Kind::Number || !parseNumber(number, false))
    return expected("an integer");
  value = number.value;
  return true;
}

bool Parser::parseVariable(Space space, bool isExtern, std::vector<Variable> &variables) {
  Variable variable;
  variable.space = space;
  variable.line = token.line;
  if (acceptWord(".align") && !parseInteger(variable.alignment))
    return false;
  std::optional<Type> type = parseType(token.text.substr(std::min<size_t>(1, token.text.size())));
  if (!type)
    return expected("a type");
  uint64_t elementBytes = type->bits / 8;
  variable.alignment = std::max(variable.alignment, elementBytes);
  advance();
  if (token.kind != Token::Kind::Word)
    return expected("the name of a variable");
  variable.name = token.text;
  advance();
  uint64_t count = 1;
  while (accept('[')) {
    if (token.is(']')) {
      variable.dynamic = true;
    } else {
      uint64_t size = 0;
      if (!parseInteger(size))
        return false;
      count *= size;
    }
    if (!expect(']'))
      return false;
  }
  variable.bytes = variable.dynamic ? 0 : count * elementBytes;
  if (variable.dynamic && !(isExtern && space == Space::Shared))
    return fail("expects a size for variable '" + variable.name + "'");
  if (token.is('='))
    return fail("expects no initial value of '" + variable.name + "': it is not modelled");
  variables.push_back(variable);
  return expect(';');
}

bool Parser::parseDimensions(uint32_t (&dimensions)[3]) {
  for (uint32_t &dimension : dimensions)
    dimension = 1;
  for (int i = 0; i < 3; ++i) {
    uint64_t value = 0;
    if (!parseInteger(value))
      return false;
    dimensions[i] = static_cast<uint32_t>(value);
    if (!accept(','))
      break;
  }
  return true;
}

bool Parser::parseTuning(Function &function) {
  uint64_t ignored = 0;
  while (!token.is('{')) {
    if (acceptWord(".maxntid")) {
      if (!parseDimensions(function.maxThreads))
        return false;
    } else if (acceptWord(".reqntid")) {
      if (!parseDimensions(function.requiredThreads))
        return false;
    } else if (acceptWord(".reqnctapercluster")) {
      if (!parseDimensions(function.requiredCluster))
        return false;
    } else if (acceptWord(".minnctapersm") || acceptWord(".maxnreg") ||
               acceptWord(".maxclusterrank")) {
      if (!parseInteger(ignored))
        return false;
    } else if (!acceptWord(".explicitcluster")) {
      return expected("'{' or a directive of a kernel");
    }
  }
  return true;
}

bool Parser::parseParameters(Function &function) {
  if (!accept('('))
    return true;
  while (!token.is(')')) {
    if (!acceptWord(".param"))
      return expected("'.param'");
    Variable parameter;
    parameter.space = Space::Param;
    parameter.line = token.line;
    uint64_t elementBytes = 0;
    // The attributes stand before or after the type: ".align 64 .b8", ".u64 .ptr .align 1".
    bool pointsTo = false;
    while (token.kind == Token::Kind::Word && token.text.front() == '.') {
      if (acceptWord(".align")) {
        uint64_t alignment = 0;
        if (!parseInteger(alignment))
          return false;
        if (!pointsTo) // After .ptr it is the alignment of what the pointer points to.
          parameter.alignment = alignment;
        continue;
      }
      pointsTo |= token.isWord(".ptr");
      if (std::optional<Type> type = parseType(token.text.substr(1)))
        elementBytes = type->bits / 8;
      else if (!pointsTo)
        return expected("the type of a parameter");
      advance();
    }
    if (token.kind != Token::Kind::Word || !elementBytes)
      return expected("a type and the name of a parameter");
    parameter.name = token.text;
    advance();
    uint64_t count = 1;
    if (accept('[') && (!parseInteger(count) || !expect(']')))
      return false;
    parameter.bytes = elementBytes * count;
    parameter.alignment = std::max(parameter.alignment, elementBytes);
    uint64_t offset = (function.parameterBytes + parameter.alignment - 1) / parameter.alignment *
                      parameter.alignment;
    function.parameterOffsets.push_back(offset);
    function.parameterBytes = offset + parameter.bytes;
    function.parameters.push_back(parameter);
    if (!accept(','))
      break;
  }
  return expect(')');
}

bool Parser::parseFunction(bool isEntry) {
  Function function;
  function.target = module.target;
  function.isEntry = isEntry;
  function.line = token.line;
  if (token.kind != Token::Kind::Word)
    return expected("the name of a kernel");
  function.name = token.text;
  advance();
  if (!parseParameters(function) || !parseTuning(function))
    return false;
  function.variables = module.variables;
  function.firstParameter = static_cast<uint32_t>(function.variables.size());
  function.variables.insert(function.variables.end(), function.parameters.begin(),
                            function.parameters.end());
  Scope outer;
  for (size_t i = 0; i < function.variables.size(); ++i)
    outer.variables[function.variables[i].name] = static_cast<uint32_t>(i);
  scopes.push_back(std::move(outer));
  current = &function;
  bool parsed = parseBody(function) && closeScope(function);
  current = nullptr;
  scopes.clear();
  module.functions.push_back(std::move(function));
  return parsed;
}

std::unique_ptr<Module> blocksparse::sim::parseModule(std::string text, std::string &error) {
  auto module = std::make_unique<Module>();
  module->text = std::move(text);
  Parser parser(*module);
  if (parser.parse())
    return module;
  error = parser.getError();
  return nullptr;
}
