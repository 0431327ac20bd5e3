// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests the addresses at which lanes read the panels of a stage: compiles them for the host and
// compares them with where TMA stores the elements.

#include "Conversion/BlockSparseToGPU/Stream/StreamPanels.h"
#include "../../ElementMap.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;
using ::blocksparse::StreamShape;

namespace {

constexpr int32_t stage = 5 * 1024; // address of the stage

Type i32(Builder &b) { return b.getI32Type(); }

struct Element {
  int64_t panel = -1, k = -1, col = -1;
  bool operator==(const Element &) const = default;
};

/// Returns shared memory of 16-bit elements with the panels of a stage. Boxes have rows of 128, 64
/// or 32 bytes. TMA adds to bits 4 to 6 (4 to 5, 4 alone) of an address, modulo 2, the bits from
/// bit 7 on.
std::vector<Element> copyPanels(const StreamPanels &panels) {
  std::vector<Element> memory((stage + panels.shape.panels * panels.stride()) / 2);
  const TensorBox box = panels.box();
  const int64_t rowBytes = box.cols * 2, mask = rowBytes - 16;
  for (int64_t copy = 0; copy < panels.shape.panels / panels.perCopy(); ++copy)
    for (int64_t subtile = 0; subtile < box.subtiles; ++subtile)
      for (int64_t row = 0; row < box.rows; ++row)
        for (int64_t col = 0; col < box.cols; ++col) {
          int64_t address = stage + copy * panels.perCopy() * panels.stride() +
                            (subtile * box.rows + row) * rowBytes + col * 2;
          address ^= address >> 3 & mask;
          const int64_t k = panels.shape.kMajor ? col : row;
          memory[address / 2] = {copy * panels.perCopy() + k / panels.shape.block,
                                 k % panels.shape.block,
                                 panels.shape.kMajor ? row : subtile * box.cols + col};
        }
  return memory;
}

/// Checks the addresses of all lanes. Each lane addresses a row of one of four 8 x 8 matrices: k
/// and k + 8 of the columns from n on, then of the columns from n + 8 on; or columns first. If the
/// panels are K-major a row is eight values of k, otherwise eight columns. `firstCol` is the column
/// that laneOffset receives; n is relative to it.
void checkFragment(const StreamPanels &panels, int64_t k, int64_t n, int64_t firstCol = 0,
                   StreamPanels::Order order = StreamPanels::Order::KFirst) {
  const bool columnsFirst = order == StreamPanels::Order::ColumnsFirst;
  const ElementMap addresses(i32, i32, [&](ImplicitLocOpBuilder &b, Value number) {
    Value lane = Int(b, number) % 32;
    Value first =
        Int(b, i32Constant(b, stage)) + panels.laneOffset(b, lane, order, i32Constant(b, firstCol));
    return panels.fragmentAddress(b, panels.select(b, first, Int(b, number) / 32), k, n);
  });
  ASSERT_TRUE(addresses.isReady());
  const std::vector<Element> memory = copyPanels(panels);
  std::vector<int32_t> numbers(32 * panels.shape.panels);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<int32_t>(i);
  const std::vector<int32_t> got = addresses.operator()<int32_t>(numbers);
  for (int64_t panel = 0; panel < panels.shape.panels; ++panel)
    for (int64_t lane = 0; lane < 32; ++lane) {
      const int32_t address = got[panel * 32 + lane];
      ASSERT_EQ(address % 16, 0);
      ASSERT_LE(address / 2 + 8, static_cast<int64_t>(memory.size()));
      const int64_t second = lane / 8 % 2 * 8, third = lane / 16 * 8, row = lane % 8;
      const int64_t fromK = k + (columnsFirst ? third : second);
      const int64_t fromCol = firstCol + n + (columnsFirst ? second : third);
      for (int64_t i = 0; i < 8; ++i) {
        const Element wanted = panels.shape.kMajor ? Element{panel, fromK + i, fromCol + row}
                                                   : Element{panel, fromK + row, fromCol + i};
        ASSERT_EQ(memory[address / 2 + i], wanted)
            << "panel " << panel << ", lane " << lane << ", element " << i;
      }
    }
}

StreamPanels panelsOf(int64_t block, int64_t panels, bool kMajor, int64_t cols) {
  StreamShape shape{block, 4, panels, 4, 0, kMajor};
  shape.panelsPerCopy = StreamShape::isNarrow(block, kMajor) && panels % 4 == 0 ? 4 : 1;
  return {shape, cols};
}

TEST(StreamPanels, LanesFindThePanelsOfACopy) {
  const StreamPanels panels = panelsOf(16, 8, true, 128);
  EXPECT_EQ(panels.perCopy(), 4);
  EXPECT_EQ(panels.box().bytes(), 4 * panels.bytes());
  EXPECT_EQ(panels.box().bytes(), 4 * panels.stride());
  for (int64_t n : {0, 48, 112})
    checkFragment(panels, 0, n);
  checkFragment(panelsOf(16, 16, true, 64), 0, 48);
}

TEST(StreamPanels, LanesFindTheRowsOfTheTransposedProduct) {
  for (int64_t first : {0, 16, 48})
    for (int64_t n : {0, 64})
      for (auto [block, panels, kMajor] :
           {std::tuple(16, 8, true), {16, 3, true}, {32, 3, true}, {16, 8, false}, {32, 2, false}})
        checkFragment(panelsOf(block, panels, kMajor, 128), block - 16, n, first,
                      StreamPanels::Order::ColumnsFirst);
}

TEST(StreamPanels, LanesFindSinglePanels) {
  EXPECT_EQ(panelsOf(16, 6, true, 128).perCopy(), 1);
  checkFragment(panelsOf(16, 6, true, 128), 0, 112);
  checkFragment(panelsOf(32, 4, true, 128), 16, 48);
  checkFragment(panelsOf(16, 8, false, 128), 0, 80);
  checkFragment(panelsOf(32, 3, false, 64), 16, 32);
}

} // namespace
