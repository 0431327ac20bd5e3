// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests the epilogue of a warp tile: compiles it for the host, lane after lane, and checks that
// pairs and single elements are loaded for the right accumulators. (Pairs that lanes exchange need
// a GPU.)

#include "Conversion/BlockSparseToGPU/Operands/FragmentEpilogue.h"
#include "../../ElementMap.h"
#include "Conversion/BlockSparseToGPU/Kit/SharedTile.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <string>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

namespace {

/// Describes a residual [rows, cols] with strides (row, column), and the accumulators that it is
/// added to.
struct Problem {
  const char *element;
  int64_t rows, cols, rowStride, colStride;
  bool transposed = false;
};

constexpr int64_t firstRow = 16, firstCol = 16, fragments = 4;

/// Emits out = relu(accumulator + bias) + residual for the warp tile, whose accumulators are
/// [16][16 * fragments].
void emitWarpTile(ImplicitLocOpBuilder &b, func::FuncOp function, PlannedMatmulOp op,
                  const Problem &problem) {
  Epilogue epilogue = Epilogue::get(b, op, IRMapping());
  DenseView result = DenseView::get(b, op.getResidual());
  Value zero = indexConstant(b, 0), one = indexConstant(b, 1), lanes = indexConstant(b, 32);
  auto body = [&](OpBuilder &builder, Location loc, Value number, ValueRange) {
    ImplicitLocOpBuilder b(loc, builder);
    auto toIndex = [&](Value value) {
      return arith::IndexCastOp::create(b, b.getIndexType(), value).getResult();
    };
    WarpTilePosition warpTile;
    warpTile.batch = warpTile.head = zero;
    warpTile.row = i32Constant(b, firstRow);
    warpTile.col = i32Constant(b, firstCol);
    warpTile.rows = problem.transposed ? result.cols() : result.rows();
    warpTile.cols = problem.transposed ? result.rows() : result.cols();
    warpTile.lane = arith::IndexCastOp::create(b, b.getI32Type(), number);
    warpTile.transposed = problem.transposed;
    Value group = Int(b, warpTile.lane) / 4;
    Value pair = Int(b, warpTile.lane) % 4 * 2;
    FragmentEpilogue epilogueOfWarpTile(b, epilogue, warpTile, fragments, /*registers=*/24);
    for (int64_t fragment = 0; fragment < fragments; ++fragment) {
      SmallVector<Value> rows, cols, accumulators;
      for (int64_t i = 0; i < FragmentEpilogue::fragmentAccumulators; ++i) {
        int64_t matrix = i / 2, fixed = 16 * fragment + 8 * (matrix / 2) + i % 2;
        rows.push_back(toIndex(Int(b, group) + (8 * (matrix % 2))));
        cols.push_back(toIndex(Int(b, pair) + fixed));
        accumulators.push_back(memref::LoadOp::create(b, function.getArgument(5),
                                                      ValueRange{rows.back(), cols.back()}));
      }
      epilogueOfWarpTile.finish(b, fragment, accumulators);
      for (auto [row, col, sum] : llvm::zip_equal(rows, cols, accumulators))
        memref::StoreOp::create(b, sum, function.getArgument(6), ValueRange{row, col});
    }
    scf::YieldOp::create(b);
  };
  scf::ForOp::create(b, zero, lanes, one, ValueRange{}, body);
}

template <typename T>
void check(const Problem &problem) {
  MLIRContext context;
  loadAllDialects(context);
  std::string element = problem.element;
  std::string source =
      "func.func @warpTile(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %bias: memref<?x" + element +
      ">, %r: memref<?x?x" + element +
      ", strided<[?, ?], offset: ?>>, %c: memref<?x?xf16>, %accumulators: memref<?x?xf32>, %out: "
      "memref<?x?xf32>) {\n"
      "  blocksparse.planned_matmul %a, %b bias(%bias) residual(%r) outs(%c) "
      "{activation = #blocksparse.activation<relu>} : (memref<?x?xf16>, memref<?x?xf16>, "
      "memref<?x" +
      element + ">, memref<?x?x" + element +
      ", strided<[?, ?], offset: ?>>, memref<?x?xf16>) -> ()\n"
      "  return\n"
      "}\n";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  ASSERT_TRUE(module);
  auto function = module->lookupSymbol<func::FuncOp>("warpTile");
  PlannedMatmulOp op = *function.getOps<PlannedMatmulOp>().begin();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  emitWarpTile(b, function, op, problem);
  op.erase();
  HostFunction run(*module, "warpTile");
  ASSERT_TRUE(run.isReady());

  constexpr int64_t rows = 16, cols = 16 * fragments;
  std::vector<T> bias(problem.cols),
      residual(1 + (problem.rows - 1) * problem.rowStride + (problem.cols - 1) * problem.colStride);
  std::vector<float> accumulators(rows * cols), out(rows * cols);
  for (size_t i = 0; i < bias.size(); ++i)
    bias[i] = static_cast<T>(static_cast<int>(i % 64));
  for (size_t i = 0; i < residual.size(); ++i)
    residual[i] = static_cast<T>(static_cast<int>((7 * i) % 1021));
  for (size_t i = 0; i < accumulators.size(); ++i)
    accumulators[i] = static_cast<float>(static_cast<int>(i % 97) - 60);
  auto address = [](const void *data) { return reinterpret_cast<int64_t>(data); };
  auto matrix = [&](const void *data, int64_t r, int64_t c, int64_t rs, int64_t cs) {
    return std::vector<int64_t>{address(data), address(data), 0, r, c, rs, cs};
  };
  std::vector<std::vector<int64_t>> descriptors{
      matrix(nullptr, 0, 0, 0, 1),
      matrix(nullptr, 0, 0, 0, 1),
      {address(bias.data()), address(bias.data()), 0, problem.cols, 1},
      matrix(residual.data(), problem.rows, problem.cols, problem.rowStride, problem.colStride),
      matrix(nullptr, 0, 0, 0, 1),
      matrix(accumulators.data(), rows, cols, cols, 1),
      matrix(out.data(), rows, cols, cols, 1)};
  std::vector<void *> pointers, arguments;
  for (std::vector<int64_t> &descriptor : descriptors)
    pointers.push_back(descriptor.data());
  for (void *&pointer : pointers)
    arguments.push_back(&pointer);
  run(arguments.data());

  for (int64_t row = 0; row < rows; ++row)
    for (int64_t col = 0; col < cols; ++col) {
      int64_t r = firstRow + row, c = firstCol + col;
      if (problem.transposed)
        std::swap(r, c);
      if (r >= problem.rows || c >= problem.cols)
        continue;
      float sum = accumulators[row * cols + col] + static_cast<float>(bias[c]);
      float expected = std::max(sum, 0.0f) +
                       static_cast<float>(residual[r * problem.rowStride + c * problem.colStride]);
      ASSERT_EQ(out[row * cols + col], expected) << "row " << row << " column " << col;
    }
}

} // namespace

TEST(FragmentEpilogue, LoadsPairsOfHalves) { check<_Float16>({"f16", 64, 96, 96, 1}); }

TEST(FragmentEpilogue, LoadsPairsOfFloats) { check<float>({"f32", 64, 96, 96, 1}); }

TEST(FragmentEpilogue, StaysInsideOfTheResult) {
  // Rows 8-15, the last fragment and half of another one are outside of the result.
  check<_Float16>({"f16", 23, 56, 56, 1});
  check<float>({"f32", 23, 51, 52, 1});
}

TEST(FragmentEpilogue, LoadsElementsWherePairsAreNone) {
  // Odd pitches, columns that are not neighbours in memory, and a column-major matrix.
  check<_Float16>({"f16", 64, 96, 97, 1});
  check<_Float16>({"f16", 64, 96, 200, 2});
  check<float>({"f32", 64, 96, 1, 64});
}

TEST(FragmentEpilogue, TakesSumsOfTheTransposedResult) {
  check<float>({"f32", 96, 64, 64, 1, /*transposed=*/true});
  check<float>({"f32", 53, 29, 29, 1, /*transposed=*/true});
}
