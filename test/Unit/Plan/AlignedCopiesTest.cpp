// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/AlignedCopies.h"
#include "PlanTargets.h"

#include "gtest/gtest.h"

using namespace blocksparse;

namespace {

/// Returns a reduction of f16 with `cols` columns.
KernelProblem reduction(int64_t rows, int64_t cols, int64_t depth) {
  KernelProblem problem;
  problem.kind = ProblemKind::Reduction;
  problem.a = problem.b = problem.out = ElementType::f16;
  problem.rows = rows;
  problem.cols = cols;
  problem.depth = depth;
  return problem;
}

TEST(AlignedCopies, RowsOfWholeChunksAreAligned) {
  EXPECT_TRUE(hasAlignedRows(4000, ElementType::f16));
  EXPECT_FALSE(hasAlignedRows(4001, ElementType::f16));
  EXPECT_FALSE(hasAlignedRows(4004, ElementType::f16));
  EXPECT_TRUE(hasAlignedRows(4004, ElementType::f32));
  EXPECT_TRUE(hasAlignedRows(4002, ElementType::f64));
  EXPECT_FALSE(hasAlignedRows(4008, ElementType::i8));
  EXPECT_TRUE(hasAlignedRows(unknownSize, ElementType::f16));
}

TEST(AlignedCopies, UnalignedMatricesAreCounted) {
  KernelProblem problem = reduction(4096, 4001, 2048);
  EXPECT_EQ(AlignedCopies::get(problem, /*storesByTMA=*/false).bytes, 2048 * 4001 * 2);
  const AlignedCopies both = AlignedCopies::get(problem, /*storesByTMA=*/true);
  EXPECT_EQ(both.bytes, (2048 + 4096) * 4001 * 2);
  EXPECT_EQ(both.kernels, 2);
  // The contiguous axis of a K-major factor is the depth.
  problem.denseKMajor = true;
  EXPECT_EQ(AlignedCopies::get(problem, /*storesByTMA=*/false).kernels, 0);
  problem.depth = 2047;
  EXPECT_EQ(AlignedCopies::get(problem, /*storesByTMA=*/false).bytes, 2047 * 4001 * 2);
  EXPECT_EQ(AlignedCopies::get(reduction(4096, 4000, 2048), /*storesByTMA=*/true).kernels, 0);
}

TEST(AlignedCopies, TimeGrowsWithBytesAndProducts) {
  const GPUFacts gpu = test::gpuOf("cuda:sm_90a,device=h200");
  const AlignedCopies copies =
      AlignedCopies::get(reduction(4096, 4001, 4096), /*storesByTMA=*/false);
  const double once = copies.estimateSeconds(1, gpu);
  // A copy of 33 MB takes about 20 us.
  EXPECT_GT(once, 10e-6);
  EXPECT_LT(once, 30e-6);
  EXPECT_GT(copies.estimateSeconds(3, gpu), 2 * once);
}

TEST(AlignedCopies, SmallProductsAreScalar) {
  const GPUFacts &gpu = test::hopper;
  const KernelProblem small = reduction(256, 35, 256);
  EXPECT_TRUE(prefersScalarKernels(small, 1, 2.0 * 256 * 256 * 35 / 2, gpu));
  const KernelProblem large = reduction(4096, 4001, 4096);
  EXPECT_FALSE(prefersScalarKernels(large, 1, 2.0 * 4096 * 4096 * 4001 / 100, gpu));
  // Aligned rows need no copies.
  EXPECT_FALSE(prefersScalarKernels(reduction(256, 32, 256), 1, 1e3, gpu));
}

} // namespace
