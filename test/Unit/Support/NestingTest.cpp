// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Support/Nesting.h"

#include <gtest/gtest.h>

#include <string>

using namespace blocksparse;

namespace {

TEST(Nesting, CountsOpenBrackets) {
  for (const char *brackets : {"()", "[]", "{}", "<>"}) {
    std::string open(maxNesting, brackets[0]), close(maxNesting, brackets[1]);
    EXPECT_FALSE(findDeepNesting(open + close + open + close));
    EXPECT_EQ(findDeepNesting(open + brackets[0]), maxNesting);
  }
  EXPECT_FALSE(findDeepNesting(""));
  EXPECT_FALSE(findDeepNesting(std::string(1000, ')')));
}

TEST(Nesting, PassesOverWhatIsNoBracket) {
  std::string open(100000, '[');
  EXPECT_FALSE(findDeepNesting("\"" + open + "\""));
  EXPECT_FALSE(findDeepNesting("\"\\\"" + open + "\""));
  EXPECT_FALSE(findDeepNesting("// " + open + "\n"));
  EXPECT_TRUE(findDeepNesting("// \n" + open));
  // A string ends with its line.
  EXPECT_TRUE(findDeepNesting("\"\n" + open));
  EXPECT_FALSE(findDeepNesting("\"\\"));
  EXPECT_FALSE(findDeepNesting("/"));
  std::string arrows;
  for (int i = 0; i < 1000; ++i)
    arrows += "() -> () <= ";
  EXPECT_FALSE(findDeepNesting(arrows));
  // Neither does an arrow close what is open.
  std::string functions;
  for (size_t i = 0; i <= maxNesting; ++i)
    functions += "() -> <";
  EXPECT_TRUE(findDeepNesting(functions));
}

} // namespace
