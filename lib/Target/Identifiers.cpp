// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/Identifiers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

bool mlir::blocksparse::isIdentifierText(StringRef name) {
  return !name.empty() && !isDigit(name.front()) &&
         all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
}

/// Returns true if <stdint.h> defines the name: int8_t, uint_fast16_t, INTPTR_MAX, INT64_C, ...
static bool isStdintName(StringRef name) {
  bool isMacro = !name.empty() && isUpper(name.front());
  name.consume_front(isMacro ? "U" : "u");
  if (!name.consume_front(isMacro ? "INT" : "int"))
    return isMacro && name.starts_with("SIZE_");
  if (name.consume_front(isMacro ? "_LEAST" : "_least") ||
      name.consume_front(isMacro ? "_FAST" : "_fast"))
    return !name.empty();
  if (isMacro)
    return name.ends_with("_MAX") || name.ends_with("_MIN") || name.ends_with("_C") ||
           name.ends_with("_WIDTH");
  return name.ends_with("_t");
}

/// Returns true if the name is reserved by its beginning: by C for its implementations, by MLIR for
/// the wrappers that become entry points, or by the emitted header.
static bool hasReservedStart(StringRef name) {
  return name.starts_with("__") || (name.size() > 1 && name.front() == '_' && isUpper(name[1])) ||
         name.starts_with("_mlir_") || name.starts_with("blocksparse_tensor_") ||
         name.starts_with("BLOCKSPARSE_");
}

bool mlir::blocksparse::isReservedWord(StringRef name) {
  static const StringSet<> words = {
      // C23.
      "alignas", "alignof", "auto", "bool", "break", "case", "char", "const", "constexpr",
      "continue", "default", "do", "double", "else", "enum", "extern", "false", "float", "for",
      "goto", "if", "inline", "int", "long", "nullptr", "register", "restrict", "return", "short",
      "signed", "sizeof", "static", "static_assert", "struct", "switch", "thread_local", "true",
      "typedef", "typeof", "typeof_unqual", "union", "unsigned", "void", "volatile", "while",
      // C++23.
      "and", "and_eq", "asm", "bitand", "bitor", "catch", "char16_t", "char32_t", "char8_t",
      "class", "co_await", "co_return", "co_yield", "compl", "concept", "consteval", "constinit",
      "const_cast", "decltype", "delete", "dynamic_cast", "explicit", "export", "friend", "mutable",
      "namespace", "new", "noexcept", "not", "not_eq", "operator", "or", "or_eq", "private",
      "protected", "public", "reinterpret_cast", "requires", "static_cast", "template", "this",
      "throw", "try", "typeid", "typename", "using", "virtual", "wchar_t", "xor", "xor_eq",
      // Macros of compilers and of headers that a caller may include before.
      "EOF", "NULL", "assert", "complex", "errno", "i386", "imaginary", "linux", "noreturn",
      "offsetof", "stderr", "stdin", "stdout", "unix", "va_arg", "va_copy", "va_end", "va_start",
      // The entry point of every C program.
      "main"};
  return words.contains(name) || isStdintName(name) || hasReservedStart(name);
}

std::string mlir::blocksparse::makeIdentifier(StringRef wanted, StringRef start) {
  std::string name;
  for (char c : wanted)
    name += isAlnum(c) ? c : '_';
  if (name.empty() || isDigit(name.front()) || hasReservedStart(name))
    name = start.str() + name;
  if (isReservedWord(name))
    name += '_';
  return name;
}

std::string mlir::blocksparse::makeUnique(StringRef base, function_ref<bool(StringRef)> isFree) {
  std::string name = base.str();
  for (unsigned count = 2; !isFree(name); ++count)
    name = (base + "_" + utostr(count)).str();
  return name;
}
