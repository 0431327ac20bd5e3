// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse-c/Dialect.h"

#include "gtest/gtest.h"

#include <string>

extern "C" MlirAttribute makeDiagonalLayout(MlirContext context);

namespace {

void append(MlirStringRef text, void *userData) {
  static_cast<std::string *>(userData)->append(text.data, text.length);
}

class CAPIDialectTest : public ::testing::Test {
protected:
  CAPIDialectTest() : context(mlirContextCreate()) {
    mlirDialectHandleLoadDialect(mlirGetDialectHandle__blocksparse__(), context);
  }
  ~CAPIDialectTest() override { mlirContextDestroy(context); }

  MlirAttribute parse(const char *text) {
    return mlirAttributeParseGet(context, mlirStringRefCreateFromCString(text));
  }
  static std::string print(MlirAttribute attr) {
    std::string text;
    mlirAttributePrint(attr, append, &text);
    return text;
  }

  MlirContext context;
};

TEST_F(CAPIDialectTest, MakesLayoutsOfCsr) {
  MlirAttribute layout = makeDiagonalLayout(context);
  ASSERT_FALSE(mlirAttributeIsNull(layout));
  EXPECT_TRUE(blocksparseAttributeIsALayout(layout));
  EXPECT_FALSE(blocksparseAttributeIsABsr(layout));
  EXPECT_EQ(print(layout), "#blocksparse.layout<16x32, grid 2x2, mask \"10/01\">");

  BlocksparseLayoutShape shape = blocksparseLayoutGetShape(layout);
  EXPECT_EQ(shape.blockRows, 16);
  EXPECT_EQ(shape.blockCols, 32);
  EXPECT_EQ(shape.heads, 1);
  EXPECT_EQ(shape.gridRows, 2);
  EXPECT_EQ(shape.gridCols, 2);
  EXPECT_EQ(blocksparseLayoutGetNumBlocks(layout), 2);
  EXPECT_EQ(blocksparseLayoutGetError(layout).length, 0u);
  EXPECT_EQ(blocksparseLayoutGetRowOffsets(layout)[2], 2);
  EXPECT_EQ(blocksparseLayoutGetColIndices(layout)[1], 1);
}

TEST_F(CAPIDialectTest, ReportsBadCsr) {
  const int32_t offsets[] = {0, 1, 2};
  const int32_t columns[] = {0, 2};
  std::string error;
  MlirAttribute layout = blocksparseLayoutGetFromCsr(context, {16, 16, 1, 2, 2}, 3, offsets, 2,
                                                     columns, append, &error);
  EXPECT_TRUE(mlirAttributeIsNull(layout));
  EXPECT_EQ(error, "expects column index in [0, 2) in row 1, but got 2");
  // Without a callback only the null result reports the error.
  EXPECT_TRUE(mlirAttributeIsNull(blocksparseLayoutGetFromCsr(
      context, {16, 16, 1, 2, 2}, 2, offsets, 2, columns, nullptr, nullptr)));
}

TEST_F(CAPIDialectTest, SaysWhyALayoutHasNoPattern) {
  MlirAttribute layout =
      parse("#blocksparse.layout<16x16, grid 1x1, csr dense_resource<missing> : tensor<3xi32>>");
  ASSERT_FALSE(mlirAttributeIsNull(layout));
  EXPECT_EQ(blocksparseLayoutGetNumBlocks(layout), -1);
  EXPECT_EQ(blocksparseLayoutGetRowOffsets(layout), nullptr);
  std::string error;
  append(blocksparseLayoutGetError(layout), &error);
  EXPECT_EQ(error, "expects resource 'missing' to be defined, but got none");
}

TEST_F(CAPIDialectTest, ReadsDynamicPatterns) {
  std::string error;
  MlirAttribute bsr = blocksparseBsrGet(context, 8, 4, 64, append, &error);
  ASSERT_FALSE(mlirAttributeIsNull(bsr)) << error;
  EXPECT_TRUE(blocksparseAttributeIsABsr(bsr));
  EXPECT_EQ(blocksparseBsrGetBlockRows(bsr), 8);
  EXPECT_EQ(blocksparseBsrGetBlockCols(bsr), 4);
  EXPECT_EQ(blocksparseBsrGetIndexWidth(bsr), 64u);

  EXPECT_TRUE(mlirAttributeIsNull(blocksparseBsrGet(context, 8, 0, 32, append, &error)));
  EXPECT_EQ(error, "expects a block of at least 1x1, but got 8x0");
}

TEST_F(CAPIDialectTest, KnowsTheTypeOfValues) {
  auto type = [&](const char *text) {
    return mlirTypeParseGet(context, mlirStringRefCreateFromCString(text));
  };
  MlirType sparse =
      type("tensor<4x32x32xf16, #blocksparse.layout<16x16, grid 2x2, mask \"10/11\">>");
  EXPECT_TRUE(
      mlirTypeEqual(blocksparseSparseTensorGetValuesType(sparse), type("tensor<12x16x16xf16>")));
  EXPECT_TRUE(mlirTypeIsNull(blocksparseSparseTensorGetValuesType(type("tensor<4xf16>"))));
}

} // namespace
