// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests the checks of run-time indices: compiles one for the host, as a GPU's kernels run it, and
// compares the record of the first fault with a search in plain C++.

#include "Conversion/IndexChecks.h"
#include "Conversion/Device/Loops.h"
#include "Conversion/OperandView.h"
#include "HostFunction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "gtest/gtest.h"

#include <array>
#include <functional>
#include <optional>
#include <random>
#include <vector>

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::IndexFault;

namespace {

/// Holds code, batch, row, position, value and limit of a fault.
using Fault = std::array<int64_t, 6>;
constexpr Fault noFault = {};

Fault makeFault(IndexFault kind, int64_t batch, int64_t row, int64_t position, int64_t value,
                int64_t limit) {
  return {static_cast<int64_t>(kind), batch, row, position, value, limit};
}

/// Compiles a check for the host: a function of index tensors of i64, of numbers and of the record.
class CompiledCheck {
public:
  /// `emit` emits the check of all items, given the tensors and the numbers.
  using Emit = std::function<void(ImplicitLocOpBuilder &, ValueRange tensors, ValueRange numbers,
                                  Value record)>;

  CompiledCheck(ArrayRef<unsigned> ranks, unsigned numbers, const Emit &emit) {
    loadAllDialects(context);
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    ImplicitLocOpBuilder b(module->getLoc(), module->getBodyRegion());
    SmallVector<Type> types;
    for (unsigned rank : ranks)
      types.push_back(
          MemRefType::get(SmallVector<int64_t>(rank, ShapedType::kDynamic), b.getI64Type()));
    types.append(numbers, b.getIndexType());
    types.push_back(getFaultRecordType(&context));
    auto function = func::FuncOp::create(b, "check", b.getFunctionType(types, {}));
    b.setInsertionPointToStart(function.addEntryBlock());
    ValueRange arguments = function.getArguments();
    emit(b, arguments.take_front(ranks.size()), arguments.slice(ranks.size(), numbers),
         arguments.back());
    func::ReturnOp::create(b);
    compiled.emplace(*module, "check");
  }

  bool isReady() const { return compiled->isReady(); }

  /// Describes an index tensor: its shape and its elements.
  struct Tensor {
    std::vector<int64_t> shape, elements;
  };

