// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse-c/Dialect.h"

#include "gtest/gtest.h"

#include <string>
#include <vector>

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

TEST_F(CAPIDialectTest, MakesLayoutsOfMasks) {
  const uint8_t mask[] = {1, 0, 7, 1};
  std::string error;
  MlirAttribute layout =
      blocksparseLayoutGetFromMask(context, {16, 16, 1, 2, 2}, 4, mask, append, &error);
  ASSERT_FALSE(mlirAttributeIsNull(layout)) << error;
  EXPECT_EQ(print(layout), "#blocksparse.layout<16x16, grid 2x2, mask \"10/11\">");
  uint8_t written[4] = {9, 9, 9, 9};
  EXPECT_FALSE(blocksparseLayoutWriteMask(layout, 3, written));
  EXPECT_EQ(written[0], 9);
  EXPECT_TRUE(blocksparseLayoutWriteMask(layout, 4, written));
  EXPECT_EQ(std::vector<uint8_t>(written, written + 4), (std::vector<uint8_t>{1, 0, 1, 1}));
  EXPECT_TRUE(mlirAttributeIsNull(
      blocksparseLayoutGetFromMask(context, {16, 16, 1, 2, 2}, 3, mask, append, &error)));
  EXPECT_NE(error.find("but got 3"), std::string::npos) << error;
}

TEST_F(CAPIDialectTest, MakesNamedLayouts) {
  std::string error;
  auto named = [&](const char *pattern) {
    return blocksparseLayoutGetNamed(context, {16, 16, 2, 4, 4},
                                     mlirStringRefCreateFromCString(pattern), append, &error);
  };
  MlirAttribute layout = named("bigbird(num_random_blocks = 1, seed = 7)");
  ASSERT_FALSE(mlirAttributeIsNull(layout)) << error;
  EXPECT_EQ(blocksparseLayoutGetShape(layout).heads, 2);
  MlirAttribute expanded = blocksparseLayoutGetExpanded(layout);
  EXPECT_EQ(blocksparseLayoutGetNumBlocks(expanded), blocksparseLayoutGetNumBlocks(layout));
  // Equal patterns are one attribute in CSR form.
  EXPECT_TRUE(mlirAttributeEqual(expanded, blocksparseLayoutGetExpanded(expanded)));
  EXPECT_FALSE(mlirAttributeEqual(expanded, layout));
  EXPECT_TRUE(mlirAttributeIsNull(named("smallbird")));
  EXPECT_NE(error.find("smallbird"), std::string::npos) << error;
  EXPECT_TRUE(mlirAttributeIsNull(named("dense> : i32, #blocksparse.bsr<1x1")));
}

TEST_F(CAPIDialectTest, MakesSchedules) {
  std::string error, text;
  auto get = [&](const char *words) {
    return blocksparseScheduleGet(context, mlirStringRefCreateFromCString(words), append, &error);
  };
  MlirAttribute schedule = get("cuda.wgmma, tile = 128x256, gather = true");
  ASSERT_FALSE(mlirAttributeIsNull(schedule)) << error;
  EXPECT_TRUE(blocksparseAttributeIsASchedule(schedule));
  append(blocksparseScheduleGetFamily(schedule), &text);
  EXPECT_EQ(text, "cuda.wgmma");
  text.clear();
  blocksparseSchedulePrint(schedule, append, &text);
  EXPECT_EQ(text, "cuda.wgmma, tile = 128x256, gather = true");
  text.clear();
  for (intptr_t i = 0; i < blocksparseScheduleGetNumParameters(schedule); ++i) {
    BlocksparseScheduleParameter parameter = blocksparseScheduleGetParameter(schedule, i);
    append(parameter.name, &text);
    text += " " + std::to_string(parameter.value) + " " + std::to_string(parameter.columns) + ", ";
  }
  EXPECT_EQ(text, "tile 128 256, stages 0 0, gather 1 0, cluster 1 0, ");
  EXPECT_EQ(blocksparseScheduleGetNumParameters(get("cuda.blocks")), 0);
  EXPECT_TRUE(mlirAttributeIsNull(get("cuda.wgmma, pipes = 4")));
  EXPECT_NE(error.find("but got 'pipes'"), std::string::npos) << error;
  EXPECT_FALSE(blocksparseAttributeIsASchedule(makeDiagonalLayout(context)));
}

TEST_F(CAPIDialectTest, MakesActivations) {
  std::string error, text;
  auto get = [&](const char *kind) {
    return blocksparseActivationGet(context, mlirStringRefCreateFromCString(kind), 0.25, append,
                                    &error);
  };
  MlirAttribute activation = get("leaky_relu");
  ASSERT_FALSE(mlirAttributeIsNull(activation)) << error;
  EXPECT_TRUE(blocksparseAttributeIsAActivation(activation));
  append(blocksparseActivationGetKind(activation), &text);
  EXPECT_EQ(text, "leaky_relu");
  EXPECT_EQ(blocksparseActivationGetSlope(activation), 0.25);
  EXPECT_EQ(print(get("silu")), "#blocksparse.activation<silu>");
  EXPECT_TRUE(mlirAttributeIsNull(get("swish")));
  EXPECT_EQ(error, "expects the name of an activation, but got 'swish'");
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
