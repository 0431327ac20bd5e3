// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/KernelFamilies.h"

#include "gtest/gtest.h"

using namespace blocksparse;

namespace {

TargetInfo target(const char *text) {
  std::string error;
  return TargetInfo::parse(text, error).value();
}

/// Returns a problem of f16 that every kernel for its blocks computes.
KernelProblem problem(ProblemKind kind, BlockShape block) {
  KernelProblem result;
  result.kind = kind;
  result.a = result.b = result.out = ElementType::f16;
  result.block = block;
  result.rows = result.cols = result.depth = 4096;
  result.staticPattern = result.staticShapes = true;
  return result;
}

using Families = std::vector<KernelFamily>;

TEST(KernelFamilies, BlocksDecideWhichKernelsComputeAReduction) {
  const TargetInfo hopper = target("cuda:sm_90a");
  auto families = [&](BlockShape block) {
    return getFamilies(problem(ProblemKind::Reduction, block), hopper);
  };
  EXPECT_EQ(families({128, 64}),
            (Families{KernelFamily::CUDAWgmma, KernelFamily::CUDAMma, KernelFamily::CUDASimt}));
  EXPECT_EQ(families({32, 32}), (Families{KernelFamily::CUDAStream, KernelFamily::CUDAStreamWgmma,
                                          KernelFamily::CUDAMma, KernelFamily::CUDASimt}));
  // Both sides of a block must be multiples of 16 for mma.sync; stream kernels plan others.
  const Families planned{KernelFamily::CUDAStream, KernelFamily::CUDAStreamWgmma,
                         KernelFamily::CUDASimt};
  EXPECT_EQ(families({16, 24}), planned);
  EXPECT_EQ(families({1, 3}), planned);
  const TargetInfo ampere = target("cuda:sm_80");
  for (BlockShape block : {BlockShape{16, 24}, {24, 16}})
    EXPECT_EQ(getFamilies(problem(ProblemKind::Reduction, block), ampere),
              (Families{KernelFamily::CUDASimt}));
  EXPECT_EQ(checkSupport(KernelFamily::CUDAMma, problem(ProblemKind::Reduction, {16, 24}), hopper),
            "expects blocks of multiples of 16x16, but got 16x24");
}

TEST(KernelFamilies, ProductsOfFewColumnsHaveAFamily) {
  const TargetInfo ampere = target("cuda:sm_80");
  KernelProblem product = problem(ProblemKind::Reduction, {16, 24});
  auto reason = [&] { return checkSupport(KernelFamily::CUDASkinny, product, ampere); };
  EXPECT_EQ(reason(), "expects from 1 to 64 columns, but got 4096");
  product.cols = unknownSize;
  EXPECT_EQ(reason(), "expects from 1 to 64 columns, but got an unknown one");
  product.cols = 1;
  EXPECT_EQ(getFamilies(product, ampere),
            (Families{KernelFamily::CUDASkinny, KernelFamily::CUDASimt}));
  product.depth = 4092;
  EXPECT_EQ(reason(), "expects a reduction of a multiple of 8, but got 4092");
  product.block.cols = 20;
  EXPECT_EQ(reason(), "expects blocks of a multiple of 8 columns, but got 20");
  product.transposedBlocks = true;
  EXPECT_EQ(reason(), "expects blocks that are stored as they are multiplied, but got their "
                      "transposes");
  product.a = ElementType::f32;
  EXPECT_EQ(reason(), "expects factors of one type, f16 or bf16, but got f32 and f16");
}

TEST(KernelFamilies, SchedulesOfFewColumnsFitTheProblem) {
  const TargetInfo hopper = target("cuda:sm_90a");
  KernelProblem product = problem(ProblemKind::Reduction, {16, 24});
  product.cols = 12;
  auto fault = [&](SkinnyParams params) {
    return checkSchedule(Schedule(KernelFamily::CUDASkinny, params), product, hopper);
  };
  EXPECT_EQ(fault({}), "");
  EXPECT_EQ(fault({{16, 16}, 4, 2}), "");
  EXPECT_EQ(fault({{16, 8}}), "expects a tile of 16 columns for 12 columns, but got 8");
  EXPECT_EQ(fault({{32, 16}}), "expects a tile of 16 rows or of less than twice the block rows of "
                               "16, but got 32");
  product.block.rows = 128;
  product.cols = 64;
  EXPECT_EQ(fault({{128, 64}}), "expects a tile of at most 4096 elements, but got 128x64");
  EXPECT_EQ(fault({{64, 64}, 16}), "expects warps whose sums fit 232448 bytes of shared memory, "
                                   "but got 16 of 262144 bytes together");
}

TEST(KernelFamilies, EveryProblemHasAKernel) {
  for (const char *text : {"cpu", "cuda:sm_80", "cuda:sm_90a"})
    for (ProblemKind kind : {ProblemKind::Reduction, ProblemKind::Sampled, ProblemKind::Dense,
                             ProblemKind::Scatter, ProblemKind::Rows, ProblemKind::Blocks}) {
      KernelProblem any;
      any.kind = kind;
      EXPECT_FALSE(getFamilies(any, target(text)).empty());
    }
}

TEST(KernelFamilies, ElementsAndChunksDecideWhichKernelsComputeRows) {
  const TargetInfo hopper = target("cuda:sm_90a");
  const Families fast{KernelFamily::CUDARows, KernelFamily::CUDASimt},
      scalar{KernelFamily::CUDASimt};
  KernelProblem softmax = problem(ProblemKind::Rows, {16, 24});
  softmax.b.reset();
  auto reason = [&] { return checkSupport(KernelFamily::CUDARows, softmax, hopper); };
  EXPECT_EQ(getFamilies(softmax, hopper), fast);
  EXPECT_EQ(getRowChunk(softmax), 8);
  softmax.block.cols = 20;
  EXPECT_EQ(getFamilies(softmax, hopper), scalar);
  EXPECT_EQ(reason(), "expects blocks of a multiple of 8 columns, but got 20");
  // f32 has chunks of 4 elements, if the result is f32 as well.
  softmax.a = ElementType::f32;
  EXPECT_EQ(getFamilies(softmax, hopper), scalar);
  softmax.out = ElementType::f32;
  EXPECT_EQ(getFamilies(softmax, hopper), fast);
  softmax.a = softmax.out = ElementType::f64;
  EXPECT_EQ(getFamilies(softmax, hopper), scalar);
  EXPECT_EQ(reason(), "expects elements of f16, bf16 or f32, but got f64");
  KernelProblem gradient = problem(ProblemKind::Rows, {16, 16});
  EXPECT_EQ(getFamilies(gradient, hopper), fast);
  gradient.b = ElementType::f64;
  EXPECT_EQ(getFamilies(gradient, hopper), scalar);
}

TEST(KernelFamilies, OperandsDecideWhichKernelsComputeRows) {
  const TargetInfo hopper = target("cuda:sm_90a");
  KernelProblem softmax = problem(ProblemKind::Rows, {16, 16});
  auto reason = [&] { return checkSupport(KernelFamily::CUDARows, softmax, hopper); };
  softmax.rowOperands = {{ElementType::f32, false}, {ElementType::i8, true}};
  EXPECT_EQ(reason(), "");
  softmax.cols = 1020;
  EXPECT_EQ(reason(), "expects a multiple of 8 columns beside a bias or mask, but got 1020");
  softmax.cols = unknownSize;
  EXPECT_EQ(reason(),
            "expects a multiple of 8 columns beside a bias or mask, but got an unknown one");
  // An operand of one column is read as a scalar.
  softmax.rowOperands = {{ElementType::f32, true}};
  EXPECT_EQ(reason(), "");
  softmax.rowOperands = {{ElementType::i64, true}};
  EXPECT_EQ(reason(), "expects biases and masks of f16, bf16, f32, i8 or i32, but got i64");
}

TEST(KernelFamilies, ReasonsSayWhatIsMissing) {
  const TargetInfo hopper = target("cuda:sm_90a"), ampere = target("cuda:sm_80");
  auto reason = [&](KernelFamily family, const KernelProblem &p) {
    return checkSupport(family, p, hopper);
  };
  KernelProblem p = problem(ProblemKind::Reduction, {64, 64});
  EXPECT_EQ(reason(KernelFamily::CUDAWgmma, p), "");
  EXPECT_EQ(checkSupport(KernelFamily::CUDAWgmma, p, ampere),
            "expects a chip with wgmma and TMA, but got one without");
  EXPECT_EQ(checkSupport(KernelFamily::CPUPanel, p, ampere),
            "expects a CPU, but got " + ampere.toString());
  EXPECT_EQ(reason(KernelFamily::CUDAStream, p),
            "expects blocks of no multiples of 64x64, but got 64x64");
  // Rows of 101 elements are copied to aligned ones.
  p.cols = 101;
  EXPECT_EQ(reason(KernelFamily::CUDAWgmma, p), "");
  p.cols = unknownSize;
  EXPECT_EQ(reason(KernelFamily::CUDAWgmma, p),
            "expects at least one column, but got an unknown one");
  p.cols = 128;
  p.int32Coordinates = false;
  EXPECT_EQ(reason(KernelFamily::CUDAWgmma, p),
            "expects coordinates below 2^31, but got larger operands");
  KernelProblem sampled = problem(ProblemKind::Sampled, {32, 32});
  sampled.transposeB = true;
  EXPECT_EQ(reason(KernelFamily::CUDAWgmmaTransposed, sampled),
            "expects a factor that is not K-major, but got two that are");
  sampled.transposeB = false;
  sampled.depth = 36;
  EXPECT_EQ(reason(KernelFamily::CUDAWgmma, sampled), "");
  EXPECT_EQ(reason(KernelFamily::CUDAWgmmaTransposed, sampled),
            "expects a reduction of a multiple of 8, but got 36");
  sampled.addsInput = true;
  EXPECT_EQ(reason(KernelFamily::CUDAWgmma, sampled),
            "expects beta = 0, but got an input that is added");
  sampled.addsInput = false;
  sampled.dynamicAlpha = true;
  EXPECT_EQ(reason(KernelFamily::CUDAWgmma, sampled),
            "expects alpha as an attribute, but got an operand");
  EXPECT_EQ(reason(KernelFamily::CUDAMma, sampled), "");
  EXPECT_EQ(
      reason(KernelFamily::CUDAMma, problem(ProblemKind::Scatter, {16, 16})),
      "expects a reduction over block rows or a product at the blocks of a pattern or a dense "
      "product, but got a product of gathered blocks");
  KernelProblem f8 = problem(ProblemKind::Dense, {});
  f8.a = f8.b = ElementType::f8E5M2;
  EXPECT_EQ(checkSupport(KernelFamily::CUDAMma, f8, ampere),
            "expects a chip that converts f8 to f16 (from sm_90 on), but got one that does not");
  KernelProblem f32 = problem(ProblemKind::Dense, {});
  f32.a = f32.b = f32.out = ElementType::f32;
  EXPECT_FALSE(supports(KernelFamily::CUDAMma, f32, ampere));
  EXPECT_TRUE(supports(KernelFamily::CUDAFma, f32, ampere));
  f32.roundsF32 = true;
  EXPECT_TRUE(supports(KernelFamily::CUDAMma, f32, ampere));
  EXPECT_EQ(checkSupport(KernelFamily::CUDAFma, f32, ampere),
            "expects factors of one type, f64 or f32 of the precision ieee, but got f32 and f32");
}

TEST(KernelFamilies, ExactProductsHaveAFamily) {
  const TargetInfo ampere = target("cuda:sm_80");
  const Families exact{KernelFamily::CUDAFma, KernelFamily::CUDASimt};
  for (ElementType type : {ElementType::f32, ElementType::f64})
    for (ProblemKind kind : {ProblemKind::Reduction, ProblemKind::Sampled, ProblemKind::Dense}) {
      KernelProblem product = problem(kind, {48, 16});
      product.a = product.b = product.out = type;
      EXPECT_EQ(getFamilies(product, ampere), exact);
      product.block = {24, 16};
      EXPECT_EQ(supports(KernelFamily::CUDAFma, product, ampere), kind == ProblemKind::Dense);
    }
  KernelProblem f64 = problem(ProblemKind::Reduction, {128, 128});
  f64.a = f64.b = f64.out = ElementType::f64;
  EXPECT_EQ(checkSupport(KernelFamily::CUDAMma, f64, ampere),
            "expects a chip with mma.sync m16n8k4 of f64 (from sm_90 on), but got one without");
  EXPECT_EQ(getFamilies(f64, target("cuda:sm_90a")),
            (Families{KernelFamily::CUDAMma, KernelFamily::CUDAFma, KernelFamily::CUDASimt}));
  EXPECT_EQ(checkSchedule(Schedule(KernelFamily::CUDAFma, MmaParams{{128, 128}, 4}), f64, ampere),
            "expects a tile of at most 64x128 for f64, but got 128x128");
  EXPECT_EQ(checkSchedule(Schedule(KernelFamily::CUDAFma, MmaParams{{64, 128}, 4}), f64, ampere),
            "");
}

TEST(KernelFamilies, WgmmaMultipliesKMajorBytes) {
  const TargetInfo hopper = target("cuda:sm_90a");
  KernelProblem bytes = problem(ProblemKind::Reduction, {64, 128});
  bytes.a = bytes.b = ElementType::i8;
  bytes.out = ElementType::i32;
  EXPECT_EQ(getFamilies(bytes, hopper),
            (Families{KernelFamily::CUDAWgmma, KernelFamily::CUDAMma, KernelFamily::CUDASimt}));
  bytes.cols = 83;
  EXPECT_EQ(checkSupport(KernelFamily::CUDAWgmma, bytes, hopper),
            "expects a K-major dense factor of bytes, or a multiple of 16 columns, but got 83 "
            "columns");
  bytes.denseKMajor = true;
  EXPECT_EQ(checkSupport(KernelFamily::CUDAWgmma, bytes, hopper), "");
  bytes.transposedBlocks = true;
  EXPECT_EQ(checkSupport(KernelFamily::CUDAWgmma, bytes, hopper),
            "expects blocks of bytes that are stored as they are multiplied, but got their "
            "transposes");
  bytes.transposedBlocks = false;
  bytes.cols = 256;
  auto fault = [&](const WgmmaParams &params) {
    return checkSchedule(Schedule(KernelFamily::CUDAWgmma, params), bytes, hopper);
  };
  EXPECT_EQ(fault({{128, 256}, 8}), "");
  EXPECT_EQ(fault({{128, 256}, 4, false, 2}),
            "expects cluster = 1 for factors of bytes, but got 2");
  bytes.a = bytes.b = bytes.out = ElementType::f8E4M3FN;
  EXPECT_EQ(fault({{128, 128}, 8}), "");
  EXPECT_EQ(fault({{128, 256}, 8}), "expects a tile of at most 128 columns for f8, but got 256");
}

TEST(KernelFamilies, SizesThatNoKernelHonoursAreFound) {
  const TargetInfo hopper = target("cuda:sm_90a");
  auto fault = [&](const Schedule &schedule, const KernelProblem &p) {
    return checkSchedule(schedule, p, hopper);
  };
  const KernelProblem reduction = problem(ProblemKind::Reduction, {64, 64});
  auto wgmma = [](WgmmaParams params) { return Schedule(KernelFamily::CUDAWgmma, params); };
  EXPECT_EQ(fault(wgmma({{128, 256}, 4, false, 2}), reduction), "");
  EXPECT_EQ(fault(wgmma({{128, 256}, 8}), reduction),
            "expects stages that fit 232448 bytes of shared memory, but got 8 of 427392 bytes "
            "together");
  EXPECT_EQ(fault(wgmma({{128, 256}, 4, true}), reduction),
            "expects gather = false for a reduction over block rows, but got true");
  EXPECT_EQ(fault(wgmma({{128, 128}, 4, false, 2}), reduction),
            "expects a tile of 128x256 with cluster = 2, but got 128x128");
  const KernelProblem sampled = problem(ProblemKind::Sampled, {64, 64});
  EXPECT_EQ(fault(wgmma({{64, 384}}), sampled), "");
  EXPECT_EQ(fault(wgmma({{128, 256}}), sampled),
            "expects a tile of 64x384 for blocks of 64x64, but got 128x256");
  EXPECT_EQ(fault(wgmma({{128, 256}, 0, true}), sampled), "");
  EXPECT_EQ(fault(wgmma({{128, 256}, 0, false, 2}), sampled),
            "expects cluster = 1 for block rows of no multiple of 128, but got 2");
  const Schedule tall(KernelFamily::CUDAMma, MmaParams{{128, 64}, 4});
  EXPECT_EQ(fault(tall, problem(ProblemKind::Reduction, {48, 16})),
            "expects rows of a tile that divide block rows of 48, but got 128");
  KernelProblem stream = problem(ProblemKind::Reduction, {16, 16});
  const Schedule quads(KernelFamily::CUDAStream, StreamParams{{384, 128}, 8, 4, 3, 12});
  EXPECT_EQ(
      fault(quads, stream),
      "expects panels_per_copy = 1, or 4 for a multiple of 4 panels of a K-major operand with "
      "blocks of 16, but got 4");
  stream.denseKMajor = true;
  EXPECT_EQ(fault(quads, stream), "");
  stream.block = {48, 48};
  EXPECT_EQ(fault(quads, stream),
            "expects block = 16 or 32 for blocks of 48x48 in a reduction of 4096, but got none");
  EXPECT_EQ(
      fault(Schedule(KernelFamily::CUDAStream, StreamParams{{384, 128}, 8, 4, 3, 12, 16}), stream),
      "");
  stream.denseKMajor = false;
  stream.cols = 200;
  EXPECT_EQ(
      fault(Schedule(KernelFamily::CUDAStream, StreamParams{{384, 128}, 8, 1, 3, 12, 16}), stream),
      "expects column tiles of 64 for a number of columns that is no multiple of 64, but got 128 "
      "for 200");
  stream.denseKMajor = true;
  stream.cols = 40;
  EXPECT_EQ(
      fault(Schedule(KernelFamily::CUDAStream, StreamParams{{384, 128}, 8, 4, 3, 12, 16}), stream),
      "expects column tiles of at most 64 columns for 40 columns, but got 128");
  EXPECT_EQ(fault(Schedule(KernelFamily::CUDARows, RowParams{12}), problem(ProblemKind::Rows, {})),
            "expects elements_per_lane that are a multiple of 8, but got 12");
  EXPECT_EQ(fault(Schedule(KernelFamily::CUDASimt, SimtParams{4}), problem(ProblemKind::Dense, {})),
            "expects split = 0 for a dense product, but got 4");
}

TEST(KernelFamilies, TilesOfMmaCoverOrDivide) {
  EXPECT_EQ(fitMmaTile(1, 128), 16);
  EXPECT_EQ(fitMmaTile(17, 128), 32);
  EXPECT_EQ(fitMmaTile(1000, 256), 256);
  EXPECT_EQ(fitMmaTile(unknownSize, 128), 128);
  EXPECT_EQ(divideMmaTile(48, 128), 16);
  EXPECT_EQ(divideMmaTile(256, 128), 128);
  EXPECT_EQ(fitDenseWgmmaCols(130), 192);
  EXPECT_EQ(fitDenseWgmmaCols(unknownSize), 256);
}

} // namespace
