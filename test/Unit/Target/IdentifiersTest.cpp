// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/Identifiers.h"

#include "gtest/gtest.h"

#include <set>

using namespace mlir::blocksparse;

namespace {

TEST(Identifiers, ReservedWords) {
  for (const char *word : {"int",
                           "class",
                           "operator",
                           "co_await",
                           "alignas",
                           "typeof",
                           "xor_eq",
                           "requires",
                           "char8_t",
                           "int8_t",
                           "uint64_t",
                           "int_fast16_t",
                           "uint_least8_t",
                           "intptr_t",
                           "uintmax_t",
                           "INT32_MAX",
                           "UINT8_C",
                           "INT_FAST16_MIN",
                           "UINTPTR_MAX",
                           "SIZE_MAX",
                           "NULL",
                           "linux",
                           "main",
                           "__x",
                           "_X",
                           "_mlir_ciface_f",
                           "blocksparse_tensor_3",
                           "BLOCKSPARSE_TENSOR_3"})
    EXPECT_TRUE(isReservedWord(word)) << word;
  for (const char *name : {"x", "_x", "integer", "int_", "interval", "INTERNAL", "u", "U", "uint",
                           "INT", "UINTS", "size", "blocksparse", "tensor_3", "_", "result"})
    EXPECT_FALSE(isReservedWord(name)) << name;
}

TEST(Identifiers, Text) {
  EXPECT_TRUE(isIdentifierText("a_1"));
  EXPECT_TRUE(isIdentifierText("_"));
  for (const char *text : {"", "1a", "a-b", "a.b", "a b", "\xc3\xa4"})
    EXPECT_FALSE(isIdentifierText(text)) << text;
}

TEST(Identifiers, MakesIdentifiers) {
  EXPECT_EQ(makeIdentifier("x", "f"), "x");
  EXPECT_EQ(makeIdentifier("layer.0-q", "f"), "layer_0_q");
  EXPECT_EQ(makeIdentifier("int", "f"), "int_");
  EXPECT_EQ(makeIdentifier("0", "arg"), "arg0");
  EXPECT_EQ(makeIdentifier("", "f"), "f");
  EXPECT_EQ(makeIdentifier("__init", "f"), "f__init");
  EXPECT_EQ(makeIdentifier("_Bool", "f"), "f_Bool");
  EXPECT_EQ(makeIdentifier("int8_t", "f"), "int8_t_");
  EXPECT_EQ(makeIdentifier("\xc3\xa4", "f"), "f__");
  for (const char *text : {"int", "", "7", "__", "_A", "+", "a+b", "INT8_MAX", "BLOCKSPARSE_X"}) {
    EXPECT_TRUE(isIdentifierText(makeIdentifier(text, "f"))) << text;
    EXPECT_FALSE(isReservedWord(makeIdentifier(text, "f"))) << text;
  }
}

TEST(Identifiers, MakesUniqueNames) {
  std::set<std::string> used = {"a", "a_2"};
  auto isFree = [&](llvm::StringRef name) { return used.count(name.str()) == 0; };
  EXPECT_EQ(makeUnique("b", isFree), "b");
  EXPECT_EQ(makeUnique("a", isFree), "a_3");
}

} // namespace
