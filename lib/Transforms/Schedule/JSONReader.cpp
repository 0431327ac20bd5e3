// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "JSONReader.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/SaveAndRestore.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blocksparse;
namespace json = llvm::json;

JSONReader::JSONReader(StringRef text) : text(text) {
  if (!json::isUTF8(text, &position))
    fail("UTF-8");
}

bool JSONReader::fail(const std::string &expected) {
  if (message.empty())
    message = "expects " + expected + " at byte " + std::to_string(position);
  return false;
}

void JSONReader::skipSpace() {
  while (position < text.size() && StringRef(" \t\r\n").contains(text[position]))
    ++position;
}

bool JSONReader::isNext(char bracket) {
  skipSpace();
  return message.empty() && position < text.size() && text[position] == bracket;
}

bool JSONReader::consume(char character) {
  bool found = isNext(character);
  position += found;
  return found;
}

bool JSONReader::expect(char character) {
  return consume(character) || fail("'" + std::string(1, character) + "'");
}

std::optional<StringRef> JSONReader::takeString() {
  size_t begin = position;
  if (!isNext('"')) {
    fail("a string");
    return std::nullopt;
  }
  begin = position;
  for (size_t end = begin + 1; end < text.size(); ++end) {
    if (text[end] == '\\')
      ++end;
    else if (text[end] == '"') {
      position = end + 1;
      return text.slice(begin, position);
    }
  }
  fail("the end of the string");
  return std::nullopt;
}

std::optional<std::string> JSONReader::readString() {
  size_t begin = position;
  std::optional<StringRef> quoted = takeString();
  if (!quoted)
    return std::nullopt;
  StringRef body = quoted->drop_front().drop_back();
  bool plain = llvm::none_of(body, [](unsigned char c) { return c == '\\' || c < ' '; });
  if (plain)
    return body.str();
  // LLVM's parser knows the escapes; a string alone costs it little.
  llvm::Expected<json::Value> value = json::parse(*quoted);
  if (value)
    return value->getAsString()->str();
  llvm::consumeError(value.takeError());
  position = begin;
  fail("a string of valid characters");
  return std::nullopt;
}

std::optional<double> JSONReader::readNumber() {
  skipSpace();
  StringRef rest = text.substr(position);
  StringRef number =
      rest.take_while([](char c) { return StringRef("+-.0123456789eE").contains(c); });
  llvm::Expected<json::Value> value = json::parse(number);
  if (message.empty() && value && value->getAsNumber() && std::isfinite(*value->getAsNumber())) {
    position += number.size();
    return value->getAsNumber();
  }
  if (!value)
    llvm::consumeError(value.takeError());
  fail("a finite number");
  return std::nullopt;
}

std::optional<bool> JSONReader::readBoolean() {
  skipSpace();
  for (auto [name, value] : {std::pair("true", true), std::pair("false", false)})
    if (message.empty() && text.substr(position).starts_with(name)) {
      position += StringRef(name).size();
      return value;
    }
  fail("true or false");
  return std::nullopt;
}

bool JSONReader::readObject(llvm::function_ref<bool(StringRef key)> readMember) {
  if (!expect('{') || consume('}'))
    return message.empty();
  do {
    std::optional<std::string> key = readString();
    if (!key || !expect(':') || !readMember(*key))
      return false;
  } while (consume(','));
  return expect('}');
}

bool JSONReader::skipArray() {
  if (!expect('[') || consume(']'))
    return message.empty();
  do
    if (!skip())
      return false;
  while (consume(','));
  return expect(']');
}

bool JSONReader::skip() {
  if (depth == maxDepth)
    return fail("values nested at most " + std::to_string(maxDepth) + " deep");
  llvm::SaveAndRestore deeper(depth, depth + 1);
  if (isNext('{'))
    return readObject([&](StringRef) { return skip(); });
  if (isNext('['))
    return skipArray();
  if (isNext('"'))
    return readString().has_value();
  if (isNext('t') || isNext('f'))
    return readBoolean().has_value();
  if (text.substr(position).starts_with("null")) {
    position += 4;
    return message.empty();
  }
  return readNumber().has_value() || fail("a value");
}

std::optional<StringRef> JSONReader::skipValue() {
  skipSpace();
  size_t begin = position;
  if (!skip())
    return std::nullopt;
  return text.slice(begin, position);
}

bool JSONReader::readEnd() {
  skipSpace();
  return message.empty() && (position == text.size() || fail("the end of the text"));
}
