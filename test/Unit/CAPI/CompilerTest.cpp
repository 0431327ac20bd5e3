// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse-c/Compiler.h"

#include "gtest/gtest.h"

#include <cstdio>
#include <string>

namespace {

const char *const source = R"(
#layout = #blocksparse.layout<2x2, grid 2x2, mask "10/11">
#bsr = #blocksparse.bsr<2x2>
func.func @product(%w: tensor<4x4xf32, #layout>, %x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %0 = blocksparse.dsd %w, %x : (tensor<4x4xf32, #layout>, tensor<4x?xf32>) -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}
func.func @dense(%s: tensor<4x4xf32, #bsr>) -> tensor<4x4xf32> {
  %0 = blocksparse.to_dense %s : (tensor<4x4xf32, #bsr>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
)";

struct Texts {
  std::string text, errors;
};

void onText(const char *text, size_t length, void *texts) {
  static_cast<Texts *>(texts)->text.append(text, length);
}

void onError(const char *text, size_t length, void *texts) {
  static_cast<Texts *>(texts)->errors.append(text, length);
}

class CompilerCAPI : public testing::Test {
protected:
  void SetUp() override {
    program = parse(source);
    ASSERT_NE(program, nullptr) << texts.errors;
  }
  void TearDown() override { blocksparseProgramDestroy(program); }

  BlocksparseProgram parse(const std::string &text) {
    return blocksparseProgramParse(text.data(), text.size(), "source.mlir", onError, &texts);
  }

  BlocksparseProgram program = nullptr;
  Texts texts;
};

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST_F(CompilerCAPI, Version) {
  int major = 0, minor = -1;
  blocksparseCompilerApiVersion(&major, &minor);
  EXPECT_EQ(major, BLOCKSPARSE_COMPILER_API_MAJOR);
  EXPECT_EQ(minor, BLOCKSPARSE_COMPILER_API_MINOR);
}

TEST_F(CompilerCAPI, ParseErrorsHavePlaceAndReason) {
  EXPECT_EQ(parse("func.func @f("), nullptr);
  EXPECT_TRUE(contains(texts.errors, "source.mlir")) << texts.errors;
  EXPECT_TRUE(contains(texts.errors, "error: ")) << texts.errors;
  EXPECT_EQ(blocksparseProgramParse("func.func @f(", 13, nullptr, nullptr, nullptr), nullptr);
  EXPECT_EQ(parse(std::string("\0\1\2garbage", 10)), nullptr);
}

TEST_F(CompilerCAPI, DescribesFunctions) {
  EXPECT_EQ(blocksparseProgramDescribe(program, onText, onError, &texts), 0);
  for (const char *part :
       {"\"name\":\"product\"", "\"size_function\":\"product_result_sizes\"", "\"role\":\"values\"",
        "\"shape\":[3,2,2]", "\"shape\":[4,-1]", "\"name\":\"x\"", "\"name\":\"s_crow_indices\"",
        "\"size_function\":null", "\"role\":\"col_indices\""})
    EXPECT_TRUE(contains(texts.text, part)) << part << " in " << texts.text;
}

TEST_F(CompilerCAPI, PrintsEveryStage) {
  for (const char *stage :
       {"parse", "optimise", "schedule", "plan", "bufferize", "lower", "llvm"}) {
    texts = {};
    EXPECT_EQ(blocksparseProgramPrintStage(program, nullptr, stage, onText, onError, &texts), 0)
        << texts.errors;
    bool planned = contains(texts.text, "blocksparse.planned_dsd");
    bool isPlanned = std::string(stage) == "plan" || std::string(stage) == "bufferize";
    EXPECT_EQ(planned, isPlanned) << stage;
  }
  // The program has not been changed.
  texts = {};
  EXPECT_EQ(blocksparseProgramPrintStage(program, nullptr, "parse", onText, onError, &texts), 0);
  EXPECT_TRUE(contains(texts.text, "blocksparse.dsd"));
}

TEST_F(CompilerCAPI, OptionErrorsNameBothValues) {
  EXPECT_EQ(blocksparseProgramPrintStage(program, nullptr, "sell", onText, onError, &texts), 1);
  EXPECT_TRUE(contains(texts.errors, "expects a stage (parse, ")) << texts.errors;
  EXPECT_TRUE(contains(texts.errors, "but got 'sell'")) << texts.errors;
  texts = {};
  BlocksparseCompileOptions options = {};
  options.target = "abacus";
  EXPECT_EQ(blocksparseProgramPrintStage(program, &options, "plan", onText, onError, &texts), 1);
  EXPECT_TRUE(contains(texts.errors, "but got 'abacus'")) << texts.errors;
  EXPECT_EQ(blocksparseProgramEmit(program, nullptr, "x.exe", onError, &texts), 1);
  EXPECT_TRUE(contains(texts.errors, "but got 'x.exe'")) << texts.errors;
}

TEST_F(CompilerCAPI, EmitsObjectAndHeader) {
  std::string path = testing::TempDir() + "blocksparse-capi-test.o";
  BlocksparseCompileOptions options = {};
  options.cpu = "x86-64";
  options.optimization = 1;
  ASSERT_EQ(blocksparseProgramEmit(program, &options, path.c_str(), onError, &texts), 0)
      << texts.errors;
  std::FILE *file = std::fopen(path.c_str(), "rb");
  ASSERT_NE(file, nullptr);
  char magic[4] = {};
  EXPECT_EQ(std::fread(magic, 1, 4, file), 4u);
  EXPECT_EQ(std::string(magic, 4), "\177ELF");
  std::fclose(file);
  std::remove(path.c_str());
  EXPECT_EQ(blocksparseProgramEmitHeader(program, &options, "x.h", onText, onError, &texts), 0);
  EXPECT_TRUE(contains(texts.text, "void product(")) << texts.text;
  texts = {};
  options.target = "cuda:sm_80";
  EXPECT_EQ(blocksparseProgramEmitHeader(program, &options, "x.h", onText, onError, &texts), 0);
  EXPECT_TRUE(contains(texts.text, "int32_t product(")) << texts.text;
}

} // namespace