  Fault operator()(const std::vector<Tensor> &tensors, std::vector<int64_t> numbers) const {
    std::array<int64_t, ::blocksparse::faultWords> record = {};
    std::vector<std::vector<int64_t>> descriptors;
    auto describe = [&](const int64_t *data, const std::vector<int64_t> &shape) {
      auto address = reinterpret_cast<int64_t>(data);
      std::vector<int64_t> descriptor = {address, address, 0};
      descriptor.insert(descriptor.end(), shape.begin(), shape.end());
      int64_t stride = 1;
      std::vector<int64_t> strides(shape.size());
      for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
        strides[i] = stride;
      descriptor.insert(descriptor.end(), strides.begin(), strides.end());
      descriptors.push_back(std::move(descriptor));
    };
    for (const Tensor &tensor : tensors)
      describe(tensor.elements.data(), tensor.shape);
    describe(record.data(), {::blocksparse::faultWords});
    // A packed call takes the address of each argument; that of a memref is a pointer.
    std::vector<void *> pointers;
    for (std::vector<int64_t> &descriptor : descriptors)
      pointers.push_back(descriptor.data());
    std::vector<void *> arguments;
    for (size_t i = 0; i < tensors.size(); ++i)
      arguments.push_back(&pointers[i]);
    for (int64_t &number : numbers)
      arguments.push_back(&number);
    arguments.push_back(&pointers.back());
    (*compiled)(arguments.data());
    Fault fault;
    std::copy_n(record.begin(), fault.size(), fault.begin());
    return fault[0] ? fault : noFault;
  }

private:
  MLIRContext context;
  std::optional<HostFunction> compiled;
};

using Tensor = CompiledCheck::Tensor;

Tensor list(std::vector<int64_t> elements) {
  auto size = static_cast<int64_t>(elements.size());
  return {{size}, std::move(elements)};
}

/// Emits the items of a check in order; the record keeps the first fault.
template <typename Check, typename Find>
void emitAll(ImplicitLocOpBuilder &b, const Check &check, Find find, Value record) {
  auto report = [&](ImplicitLocOpBuilder &b, Value isFault, IndexFault fault,
                    const FaultPlace &place) {
    device::emitIf(b, isFault,
                   [&](ImplicitLocOpBuilder &b) { storeFault(b, record, fault, place); });
  };
  device::emitLoop(
      b, indexConstant(b, 0), check.items(b), indexConstant(b, 1),
      [&](ImplicitLocOpBuilder &b, Value item) { check.emitItem(b, item, find, report); });
}

/// Returns the check of crow_indices and col_indices of this rank; its number is the block columns.
CompiledCheck makePatternCheck(unsigned rank, bool unique) {
  return CompiledCheck(
      {rank, rank}, 1,
      [&](ImplicitLocOpBuilder &b, ValueRange tensors, ValueRange numbers, Value record) {
        auto op = CheckPatternOp::create(b, tensors[0], tensors[1], numbers[0], "f", unique);
        PatternCheck check(b, op, IRMapping());
        op.erase();
        auto find = [&](ImplicitLocOpBuilder &b, const ListedColumn &listed) {
          return check.emitSearch(b, listed);
        };
        emitAll(b, check, find, record);
      });
}

/// Returns the check of scatter_mm, whose numbers are those of check_scatter_indices.
CompiledCheck makeScatterCheck(ScatterFormat format, int64_t split) {
  SmallVector<unsigned> ranks(format == ScatterFormat::ScatterMM      ? 2
                              : format == ScatterFormat::BsrStridedMM ? 4
                                                                      : 3,
                              1);
  if (format == ScatterFormat::ScatterMM)
    ranks[1] = 2;
  return CompiledCheck(
      ranks, 6, [&](ImplicitLocOpBuilder &b, ValueRange tensors, ValueRange numbers, Value record) {
        auto op =
            CheckScatterIndicesOp::create(b, tensors, numbers[0], numbers[1], numbers[2],
                                          numbers[3], numbers[4], numbers[5], format, split, "f");
        ScatterCheck check(b, op, IRMapping());
        op.erase();
        auto find = [&](ImplicitLocOpBuilder &b, const PlacedTile &tile) {
          return check.emitSearch(b, tile);
        };
        emitAll(b, check, find, record);
      });
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

TEST(PatternCheck, NamesTheFaultAndItsPlace) {
  CompiledCheck check = makePatternCheck(1, /*unique=*/true);
  ASSERT_TRUE(check.isReady());
  // Three block rows of four columns, with room for five blocks.
  auto run = [&](std::vector<int64_t> crow, std::vector<int64_t> col) {
    return check({list(std::move(crow)), list(std::move(col))}, {4});
  };
  EXPECT_EQ(run({0, 2, 2, 4}, {3, 0, 1, 2, -9}), noFault);
  EXPECT_EQ(run({0, 0, 0, 0}, {}), noFault);
  EXPECT_EQ(run({1, 2, 2, 4}, {3, 0, 1, 2, 0}), makeFault(IndexFault::FirstOffset, 0, 0, 0, 1, 0));
  EXPECT_EQ(run({0, 2, 1, 4}, {3, 0, 1, 2, 0}),
            makeFault(IndexFault::DecreasingOffset, 0, 2, 2, 1, 2));
  EXPECT_EQ(run({0, 2, 2, 6}, {3, 0, 1, 2, 0}), makeFault(IndexFault::LastOffset, 0, 3, 3, 6, 5));
  EXPECT_EQ(run({0, 2, 2, 4}, {3, 4, 1, 2, 0}), makeFault(IndexFault::Column, 0, 0, 1, 4, 4));
  EXPECT_EQ(run({0, 2, 2, 4}, {3, 0, int64_t(1) << 32, 2, 0}),
            makeFault(IndexFault::Column, 0, 2, 2, int64_t(1) << 32, 4));
  EXPECT_EQ(run({0, 2, 2, 4}, {3, 0, 2, 2, 0}),
            makeFault(IndexFault::RepeatedColumn, 0, 2, 3, 2, 2));
  // The first of several faults is kept, and offsets far away are not followed.
  EXPECT_EQ(run({0, INT64_MAX, INT64_MIN, 4}, {9, 0, 1, 2, 0}),
            makeFault(IndexFault::LastOffset, 0, 1, 1, INT64_MAX, 5));
}

TEST(PatternCheck, ChecksEveryBatch) {
  CompiledCheck check = makePatternCheck(2, /*unique=*/false);
  ASSERT_TRUE(check.isReady());
  Tensor crow{{2, 3}, {0, 1, 2, 0, 2, 3}}, col{{2, 3}, {1, 1, -1, 0, 0, 1}};
  EXPECT_EQ(check({crow, col}, {2}), noFault);
  col.elements[4] = 2;
  EXPECT_EQ(check({crow, col}, {2}), makeFault(IndexFault::Column, 1, 0, 1, 2, 2));
  crow.elements[3] = 1;
  EXPECT_EQ(check({crow, col}, {2}), makeFault(IndexFault::FirstOffset, 1, 0, 0, 1, 0));
}

/// Finds the first fault of a pattern of one batch by the words of the dialect's reference.
Fault findPatternFault(const std::vector<int64_t> &crow, const std::vector<int64_t> &col,
                       int64_t cols) {
  auto room = static_cast<int64_t>(col.size());
  for (int64_t row = 0; row < static_cast<int64_t>(crow.size()); ++row) {
    int64_t begin = crow[row];
    if (row == 0 && begin != 0)
      return makeFault(IndexFault::FirstOffset, 0, row, row, begin, 0);
    if (row > 0 && begin < crow[row - 1])
      return makeFault(IndexFault::DecreasingOffset, 0, row, row, begin, crow[row - 1]);
    if (begin > room)
      return makeFault(IndexFault::LastOffset, 0, row, row, begin, room);
    if (row + 1 == static_cast<int64_t>(crow.size()) || crow[row + 1] > room)
      continue;
    for (int64_t at = begin; at < crow[row + 1]; ++at) {
      if (col[at] < 0 || col[at] >= cols)
        return makeFault(IndexFault::Column, 0, row, at, col[at], cols);
      for (int64_t earlier = begin; earlier < at; ++earlier)
        if (col[earlier] == col[at])
          return makeFault(IndexFault::RepeatedColumn, 0, row, at, col[at], earlier);
    }
  }
  return noFault;
}

TEST(PatternCheck, AgreesWithASearch) {
  CompiledCheck check = makePatternCheck(1, /*unique=*/true);
  ASSERT_TRUE(check.isReady());
  std::mt19937 random(3);
  auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  int faults = 0;
  for (int round = 0; round < 3000; ++round) {
    const int64_t cols = 1 + below(12);
    std::vector<int64_t> crow = {0}, col;
    for (int64_t row = below(4); row-- > 0; crow.push_back(static_cast<int64_t>(col.size())))
      for (int64_t count = below(3); count-- > 0;)
        col.push_back(below(cols));
    if (below(3) == 0)
      crow[below(static_cast<int64_t>(crow.size()))] += below(5) - 2;
    if (!col.empty() && below(3) == 0)
      col[below(static_cast<int64_t>(col.size()))] += below(5) - 2;
    Fault expected = findPatternFault(crow, col, cols);
    faults += expected != noFault;
    EXPECT_EQ(check({list(crow), list(col)}, {cols}), expected) << "round " << round;
  }
  EXPECT_GT(faults, 300);
  EXPECT_LT(faults, 2700);
}

//===----------------------------------------------------------------------===//
// scatter_mm
//===----------------------------------------------------------------------===//

TEST(ScatterCheck, NamesFaultsOfPairs) {
  CompiledCheck check = makeScatterCheck(ScatterFormat::ScatterMM, 1);
  ASSERT_TRUE(check.isReady());
  // Three blocks of 2 x 2, four tiles, accumulators of 2 x 5.
  auto run = [&](std::vector<int64_t> offsets, std::vector<int64_t> pairs) {
    auto count = static_cast<int64_t>(pairs.size() / 2);
    return check({list(std::move(offsets)), Tensor{{count, 2}, std::move(pairs)}},
                 {3, 2, 2, 4, 2, 5});
  };
  EXPECT_EQ(run({0, 1, 2}, {2, 3, 0, 0}), noFault);
  EXPECT_EQ(run({0, 1, 2}, {2, 3, 3, 0}), makeFault(IndexFault::Block, 0, 1, 1, 3, 3));
  EXPECT_EQ(run({0, 1, 2}, {2, -1, 0, 0}), makeFault(IndexFault::Tile, 0, 0, 0, -1, 4));
  EXPECT_EQ(run({0, 2, 1}, {2, 3, 0, 0}), makeFault(IndexFault::ListOffset, 0, 2, 2, 1, 2));
  EXPECT_EQ(run({0, 1, 3}, {2, 3, 0, 0}), makeFault(IndexFault::ListEnd, 0, 2, 2, 3, 2));
}

TEST(ScatterCheck, NamesFaultsOfOffsets) {
  CompiledCheck check = makeScatterCheck(ScatterFormat::BsrStridedMM, 2);
  ASSERT_TRUE(check.isReady());
  // Three blocks of 2 x 2; others and accumulators of 4 x 4 in tiles of 2 x 2.
  auto run = [&](std::vector<int64_t> r, std::vector<int64_t> p, std::vector<int64_t> q) {
    return check({list({0, 1, 2}), list(std::move(r)), list(std::move(p)), list(std::move(q))},
                 {3, 2, 2, 4, 4, 4});
  };
  EXPECT_EQ(run({0, 10}, {2, 0}, {8, 2}), noFault);
  EXPECT_EQ(run({0, 14}, {2, 0}, {8, 2}),
            makeFault(IndexFault::AccumulatorOffset, 0, 1, 1, 14, 16));
  EXPECT_EQ(run({0, 11}, {2, 0}, {8, 2}),
            makeFault(IndexFault::AccumulatorOffset, 0, 1, 1, 11, 16));
  EXPECT_EQ(run({0, 5}, {2, 0}, {8, 2}), makeFault(IndexFault::OverlappingTile, 0, 1, 1, 5, 0));
  EXPECT_EQ(run({0, 10}, {3, 0}, {8, 2}), makeFault(IndexFault::Block, 0, 0, 0, 3, 3));
  EXPECT_EQ(run({0, 10}, {2, 0}, {8, 3}), makeFault(IndexFault::OtherOffset, 0, 1, 1, 3, 16));
}

TEST(ScatterCheck, NamesFaultsOfCompressedLists) {
  CompiledCheck check = makeScatterCheck(ScatterFormat::BsrStridedMMCompressed, 2);
  ASSERT_TRUE(check.isReady());
  // Blocks (0, 0), (1, 0) and (1, 1) of 2 x 2, as in the tests of the reference.
  auto run = [&](std::vector<int64_t> r, std::vector<int64_t> q) {
    return check({list({0, 1, 3}), list(std::move(r)), list(std::move(q))}, {3, 2, 2, 4, 4, 4});
  };
  EXPECT_EQ(run({10, 8, 2, 0}, {0, 2, 0, 8, 2, 10}), noFault);
  EXPECT_EQ(run({10, 8, 10, 0}, {0, 2, 0, 8, 2, 10}),
            makeFault(IndexFault::OverlappingTile, 0, 2, 2, 10, 0));
  EXPECT_EQ(run({10, 8, 2, 0}, {0, 2, 0, 8, 2}), makeFault(IndexFault::OffsetPlace, 0, 0, 2, 5, 5));
  EXPECT_EQ(run({10, 8, 2, 0}, {0, 2, 0, 15, 2, 10}),
            makeFault(IndexFault::OtherOffset, 0, 1, 3, 15, 16));
}

TEST(ScatterCheck, FindsTheFirstOverlapOfTilesAnywhere) {
  CompiledCheck check = makeScatterCheck(ScatterFormat::BsrStridedMM, 3);
  ASSERT_TRUE(check.isReady());
  std::mt19937 random(7);
  auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  int overlaps = 0;
  for (int round = 0; round < 3000; ++round) {
    const int64_t height = below(4), width = below(4), rows = height + below(9), cols = 3 * width;
    std::vector<int64_t> offsets;
    for (int64_t count = cols == 0 || rows == 0 ? 0 : below(5); count-- > 0;)
      offsets.push_back(below(rows - height + (height > 0)) * cols + below(cols - width + 1));
    Fault expected = noFault;
    for (int64_t i = 0; i < static_cast<int64_t>(offsets.size()) && expected == noFault; ++i)
      for (int64_t j = 0; j < i && expected == noFault; ++j)
        if (std::abs(offsets[i] / cols - offsets[j] / cols) < height &&
            std::abs(offsets[i] % cols - offsets[j] % cols) < width)
          expected = makeFault(IndexFault::OverlappingTile, 0, i, i, offsets[i], j);
    overlaps += expected != noFault;
    EXPECT_EQ(
        check({list(std::vector<int64_t>(offsets.size() + 1)), list(offsets), list({}), list({})},
              {0, height, 1, 1, rows, cols}),
        expected)
        << "round " << round;
  }
  EXPECT_GT(overlaps, 300);
  EXPECT_LT(overlaps, 2700);
}

} // namespace
