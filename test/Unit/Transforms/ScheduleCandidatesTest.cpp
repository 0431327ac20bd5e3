// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Transforms/Schedule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::TargetInfo;

namespace {

/// tile_m x tile_n of the candidates of "cuda.wgmma" for the one product of a program on an H100,
/// each once.
std::vector<std::pair<int64_t, int64_t>> wgmmaTiles(StringRef program) {
  MLIRContext context;
  context.loadDialect<BlockSparseDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program, &context);
  std::string error;
  std::optional<TargetInfo> target = TargetInfo::parse("cuda:sm_90a", error);
  if (!module || !target)
    return {};
  std::vector<std::pair<int64_t, int64_t>> tiles;
  module->walk([&](Operation *op) {
    if (needsSchedule(op))
      for (ScheduleAttr schedule : enumerateSchedules(op, *target))
        if (schedule.getKernel() == "cuda.wgmma")
          tiles.emplace_back(schedule.getTileM(), schedule.getTileN());
  });
  std::sort(tiles.begin(), tiles.end());
  return tiles;
}

using Tiles = std::vector<std::pair<int64_t, int64_t>>;

TEST(ScheduleCandidates, ProductsAtLargeBlocksWithAndWithoutClusters) {
  auto program = [](StringRef block, StringRef grid) {
    return ("#l = #blocksparse.layout<" + block + ", grid " + grid +
            ", dense>\n"
            "func.func @f(%a: tensor<256x64xf16>, %b: tensor<64x256xf16>)\n"
            "    -> tensor<256x256xf16, #l> {\n"
            "  %0 = blocksparse.sdd %a, %b\n"
            "      : (tensor<256x64xf16>, tensor<64x256xf16>) -> tensor<256x256xf16, #l>\n"
            "  return %0 : tensor<256x256xf16, #l>\n"
            "}\n")
        .str();
  };
  EXPECT_EQ(wgmmaTiles(program("128x128", "2x2")), (Tiles{{128, 256}, {128, 512}}));
  EXPECT_EQ(wgmmaTiles(program("64x64", "4x4")), (Tiles{{64, 384}, {128, 256}}));
}

TEST(ScheduleCandidates, DenseProductsWithAndWithoutClusters) {
  auto program = [](StringRef rows) {
    return ("func.func @f(%a: tensor<" + rows +
            "x64xf16>, %b: tensor<64x256xf16>)\n    -> tensor<" + rows +
            "x256xf16> {\n  %0 = blocksparse.matmul %a, %b : (tensor<" + rows +
            "x64xf16>, tensor<64x256xf16>) -> tensor<" + rows + "x256xf16>\n  return %0 : tensor<" +
            rows + "x256xf16>\n}\n")
        .str();
  };
  EXPECT_EQ(wgmmaTiles(program("256")), (Tiles{{128, 256}, {256, 256}}));
  EXPECT_EQ(wgmmaTiles(program("384")), (Tiles{{128, 256}}));
  EXPECT_EQ(wgmmaTiles(program("?")), (Tiles{{128, 256}}));
}

} // namespace
