// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The offsets that SharedTile emits, folded on constants, against the swizzle by which the planner
// packs constants.

#include "Conversion/BlockSparseToGPU/Kit/SharedTile.h"
#include "blocksparse/Plan/Swizzle.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

namespace {

TEST(SharedTile, OffsetsAreThoseOfTheSwizzle) {
  MLIRContext context;
  context.loadDialect<arith::ArithDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  ImplicitLocOpBuilder b =
      ImplicitLocOpBuilder::atBlockBegin(UnknownLoc::get(&context), module->getBody());
  for (int64_t cols : {8, 16, 32, 64, 128})
    for (bool pairs : {false, true}) {
      const SharedTile tile{32, cols, pairs};
      if (pairs && tile.chunks() < 4)
        continue;
      for (int64_t base : {0, 16})
        for (int64_t row = 0; row < 16; ++row)
          for (int64_t chunk = 0; chunk < tile.chunks(); ++chunk) {
            Value offset =
                tile.offset(b, i32Constant(b, base), i32Constant(b, row), i32Constant(b, chunk));
            const int64_t stored =
                ::blocksparse::swizzleChunk(tile.chunks(), row, chunk, tile.pairs);
            EXPECT_EQ(knownIndex(offset), (base + row) * cols * 2 + stored * 16)
                << cols << " columns, row " << row << ", chunk " << chunk;
          }
    }
}

} // namespace
