// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests the builders that infer result types, also for ops that have no valid type.

#include "mlir/IR/Builders.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

class BuildersTest : public ::testing::Test {
protected:
  BuildersTest() : builder(&context) {
    context.loadDialect<BlockSparseDialect, tensor::TensorDialect>();
    module = ModuleOp::create(builder, builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
    layout = LayoutAttr::get(&context, pattern("101/011"));
  }

  /// Returns a layout of blocks of 16 x 8 on a grid of 2 x 3.
  ::blocksparse::BlockLayout pattern(StringRef digits) {
    std::vector<uint8_t> mask;
    for (char digit : digits)
      if (digit != '/')
        mask.push_back(digit == '1');
    std::string error;
    return *::blocksparse::BlockLayout::fromMask({16, 8}, {1, 2, 3}, mask, error);
  }

  Value dense(ArrayRef<int64_t> shape, Type element = {}) {
    return tensor::EmptyOp::create(builder, loc(), shape, element ? element : builder.getF32Type());
  }
  Location loc() { return builder.getUnknownLoc(); }
  RankedTensorType type(ArrayRef<int64_t> shape, Attribute encoding = {}) {
    return RankedTensorType::get(shape, builder.getF32Type(), encoding);
  }

  /// Returns the verifier's message about the module; empty if it is valid.
  std::string verify() {
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (message.empty())
        message = diagnostic.str();
      return success();
    });
    return succeeded(mlir::verify(*module)) ? "" : message;
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  LayoutAttr layout;
};

TEST_F(BuildersTest, Products) {
  auto sdd = SDDOp::create(builder, loc(), dense({5, 32, 4}), dense({24, 4}), layout,
                           /*transpose_a=*/false, /*transpose_b=*/true);
  EXPECT_EQ(sdd.getType(), type({5, 32, 24}, layout));
  EXPECT_TRUE(sdd.getTransposeB());
  EXPECT_TRUE(sdd.getAlpha().isExactlyValue(1.0));
  auto scaled = SDDOp::create(builder, loc(), dense({24, 4}), dense({4, 32}), layout, false, false,
                              /*transpose_out=*/true, /*alpha=*/0.5);
  EXPECT_EQ(scaled.getType(), type({32, 24}, layout));

  auto dsd = DSDOp::create(builder, loc(), sdd, dense({24, 7}));
  EXPECT_EQ(dsd.getType(), type({5, 32, 7}));
  auto transposed = DSDOp::create(builder, loc(), sdd, dense({7, 32}), true, true);
  EXPECT_EQ(transposed.getType(), type({5, 24, 7}));
  auto dds = DDSOp::create(builder, loc(), dense({7, 32}), sdd);
  EXPECT_EQ(dds.getType(), type({5, 7, 24}));
  auto matmul = MatmulOp::create(builder, loc(), dense({7, 32}), dense({3, 9, 32}), false, true);
  EXPECT_EQ(matmul.getType(), type({3, 7, 9}));
  auto sampled = SampledAddmmOp::create(builder, loc(), scaled, dense({32, 2}), dense({2, 24}));
  EXPECT_EQ(sampled.getType(), scaled.getType());
  EXPECT_EQ(verify(), "");
}

TEST_F(BuildersTest, IntegerProductsAreWide) {
  Type i8 = builder.getI8Type();
  auto matmul = MatmulOp::create(builder, loc(), dense({7, 32}, i8), dense({32, 9}, i8));
  EXPECT_EQ(matmul.getType(), RankedTensorType::get({7, 9}, builder.getI32Type()));
  EXPECT_EQ(verify(), "");
}

TEST_F(BuildersTest, SoftmaxAndAttention) {
  auto x = FromDenseOp::create(builder, loc(), dense({4, 32, 24}), layout);
  auto plain = SoftmaxOp::create(builder, loc(), x, /*scale=*/0.5);
  EXPECT_EQ(plain.getY().getType(), x.getType());
  EXPECT_FALSE(plain.getLse());
  auto full = SoftmaxOp::create(builder, loc(), x, 1.0, /*causal=*/true, /*withLse=*/true);
  EXPECT_EQ(full.getLse().getType(), type({4, 32}));
  auto attention = AttentionOp::create(builder, loc(), dense({2, 4, 32, 6}), dense({4, 24, 6}),
                                       dense({24, 5}), layout, 0.25);
  EXPECT_EQ(attention.getOut().getType(), type({2, 4, 32, 5}));
  EXPECT_EQ(attention.getLse().getType(), type({2, 4, 32}));
  EXPECT_EQ(verify(), "");
}

TEST_F(BuildersTest, Conversions) {
  auto sparse = FromDenseOp::create(builder, loc(), dense({32, 24}), layout);
  EXPECT_EQ(ToDenseOp::create(builder, loc(), sparse).getType(), type({32, 24}));
  auto transposed = TransposeOp::create(builder, loc(), sparse);
  EXPECT_EQ(transposed.getType(),
            type({24, 32}, LayoutAttr::get(&context, pattern("101/011").transposed())));
  auto parts = DisassembleOp::create(builder, loc(), transposed);
  EXPECT_EQ(parts.getValues().getType(), type({4, 8, 16}));

  auto bsr = BsrAttr::get(&context, {16, 8}, 64);
  Value dynamic =
      UnrealizedConversionCastOp::create(builder, loc(), type({32, 24}, bsr), ValueRange())
          .getResult(0);
  auto flipped = TransposeOp::create(builder, loc(), dynamic);
  EXPECT_EQ(flipped.getType(), type({24, 32}, BsrAttr::get(&context, {8, 16}, 64)));
  auto dynamicParts = DisassembleOp::create(builder, loc(), flipped);
  EXPECT_EQ(dynamicParts.getCrowIndices().getType(),
            RankedTensorType::get({4}, builder.getI64Type()));
  EXPECT_EQ(verify(), "");
}

TEST_F(BuildersTest, WhatDoesNotFitIsForTheVerifier) {
  MatmulOp::create(builder, loc(), dense({7, 32}), dense({31, 9}));
  EXPECT_EQ(verify(),
            "'blocksparse.matmul' op expects b to have 32 rows, the columns of a, but got 31");
}

TEST_F(BuildersTest, AttentionOfVectorsIsForTheVerifier) {
  AttentionOp::create(builder, loc(), dense({7}), dense({7}), dense({}), layout);
  EXPECT_EQ(verify(), "'blocksparse.attention' op expects q of rank 2 to 4, but got rank 1");
}

TEST_F(BuildersTest, EqualPatternsAreOneAttribute) {
  EXPECT_EQ(layout, LayoutAttr::get(&context, pattern("101/011")));
  EXPECT_NE(layout, LayoutAttr::get(&context, pattern("101/111")));
  EXPECT_EQ(layout.getExpanded(), layout);
  EXPECT_EQ(layout.resolve()->nnz(), 4);
}

TEST_F(BuildersTest, TakesSparseTypesApart) {
  SparseTensor sparse = *SparseTensor::get(type({3, 5, 20, 24}, layout));
  EXPECT_TRUE(sparse.isStatic());
  EXPECT_EQ(sparse.getHeads(), 5);
  EXPECT_EQ(sparse.getLutHeads(), 1);
  EXPECT_EQ(sparse.getStoredBlocks(), 20);
  EXPECT_EQ(sparse.getBlockRows(), 2);
  EXPECT_EQ(sparse.getValuesType(), type({3, 20, 16, 8}));
  EXPECT_FALSE(SparseTensor::get(type({20, 24})));
  EXPECT_FALSE(SparseTensor::get(builder.getF32Type()));
}

} // namespace
