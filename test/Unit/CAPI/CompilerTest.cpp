// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse-c/Compiler.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

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
  std::vector<std::string> files;
  std::vector<unsigned> lines;
  std::vector<BlocksparseSeverity> severities;
};

void onText(const char *text, size_t length, void *texts) {
  static_cast<Texts *>(texts)->text.append(text, length);
}

void onDiagnostic(const BlocksparseDiagnostic *diagnostic, void *userData) {
  auto *texts = static_cast<Texts *>(userData);
  EXPECT_EQ(diagnostic->size, sizeof(BlocksparseDiagnostic));
  texts->errors += diagnostic->message;
  texts->errors += '\n';
  texts->files.push_back(diagnostic->file);
  texts->lines.push_back(diagnostic->line);
  texts->severities.push_back(diagnostic->severity);
}

BlocksparseCompileOptions makeOptions() {
  BlocksparseCompileOptions options;
  blocksparseCompileOptionsInit(&options, sizeof(options));
  return options;
}

class CompilerCAPI : public testing::Test {
protected:
  void SetUp() override {
    program = parse(source);
    ASSERT_NE(program, nullptr) << texts.errors;
  }
  void TearDown() override { blocksparseProgramDestroy(program); }

  BlocksparseProgram parse(const std::string &text) {
    return blocksparseProgramParse(text.data(), text.size(), "source.mlir", nullptr, onDiagnostic,
                                   &texts);
  }

  /// Returns the bytes of an artefact.
  std::string emit(const BlocksparseCompileOptions &options, BlocksparseFormat format) {
    Texts bytes;
    EXPECT_EQ(
        blocksparseProgramEmitToMemory(program, &options, format, onText, onDiagnostic, &bytes), 0)
        << bytes.errors;
    return bytes.text;
  }

  /// Returns the error of an attempt to describe the program with the options.
  std::string fail(const BlocksparseCompileOptions &options) {
    Texts result;
    EXPECT_EQ(blocksparseProgramDescribe(program, &options, onText, onDiagnostic, &result), 1);
    return result.errors;
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
  EXPECT_EQ(parse("\nfunc.func @f("), nullptr);
  ASSERT_EQ(texts.files.size(), 1u);
  EXPECT_EQ(texts.files[0], "source.mlir");
  EXPECT_EQ(texts.lines[0], 2u);
  EXPECT_EQ(texts.severities[0], BLOCKSPARSE_ERROR);
  EXPECT_FALSE(contains(texts.errors, "source.mlir")) << texts.errors;
  EXPECT_EQ(blocksparseProgramParse("func.func @f(", 13, nullptr, nullptr, nullptr, nullptr),
            nullptr);
  EXPECT_EQ(parse(std::string("\0\1\2garbage", 10)), nullptr);
  texts = {};
  EXPECT_EQ(blocksparseProgramParse("", 0, nullptr, "emit", onDiagnostic, &texts), nullptr);
  EXPECT_TRUE(contains(texts.errors, "expects a stage to start after (parse, ")) << texts.errors;
}

TEST_F(CompilerCAPI, PrintsGradients) {
  // The program of the gradients has neither the function nor the one that is not named.
  Texts gradients;
  ASSERT_EQ(blocksparseProgramPrintGradients(program, "product", onText, onDiagnostic, &gradients),
            0)
      << gradients.errors;
  EXPECT_FALSE(contains(gradients.text, "@product(")) << gradients.text;
  EXPECT_FALSE(contains(gradients.text, "@dense")) << gradients.text;
  BlocksparseProgram parsed = parse(gradients.text);
  ASSERT_NE(parsed, nullptr) << texts.errors;
  ASSERT_EQ(blocksparseProgramDescribe(parsed, nullptr, onText, onDiagnostic, &texts), 0);
  EXPECT_TRUE(contains(texts.text, "\"name\":\"product_forward\"")) << texts.text;
  EXPECT_TRUE(contains(texts.text, "\"name\":\"product_backward\"")) << texts.text;
  blocksparseProgramDestroy(parsed);

  const std::pair<const char *, const char *> faults[] = {
      {"product,other", "expects a public function of the module, but got 'other'"},
      {"", "expects a public function of the module, but got ''"},
  };
  for (auto [functions, error] : faults) {
    Texts result;
    EXPECT_EQ(blocksparseProgramPrintGradients(program, functions, onText, onDiagnostic, &result),
              1);
    EXPECT_TRUE(contains(result.errors, error)) << result.errors;
  }
  BlocksparseProgram planned =
      blocksparseProgramParse("", 0, nullptr, "plan", onDiagnostic, &texts);
  Texts result;
  EXPECT_EQ(blocksparseProgramPrintGradients(planned, "f", onText, onDiagnostic, &result), 1);
  EXPECT_TRUE(contains(result.errors,
                       "expects a program at the stage 'parse', to differentiate it, "
                       "but got one after 'plan'"))
      << result.errors;
  blocksparseProgramDestroy(planned);
}

TEST_F(CompilerCAPI, ReadsBytecode) {
  std::ifstream file(BLOCKSPARSE_BYTECODE, std::ios::binary);
  BlocksparseProgram bytecode =
      parse(std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()));
  ASSERT_NE(bytecode, nullptr) << texts.errors;
  EXPECT_EQ(blocksparseProgramDescribe(bytecode, nullptr, onText, onDiagnostic, &texts), 0);
  EXPECT_TRUE(contains(texts.text, "\"name\":\"scheduled\"")) << texts.text;
  blocksparseProgramDestroy(bytecode);
}

