// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse-c/Layout.h"

#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace {

struct Received {
  std::vector<int32_t> rowOffsets, colIndices;
  std::string notes, error;
};

void onIndices(const int32_t *rowOffsets, size_t numRowOffsets, const int32_t *colIndices,
               size_t numColIndices, void *userData) {
  auto *received = static_cast<Received *>(userData);
  received->rowOffsets.assign(rowOffsets, rowOffsets + numRowOffsets);
  received->colIndices.assign(colIndices, colIndices + numColIndices);
}
void onNote(const char *text, size_t length, void *userData) {
  static_cast<Received *>(userData)->notes.append(text, length);
}
void onError(const char *text, size_t length, void *userData) {
  static_cast<Received *>(userData)->error.append(text, length);
}
void onText(const char *text, size_t length, void *userData) {
  static_cast<std::string *>(userData)->append(text, length);
}

TEST(CAPILayoutTest, BuildsANamedPattern) {
  const int64_t shape[] = {16, 16, 1, 3, 3};
  Received received;
  ASSERT_EQ(
      blocksparseLayoutFromPattern(shape, "causal", nullptr, onIndices, onNote, onError, &received),
      0);
  EXPECT_EQ(received.rowOffsets, (std::vector<int32_t>{0, 1, 3, 6}));
  EXPECT_EQ(received.colIndices, (std::vector<int32_t>{0, 0, 1, 0, 1, 2}));
  EXPECT_EQ(received.notes, "");
  EXPECT_EQ(received.error, "");
}

TEST(CAPILayoutTest, PassesParametersOfEachType) {
  const int64_t shape[] = {16, 16, 1, 4, 4};
  Received received;
  ASSERT_EQ(blocksparseLayoutFromPattern(
                shape, "variable",
                R"({"local_window_blocks": [1], "global_block_indices": [3], "num_heads": 1,
                    "attention": "bidirectional", "horizontal_global_attention": true})",
                onIndices, onNote, onError, &received),
            0);
  EXPECT_EQ(received.rowOffsets, (std::vector<int32_t>{0, 2, 4, 6, 10}));
  EXPECT_NE(received.notes.find("'num_heads'"), std::string::npos);
  received = {};
  ASSERT_EQ(blocksparseLayoutFromPattern(shape, "random", R"({"density": 1})", onIndices, nullptr,
                                         nullptr, &received),
            0);
  EXPECT_EQ(received.colIndices.size(), 16u);
}

TEST(CAPILayoutTest, ReportsErrors) {
  const int64_t shape[] = {16, 16, 1, 4, 4};
  for (const auto &[name, parameters, expected] :
       {std::tuple{"causal", "{", "expects parameters as a JSON object, but got '{'"},
        std::tuple{"causal", "[1]", "expects parameters as a JSON object, but got '[1]'"},
        std::tuple{"causal", R"({"offset": null})", "parameter 'offset', but got null"},
        std::tuple{"variable", R"({"local_window_blocks": [1.5]})", "but got [1.5]"},
        std::tuple{"nothing", "{}", "'nothing'"}}) {
    Received received;
    EXPECT_EQ(blocksparseLayoutFromPattern(shape, name, parameters, onIndices, onNote, onError,
                                           &received),
              1);
    EXPECT_NE(received.error.find(expected), std::string::npos) << received.error;
    EXPECT_TRUE(received.rowOffsets.empty());
  }
}

TEST(CAPILayoutTest, DescribesPatterns) {
  std::string text;
  blocksparseLayoutDescribePatterns(onText, &text);
  EXPECT_NE(text.find(R"("name":"bigbird")"), std::string::npos);
  EXPECT_NE(text.find(R"("default":[4])"), std::string::npos);
  EXPECT_NE(text.find(R"("keywords":["unidirectional","bidirectional"])"), std::string::npos);
}

} // namespace