TEST_F(CompilerCAPI, ListsSchedules) {
  BlocksparseProgram twice = parse(R"(
    func.func @twice(%a: tensor<32x16xf32>, %b: tensor<16x16xf32>) -> tensor<32x16xf32> {
      %0 = blocksparse.matmul %a, %b : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
      %1 = blocksparse.matmul %0, %b : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
      return %1 : tensor<32x16xf32>
    })");
  ASSERT_NE(twice, nullptr) << texts.errors;
  EXPECT_EQ(blocksparseProgramListSchedules(twice, nullptr, onText, onDiagnostic, &texts), 0);
  // Both products have one key.
  EXPECT_TRUE(texts.text.starts_with(R"({"operations":[{"key":"blocksparse.matmul on cpu)"))
      << texts.text;
  EXPECT_EQ(texts.text.find("\"key\""), texts.text.rfind("\"key\"")) << texts.text;
  EXPECT_TRUE(contains(texts.text, R"("operation":"matmul","schedules":["#blocksparse.schedule<)"))
      << texts.text;
  BlocksparseCompileOptions options;
  blocksparseCompileOptionsInit(&options, sizeof(options));
  options.target = "vax";
  EXPECT_EQ(blocksparseProgramListSchedules(twice, &options, onText, onDiagnostic, &texts), 1);
  blocksparseProgramDestroy(twice);
}

TEST_F(CompilerCAPI, PassesRemarksAndNotes) {
  BlocksparseProgram remarked =
      parse("func.func private @f(tensor<64x64xf32, #blocksparse.layout<16x16, grid 4x4, "
            "fixed(num_heads = 12)>>)");
  ASSERT_NE(remarked, nullptr) << texts.errors;
  blocksparseProgramDestroy(remarked);
  ASSERT_EQ(texts.severities.size(), 1u);
  EXPECT_EQ(texts.severities[0], BLOCKSPARSE_REMARK);
  EXPECT_EQ(texts.lines[0], 1u);
  // Two definitions of a symbol are an error with a note at the first.
  EXPECT_EQ(parse("func.func private @f()\nfunc.func private @f()"), nullptr);
  ASSERT_GE(texts.severities.size(), 2u);
  EXPECT_EQ(texts.severities.back(), BLOCKSPARSE_NOTE);
  EXPECT_EQ(texts.lines.back(), 1u);
  EXPECT_EQ(texts.severities[texts.severities.size() - 2], BLOCKSPARSE_ERROR);
}

TEST_F(CompilerCAPI, PassesWarnings) {
  // The schedule asks for tensor cores, which do not multiply f32.
  std::string text =
      "!m = memref<64x64xf32>\n"
      "func.func @f(%a: !m, %b: !m, %c: !m) {\n"
      "  blocksparse.planned_matmul %a, %b outs(%c) {schedule = #blocksparse.schedule<cuda.mma>}"
      " : (!m, !m, !m) -> ()\n"
      "  return\n}";
  BlocksparseProgram scalar = blocksparseProgramParse(text.data(), text.size(), "buffers.mlir",
                                                      "bufferize", onDiagnostic, &texts);
  ASSERT_NE(scalar, nullptr) << texts.errors;
  BlocksparseCompileOptions options = makeOptions();
  options.target = "cuda:sm_80";
  EXPECT_EQ(blocksparseProgramPrintStage(scalar, &options, "lower", onText, onDiagnostic, &texts),
            0);
  ASSERT_EQ(texts.severities.size(), 1u) << texts.errors;
  EXPECT_EQ(texts.severities[0], BLOCKSPARSE_WARNING);
  EXPECT_EQ(texts.files[0], "buffers.mlir");
  EXPECT_EQ(texts.lines[0], 3u);
  EXPECT_TRUE(contains(texts.errors, "runs scalar kernels in place of")) << texts.errors;
  blocksparseProgramDestroy(scalar);
}

TEST_F(CompilerCAPI, DescribesFunctions) {
  EXPECT_EQ(blocksparseProgramDescribe(program, nullptr, onText, onDiagnostic, &texts), 0);
  for (const char *part :
       {"\"name\":\"product\"", "\"size_function\":\"product_result_sizes\"", "\"role\":\"values\"",
        "\"shape\":[3,2,2]", "\"shape\":[4,-1]", "\"name\":\"x\"", "\"name\":\"s_crow_indices\"",
        "\"size_function\":null", "\"role\":\"col_indices\"", "\"stream_function\":null"})
    EXPECT_TRUE(contains(texts.text, part)) << part << " in " << texts.text;
  BlocksparseCompileOptions options = makeOptions();
  options.symbolPrefix = "net_";
  options.functions = "product";
  options.target = "cuda:sm_80";
  texts = {};
  EXPECT_EQ(blocksparseProgramDescribe(program, &options, onText, onDiagnostic, &texts), 0);
  for (const char *part : {"\"name\":\"net_product\"", "\"source_name\":\"product\"",
                           "\"stream_function\":\"net_product_on_stream\""})
    EXPECT_TRUE(contains(texts.text, part)) << part << " in " << texts.text;
  EXPECT_FALSE(contains(texts.text, "dense\",\"source_name")) << texts.text;
}

TEST_F(CompilerCAPI, PrintsEveryStage) {
  for (const char *stage :
       {"parse", "optimise", "schedule", "plan", "bufferize", "lower", "llvm"}) {
    texts = {};
    EXPECT_EQ(blocksparseProgramPrintStage(program, nullptr, stage, onText, onDiagnostic, &texts),
              0)
        << texts.errors;
    bool planned = contains(texts.text, "blocksparse.planned_dsd");
    bool isPlanned = std::string(stage) == "plan" || std::string(stage) == "bufferize";
    EXPECT_EQ(planned, isPlanned) << stage;
  }
  // The program has not been changed.
  texts = {};
  EXPECT_EQ(blocksparseProgramPrintStage(program, nullptr, "parse", onText, onDiagnostic, &texts),
            0);
  EXPECT_TRUE(contains(texts.text, "blocksparse.dsd"));
}

TEST_F(CompilerCAPI, StartsAfterAStage) {
  EXPECT_EQ(
      blocksparseProgramPrintStage(program, nullptr, "bufferize", onText, onDiagnostic, &texts), 0);
  BlocksparseProgram buffers = blocksparseProgramParse(texts.text.data(), texts.text.size(),
                                                       nullptr, "bufferize", onDiagnostic, &texts);
  ASSERT_NE(buffers, nullptr) << texts.errors;
  texts = {};
  EXPECT_EQ(blocksparseProgramDescribe(buffers, nullptr, onText, onDiagnostic, &texts), 0);
  EXPECT_TRUE(contains(texts.text, "\"role\":\"buffer\"")) << texts.text;
  EXPECT_EQ(blocksparseProgramPrintStage(buffers, nullptr, "plan", onText, onDiagnostic, &texts),
            1);
  EXPECT_TRUE(contains(texts.errors, "expects to stop after the stage 'bufferize'"))
      << texts.errors;
  texts = {};
  EXPECT_EQ(blocksparseProgramEmitToMemory(buffers, nullptr, BLOCKSPARSE_FORMAT_ASSEMBLY, onText,
                                           onDiagnostic, &texts),
            0)
      << texts.errors;
  EXPECT_TRUE(contains(texts.text, "product:"));
  blocksparseProgramDestroy(buffers);
}

TEST_F(CompilerCAPI, ChoosesIndexChecks) {
  auto compile = [&](BlocksparseCheck check) {
    BlocksparseCompileOptions options = makeOptions();
    options.functions = "dense";
    options.checkIndices = check;
    options.optLevel = 0;
    return emit(options, BLOCKSPARSE_FORMAT_LLVM_IR);
  };
  EXPECT_NE(compile(BLOCKSPARSE_CHECK_ON), compile(BLOCKSPARSE_CHECK_OFF));
}

TEST_F(CompilerCAPI, OptionErrorsNameBothValues) {
  EXPECT_EQ(blocksparseProgramPrintStage(program, nullptr, "sell", onText, onDiagnostic, &texts),
            1);
  EXPECT_TRUE(contains(texts.errors, "expects a stage (parse, ")) << texts.errors;
  EXPECT_TRUE(contains(texts.errors, "but got 'sell'")) << texts.errors;
  texts = {};
  EXPECT_EQ(blocksparseProgramEmit(program, nullptr, "x.exe", onDiagnostic, &texts), 1);
  EXPECT_TRUE(contains(texts.errors, "but got 'x.exe'")) << texts.errors;
  BlocksparseCompileOptions options = makeOptions();
  options.target = "abacus";
  EXPECT_TRUE(contains(fail(options), "but got 'abacus'"));
  options = makeOptions();
  options.optLevel = 4;
  EXPECT_EQ(fail(options), "expects optLevel from 0 to 3, but got 4\n");
  options = makeOptions();
  options.functions = "produkt";
  EXPECT_TRUE(contains(fail(options), "but got 'produkt'; the module has 'product', 'dense'"));
  options = makeOptions();
  options.symbolPrefix = "-";
  EXPECT_TRUE(contains(fail(options), "prefix of symbols, but got '-'"));
  EXPECT_EQ(blocksparseProgramEmitToMemory(program, nullptr, BlocksparseFormat(17), onText,
                                           onDiagnostic, &texts),
            1);
  EXPECT_TRUE(contains(texts.errors, "expects a format from 0 to 4, but got 17")) << texts.errors;
}

TEST_F(CompilerCAPI, OptionsOfOtherVersions) {
  struct Newer {
    BlocksparseCompileOptions known;
    const char *unknown;
  };
  Newer newer;
  blocksparseCompileOptionsInit(&newer.known, sizeof(newer));
  EXPECT_EQ(newer.unknown, nullptr);
  EXPECT_EQ(newer.known.optLevel, 3);
  EXPECT_EQ(blocksparseProgramDescribe(program, &newer.known, onText, onDiagnostic, &texts), 0)
      << texts.errors;
  newer.unknown = "x";
  EXPECT_TRUE(contains(fail(newer.known), "or zeros behind them, but got ")) << texts.errors;
  // A struct that nobody has filled in has no size.
  BlocksparseCompileOptions empty = {};
  EXPECT_TRUE(contains(fail(empty), "blocksparseCompileOptionsInit")) << texts.errors;
  EXPECT_TRUE(contains(fail(empty), "bytes, but got 0")) << texts.errors;
}

TEST_F(CompilerCAPI, EmitsObjectAndHeader) {
  std::string path = testing::TempDir() + "blocksparse-capi-test.o";
  BlocksparseCompileOptions options = makeOptions();
  options.cpu = "x86-64";
  options.optLevel = 0;
  ASSERT_EQ(blocksparseProgramEmit(program, &options, path.c_str(), onDiagnostic, &texts), 0)
      << texts.errors;
  std::FILE *file = std::fopen(path.c_str(), "rb");
  ASSERT_NE(file, nullptr);
  char magic[4] = {};
  EXPECT_EQ(std::fread(magic, 1, 4, file), 4u);
  EXPECT_EQ(std::string(magic, 4), "\177ELF");
  std::fclose(file);
  std::remove(path.c_str());
  EXPECT_EQ(blocksparseProgramEmitHeader(program, &options, "x.h", onText, onDiagnostic, &texts),
            0);
  EXPECT_TRUE(contains(texts.text, "int32_t product(")) << texts.text;
  texts = {};
  options.target = "cuda:sm_80";
  EXPECT_EQ(blocksparseProgramEmitHeader(program, &options, "x.h", onText, onDiagnostic, &texts),
            0);
  EXPECT_TRUE(contains(texts.text, "int32_t product(")) << texts.text;
  EXPECT_TRUE(contains(texts.text, "int32_t product_on_stream(")) << texts.text;
}

TEST_F(CompilerCAPI, EmitsToMemory) {
  BlocksparseCompileOptions options = makeOptions();
  options.optLevel = 0;
  options.symbolPrefix = "m_";
  EXPECT_TRUE(contains(emit(options, BLOCKSPARSE_FORMAT_LLVM_IR), "@m_product("));
  EXPECT_TRUE(contains(emit(options, BLOCKSPARSE_FORMAT_ASSEMBLY), "m_product:"));
  EXPECT_EQ(emit(options, BLOCKSPARSE_FORMAT_OBJECT).substr(0, 4), "\177ELF");
  EXPECT_EQ(emit(options, BLOCKSPARSE_FORMAT_SHARED_LIBRARY).substr(0, 4), "\177ELF");
  options.target = "cuda:sm_80";
  options.functions = "product";
  EXPECT_TRUE(contains(emit(options, BLOCKSPARSE_FORMAT_PTX), ".entry m_product"));
}

TEST_F(CompilerCAPI, EmitsKernels) {
  BlocksparseCompileOptions options = makeOptions();
  options.symbolPrefix = "m_";
  options.functions = "product";
  options.target = "cuda:sm_80";
  auto onJson = [](const char *text, size_t length, void *userData) {
    static_cast<Texts *>(userData)->text.append(text, length);
  };
  ASSERT_EQ(blocksparseProgramEmitKernels(program, &options, onText, onJson, onDiagnostic, &texts),
            0)
      << texts.errors;
  EXPECT_TRUE(contains(texts.text, ".entry m_product"));
  EXPECT_TRUE(contains(texts.text, "\"launch\": \"m_product"));
  EXPECT_EQ(blocksparseProgramEmitKernels(program, nullptr, onText, onJson, onDiagnostic, &texts),
            1);
  EXPECT_TRUE(contains(texts.errors, "expects one target 'cuda:<chip>' for PTX, but got 'cpu'"))
      << texts.errors;
}

struct Matrix {
  void *allocated;
  float *data;
  int64_t offset, sizes[2], strides[2];
};
struct Values {
  void *allocated;
  float *data;
  int64_t offset, sizes[3], strides[3];
};

/// Calls the product and checks what it returns.
void callProduct(void *address) {
  ASSERT_NE(address, nullptr);
  float w[12], x[4 * 3], y[4 * 3];
  std::fill(std::begin(w), std::end(w), 1.0f);
  std::fill(std::begin(x), std::end(x), 2.0f);
  Values values = {nullptr, w, 0, {3, 2, 2}, {4, 2, 1}};
  Matrix dense = {nullptr, x, 0, {4, 3}, {3, 1}}, result = {nullptr, y, 0, {4, 3}, {3, 1}};
  void *pointers[] = {&values, &dense, &result};
  void *arguments[] = {&pointers[0], &pointers[1], &pointers[2]};
  reinterpret_cast<int32_t (*)(void **)>(address)(arguments);
  EXPECT_EQ(y[0], 4);
  EXPECT_EQ(y[11], 8);
}

TEST_F(CompilerCAPI, LoadsPrograms) {
  BlocksparseCompileOptions options = makeOptions();
  options.symbolPrefix = "m_";
  BlocksparseExecutable executable =
      blocksparseProgramLoad(program, &options, onDiagnostic, &texts);
  ASSERT_NE(executable, nullptr) << texts.errors;
  blocksparseProgramDestroy(program);
  program = nullptr;
  EXPECT_EQ(blocksparseExecutableSetThreads(executable, 0), 1);
  EXPECT_EQ(blocksparseExecutableSetThreads(executable, 2), 0);
  callProduct(blocksparseExecutableLookup(executable, "m_product.packed", onDiagnostic, &texts));
  EXPECT_NE(blocksparseExecutableLookup(executable, "m_product", onDiagnostic, &texts), nullptr);
  EXPECT_EQ(blocksparseExecutableLookup(executable, "product", onDiagnostic, &texts), nullptr);
  EXPECT_TRUE(contains(texts.errors, "expects an entry point of the program, but got 'product'"))
      << texts.errors;
  // Functions of the process and of the libraries that the program calls are no entry points.
  for (const char *name : {"malloc", "omp_get_max_threads", "blocksparseRtLastError"})
    EXPECT_EQ(blocksparseExecutableLookup(executable, name, onDiagnostic, &texts), nullptr) << name;
  blocksparseExecutableDestroy(executable);
}

TEST_F(CompilerCAPI, LoadsObjects) {
  BlocksparseCompileOptions options = makeOptions();
  options.packedEntryPoints = 1;
  std::string object = emit(options, BLOCKSPARSE_FORMAT_OBJECT);
  BlocksparseExecutable executable =
      blocksparseExecutableLoad(object.data(), object.size(), onDiagnostic, &texts);
  ASSERT_NE(executable, nullptr) << texts.errors;
  callProduct(blocksparseExecutableLookup(executable, "product.packed", onDiagnostic, &texts));
  blocksparseExecutableDestroy(executable);
  EXPECT_EQ(blocksparseExecutableLoad("garbage", 7, onDiagnostic, &texts), nullptr);
  EXPECT_TRUE(contains(texts.errors, "expects to link the program in memory")) << texts.errors;
}

TEST_F(CompilerCAPI, LoadsProgramsForSeveralTargets) {
  BlocksparseCompileOptions options = makeOptions();
  options.target = "cuda:sm_80,cpu";
  options.functions = "product";
  BlocksparseExecutable executable =
      blocksparseProgramLoad(program, &options, onDiagnostic, &texts);
  ASSERT_NE(executable, nullptr) << texts.errors;
  EXPECT_NE(blocksparseExecutableLookup(executable, "product_on_stream", onDiagnostic, &texts),
            nullptr);
  // The tensors are in host memory, which the code for the CPU takes.
  callProduct(blocksparseExecutableLookup(executable, "product.packed", onDiagnostic, &texts));
  blocksparseExecutableDestroy(executable);
}

} // namespace
