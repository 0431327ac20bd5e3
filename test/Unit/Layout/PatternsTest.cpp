// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Layout/Patterns.h"

#include "DenseMask.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace blocksparse;
using namespace blocksparse::test;

namespace {

using Parameters = std::vector<std::pair<std::string, PatternValue>>;
using List = std::vector<int64_t>;
using Text = std::vector<std::string>;

constexpr BlockShape block16 = {16, 16};
constexpr int64_t largest = std::numeric_limits<int64_t>::max();
constexpr int64_t smallest = std::numeric_limits<int64_t>::min();

BlockLayout build(const std::string &name, const Parameters &parameters, BlockGrid grid,
                  BlockShape block = block16) {
  std::string error;
  auto layout = buildPattern({name, parameters}, block, grid, error);
  EXPECT_TRUE(layout.has_value()) << name << ": " << error;
  return layout.value_or(BlockLayout());
}

DenseMask maskFor(const std::string &name, const Parameters &parameters, BlockGrid grid,
                  BlockShape block = block16) {
  return maskOf(build(name, parameters, grid, block));
}

Text textFor(const std::string &name, const Parameters &parameters, BlockGrid grid,
             BlockShape block = block16) {
  return textOf(maskFor(name, parameters, grid, block));
}

std::string errorFor(const std::string &name, const Parameters &parameters,
                     BlockGrid grid = {1, 4, 4}) {
  std::string error;
  EXPECT_FALSE(buildPattern({name, parameters}, block16, grid, error));
  return error;
}

const std::string uni = "unidirectional", bi = "bidirectional";

/// Lists grids of all shapes that could break a formula.
const BlockGrid grids[] = {{1, 1, 1},  {1, 7, 7},  {3, 8, 8},  {2, 13, 13},
                           {1, 5, 11}, {2, 11, 5}, {1, 24, 24}};

/// Returns true if the block contains an element (i, j) with i - lower <= j <= i + upper.
bool touchesBand(BlockShape block, int64_t row, int64_t col, int64_t lower, int64_t upper) {
  for (int64_t i = row * block.rows; i < (row + 1) * block.rows; ++i)
    for (int64_t j = col * block.cols; j < (col + 1) * block.cols; ++j)
      if (i - lower <= j && j <= i + upper)
        return true;
  return false;
}

TEST(StructuredPatterns, DenseCausalDiagonalBanded) {
  for (BlockGrid grid : grids) {
    EXPECT_TRUE(build("dense", {}, grid).isDense());
    for (BlockShape block :
         {BlockShape{2, 2}, BlockShape{2, 6}, BlockShape{6, 2}, BlockShape{3, 5}}) {
      for (int64_t offset : {-7, 0, 1, 9})
        EXPECT_EQ(maskFor("causal", {{"offset", offset}}, grid, block),
                  maskOf(grid, [&](auto, auto r, auto c) {
                    return touchesBand(block, r, c, 1000, offset);
                  }));
      for (auto [lower, upper] : {std::pair<int64_t, int64_t>{0, 0}, {1, 0}, {0, 3}, {5, 8}})
        EXPECT_EQ(maskFor("banded", {{"lower", lower}, {"upper", upper}}, grid, block),
                  maskOf(grid, [&, lower = lower, upper = upper](auto, auto r, auto c) {
                    return touchesBand(block, r, c, lower, upper);
                  }));
    }
    for (int64_t offset : {-3, 0, 2})
      EXPECT_EQ(maskFor("diagonal", {{"offset", offset}}, grid),
                maskOf(grid, [&](auto, auto r, auto c) { return c == r + offset; }));
  }
}

TEST(StructuredPatterns, CausalIsTheLowerTriangleOfSquareBlocks) {
  EXPECT_EQ(textFor("causal", {}, {1, 3, 3}), (Text{"100", "110", "111"}));
}

TEST(StructuredPatterns, LocalWindowCheckerboardStrided) {
  for (BlockGrid grid : grids) {
    for (auto [left, right] : {std::pair<int64_t, int64_t>{1, 1}, {0, 0}, {3, 0}, {-1, 0}, {2, -1}})
      EXPECT_EQ(maskFor("local_window", {{"left", left}, {"right", right}}, grid),
                maskOf(grid, [&, left = left, right = right](auto, auto r, auto c) {
                  return (left < 0 || r - c <= left) && (right < 0 || c - r <= right);
                }));
    for (int64_t parity : {0, 1})
      EXPECT_EQ(maskFor("checkerboard", {{"parity", parity}}, grid),
                maskOf(grid, [&](auto, auto r, auto c) { return (r + c + parity) % 2 == 0; }));
    for (int64_t stride : {1, 3, 50})
      for (int64_t local : {1, 2, 5})
        for (const std::string &attention : {uni, bi})
          EXPECT_EQ(
              maskFor("strided",
                      {{"stride", stride}, {"num_local_blocks", local}, {"attention", attention}},
                      grid),
              maskOf(grid, [&](auto, auto r, auto c) {
                return (std::abs(r - c) < local || c % stride == stride - 1) &&
                       (attention == bi || c <= r);
              }));
  }
}

TEST(StructuredPatterns, ExtremeIntegersDoNotOverflow) {
  const BlockGrid grid = {1, 4, 4};
  EXPECT_TRUE(build("causal", {{"offset", largest}}, grid).isDense());
  EXPECT_EQ(build("causal", {{"offset", smallest}}, grid).nnz(), 0);
  EXPECT_EQ(build("diagonal", {{"offset", largest}}, grid).nnz(), 0);
  EXPECT_EQ(build("diagonal", {{"offset", smallest}}, grid).nnz(), 0);
  EXPECT_TRUE(build("banded", {{"lower", largest}, {"upper", largest}}, grid).isDense());
  EXPECT_TRUE(build("local_window", {{"left", largest}, {"right", largest}}, grid).isDense());
  EXPECT_TRUE(
      build("strided", {{"stride", largest}, {"num_local_blocks", largest}}, grid).isDense());
  EXPECT_TRUE(build("fixed", {{"num_local_blocks", largest}}, grid).isDense());
  EXPECT_TRUE(build("variable", {{"local_window_blocks", List{largest}}}, grid).isDense());
  EXPECT_EQ(
      build("longformer",
            {{"global_block_indices", List{largest}}, {"num_sliding_window_blocks", int64_t{1}}},
            grid)
          .nnz(),
      4);
  EXPECT_TRUE(
      build("longformer",
            {{"global_block_indices", List{0}}, {"global_block_end_indices", List{largest}}}, grid)
          .isDense());
}

/// Computes the fixed pattern by a procedure on a square mask.
DenseMask fixedMask(BlockGrid grid, int64_t local, int64_t global, int64_t versions,
                    bool unidirectional, bool horizontal, bool perHead) {
  DenseMask mask(grid);
  const int64_t n = grid.rows;
  for (int64_t h = 0; h < grid.heads; ++h) {
    const int64_t version = perHead ? h % versions : 0;
    for (int64_t r = 0; r < n; ++r)
      for (int64_t c = 0; c < n; ++c)
        if (r / local == c / local && (!unidirectional || c <= r))
          mask.at(h, r, c) = 1;
    for (int64_t window = 0; window < n; window += local) {
      int64_t start = window + local - (version + 1) * global;
      if (window + local > n)
        start = std::min(start, n - global);
      const int64_t end = start + global;
      // Python counts a negative start of a slice from the end.
      if (start < 0)
        start = std::max<int64_t>(0, start + n);
      for (int64_t g = start; g < end; ++g) {
        for (int64_t r = unidirectional ? start : 0; r < n; ++r)
          mask.at(h, r, g) = 1;
        for (int64_t c = 0; horizontal && c < n; ++c)
          mask.at(h, g, c) = 1;
      }
    }
  }
  return mask;
}

TEST(AttentionPatterns, Fixed) {
  for (int64_t n : {1, 3, 4, 8, 10, 13})
    for (auto [local, global, versions] : {std::tuple<int64_t, int64_t, int64_t>{4, 1, 1},
                                           {4, 1, 4},
                                           {4, 2, 2},
                                           {6, 3, 2},
                                           {1, 1, 1},
                                           {4, 4, 1},
                                           {5, 5, 1},
                                           {12, 6, 2}})
      for (bool perHead : {false, true})
        for (int mode = 0; mode < 3; ++mode) {
          if (versions > 1 && !perHead)
            continue;
          const BlockGrid grid = {5, n, n};
          const bool unidirectional = mode == 0, horizontal = mode == 2;
          EXPECT_EQ(
              textFor("fixed",
                      {{"num_local_blocks", local},
                       {"num_global_blocks", global},
                       {"num_different_global_patterns", versions},
                       {"different_layout_per_head", perHead},
                       {"attention", unidirectional ? uni : bi},
                       {"horizontal_global_attention", horizontal}},
                      grid),
              textOf(fixedMask(grid, local, global, versions, unidirectional, horizontal, perHead)))
              << n << " " << local << " " << global << " " << mode;
        }
}

// The expected masks are written by hand from the definition, so that they share no mistake with
// the procedure above.
TEST(AttentionPatterns, FixedByHand) {
  // Groups that are longer than the grid begin where DeepSpeed's slices do.
  const auto causal = [](int64_t local, int64_t global, int64_t n) {
    return textFor("fixed",
                   {{"num_local_blocks", local}, {"num_global_blocks", global}, {"attention", uni}},
                   {1, n, n});
  };
  EXPECT_EQ(causal(6, 3, 2), (Text{"10", "11"}));
  EXPECT_EQ(causal(4, 4, 3), (Text{"100", "110", "111"}));
  EXPECT_EQ(causal(6, 6, 4), (Text{"1000", "1100", "1111", "1111"}));
  EXPECT_EQ(causal(8, 4, 2), (Text{"11", "11"}));
  EXPECT_EQ(textFor("fixed", {{"num_local_blocks", int64_t{2}}}, {1, 5, 5}),
            (Text{"11011", "11011", "01111", "01111", "01011"}));
  EXPECT_EQ(textFor("fixed", {{"num_local_blocks", int64_t{2}}, {"attention", uni}}, {1, 5, 5}),
            (Text{"10000", "11000", "01100", "01110", "01011"}));
  EXPECT_EQ(textFor("fixed",
                    {{"num_local_blocks", int64_t{2}},
                     {"different_layout_per_head", true},
                     {"num_different_global_patterns", int64_t{2}}},
                    {2, 4, 4}),
            (Text{"1101", "1101", "0111", "0111", // last block of each window
                  "1110", "1110", "1011", "1011"}));
}

/// Draws a sample by Floyd's algorithm with a std::set.
std::set<int64_t> sampled(int64_t seed, int64_t head, int64_t row, int64_t count, int64_t range) {
  const CounterRandom random(seed, head, row);
  std::set<int64_t> picks;
  count = std::min(count, range);
  for (int64_t j = range - count; j < range; ++j) {
    const int64_t pick = random.below(picks.size(), j + 1);
    picks.insert(picks.count(pick) ? j : pick);
  }
  return picks;
}

void addSampled(DenseMask &mask, int64_t seed, int64_t count, bool perHead, bool unidirectional) {
  for (int64_t h = 0; h < mask.grid.heads; ++h)
    for (int64_t r = 0; r < mask.grid.rows; ++r)
      for (int64_t c : sampled(seed, perHead ? h : 0, r, count,
                               unidirectional ? std::min(r + 1, mask.grid.cols) : mask.grid.cols))
        mask.at(h, r, c) = 1;
}

DenseMask variableMask(BlockGrid grid, const List &windows, const List &begins, const List &ends,
                       bool unidirectional, bool horizontal) {
  DenseMask mask(grid);
  for (int64_t h = 0; h < grid.heads; ++h) {
    size_t next = 0;
    for (int64_t begin = 0; begin < grid.rows;) {
      const int64_t end = begin + windows[std::min(next++, windows.size() - 1)];
      for (int64_t r = begin; r < std::min(end, grid.rows); ++r)
        for (int64_t c = begin; c < std::min(end, grid.cols); ++c)
          if (!unidirectional || c <= r)
            mask.at(h, r, c) = 1;
      begin = end;
    }
    for (size_t i = 0; i < begins.size(); ++i)
      for (int64_t g = begins[i]; g < (ends.empty() ? begins[i] + 1 : ends[i]); ++g) {
        for (int64_t r = unidirectional ? begins[i] : 0; g < grid.cols && r < grid.rows; ++r)
          mask.at(h, r, g) = 1;
        for (int64_t c = 0; horizontal && g < grid.rows && c < grid.cols; ++c)
          mask.at(h, g, c) = 1;
      }
  }
  return mask;
}

TEST(AttentionPatterns, Variable) {
  for (BlockGrid grid : grids)
    for (const List &windows : {List{4}, List{1, 3, 2}, List{2, 50}})
      for (auto [begins, ends] :
           {std::pair<List, List>{{0}, {}}, {{}, {}}, {{5, 2, 90}, {}}, {{1, 4}, {3, 99}}})
        for (int mode = 0; mode < 3; ++mode)
          for (int64_t numRandom : {0, 1})
            for (bool perHead : {false, true}) {
              const bool unidirectional = mode == 0, horizontal = mode == 2;
              DenseMask expected =
                  variableMask(grid, windows, begins, ends, unidirectional, horizontal);
              addSampled(expected, 9, numRandom, perHead, unidirectional);
              EXPECT_EQ(textFor("variable",
                                {{"local_window_blocks", windows},
                                 {"global_block_indices", begins},
                                 {"global_block_end_indices", ends},
                                 {"num_random_blocks", numRandom},
                                 {"different_layout_per_head", perHead},
                                 {"seed", int64_t{9}},
                                 {"attention", unidirectional ? uni : bi},
                                 {"horizontal_global_attention", horizontal}},
                                grid),
                        textOf(expected));
            }
}

void clearUpperTriangle(DenseMask &mask) {
  for (int64_t h = 0; h < mask.grid.heads; ++h)
    for (int64_t r = 0; r < mask.grid.rows; ++r)
      for (int64_t c = r + 1; c < mask.grid.cols; ++c)
        mask.at(h, r, c) = 0;
}

TEST(AttentionPatterns, BigBird) {
  for (BlockGrid grid : grids)
    for (int64_t window : {1, 2, 3, 5})
      for (int64_t global : {1, 2})
        for (int64_t numRandom : {0, 1, 3})
          for (bool unidirectional : {false, true})
            for (bool perHead : {false, true}) {
              if (std::max({window, global, numRandom}) > grid.cols)
                continue;
              DenseMask expected = maskOf(grid, [&](auto, auto r, auto c) {
                return std::abs(r - c) <= window / 2 || r < global || c < global;
              });
              addSampled(expected, -4, numRandom, perHead, unidirectional);
              if (unidirectional)
                clearUpperTriangle(expected);
              EXPECT_EQ(textFor("bigbird",
                                {{"num_sliding_window_blocks", window},
                                 {"num_global_blocks", global},
                                 {"num_random_blocks", numRandom},
                                 {"different_layout_per_head", perHead},
                                 {"seed", int64_t{-4}},
                                 {"attention", unidirectional ? uni : bi}},
                                grid),
                        textOf(expected));
            }
}

TEST(AttentionPatterns, LongformerAndItsAlias) {
  for (const char *name : {"longformer", "bslongformer"})
    for (BlockGrid grid : grids)
      for (int64_t window : {1, 3, 4})
        for (auto [begins, ends] :
             {std::pair<List, List>{{0}, {}}, {{}, {}}, {{5, 2, 90}, {}}, {{1, 4}, {3, 99}}})
          for (bool unidirectional : {false, true}) {
            if (window > grid.cols)
              continue;
            auto isGlobal = [&, begins = begins, ends = ends](int64_t index) {
              for (size_t i = 0; i < begins.size(); ++i)
                if (index >= begins[i] && index < (ends.empty() ? begins[i] + 1 : ends[i]))
                  return true;
              return false;
            };
            EXPECT_EQ(textFor(name,
                              {{"num_sliding_window_blocks", window},
                               {"global_block_indices", begins},
                               {"global_block_end_indices", ends},
                               {"attention", unidirectional ? uni : bi}},
                              grid),
                      textOf(maskOf(grid, [&](auto, auto r, auto c) {
                        return (std::abs(r - c) <= window / 2 || isGlobal(r) || isGlobal(c)) &&
                               (!unidirectional || c <= r);
                      })));
          }
}

TEST(AttentionPatterns, LocalSlidingWindow) {
  for (BlockGrid grid : grids)
    for (int64_t window : {1, 2, 3, 6})
      for (bool unidirectional : {false, true}) {
        if (window > grid.cols)
          continue;
        EXPECT_EQ(textFor("local_sliding_window",
                          {{"num_sliding_window_blocks", window},
                           {"attention", unidirectional ? uni : bi}},
                          grid),
                  textOf(maskOf(grid, [&](auto, auto r, auto c) {
                    return std::abs(r - c) <= window / 2 && (!unidirectional || c <= r);
                  })));
      }
  EXPECT_EQ(textFor("local_sliding_window", {}, {1, 4, 4}), (Text{"1000", "1100", "0110", "0011"}));
}

// The numbers were computed by an independent program that follows the comment in CounterRandom.h;
// they must never change.
TEST(RandomPatterns, NumbersAreTheDocumentedOnes) {
  EXPECT_EQ(CounterRandom(0, 0, 0).draw(0), 0x1cd364143cce4aaeu);
  EXPECT_EQ(CounterRandom(0, 0, 0).draw(1), 0x74152ffafb44a602u);
  EXPECT_EQ(CounterRandom(42, 3, 7).draw(9), 0xc5d37e871ef284a4u);
  EXPECT_EQ(CounterRandom(-1, 0, 1).draw(5), 0x9bf75e83f1e51113u);
  EXPECT_EQ(textFor("random", {{"density", 0.25}, {"seed", int64_t{1}}}, {1, 4, 8}),
            (Text{"00000010", "10000000", "10100000", "00000100"}));
  EXPECT_EQ(textFor("random_balanced", {{"density", 0.375}, {"seed", int64_t{5}}}, {1, 4, 8}),
            (Text{"01100001", "01000110", "10100010", "01001001"}));
}

TEST(RandomPatterns, BernoulliFollowsItsDefinition) {
  for (double density : {0.0, 0.1, 0.5, 1.0}) {
    const BlockGrid grid = {3, 20, 130};
    EXPECT_EQ(maskFor("random", {{"density", density}, {"seed", int64_t{3}}}, grid),
              maskOf(grid, [&](auto h, auto r, auto c) {
                return std::ldexp(double(CounterRandom(3, h, r).draw(c) >> 11), -53) < density;
              }));
  }
  EXPECT_TRUE(build("random", {{"density", int64_t{1}}}, {1, 9, 9}).isDense());
  EXPECT_NEAR(build("random", {{"density", 0.3}}, {1, 300, 300}).density(), 0.3, 0.01);
}

TEST(RandomPatterns, BalancedRowsHaveEqualCounts) {
  const BlockGrid grid = {3, 20, 130};
  for (double density : {0.0, 0.004, 0.1, 0.9, 1.0}) {
    const int64_t count = std::llround(density * 130);
    DenseMask expected(grid);
    addSampled(expected, 3, count, true, false);
    const BlockLayout layout =
        build("random_balanced", {{"density", density}, {"seed", int64_t{3}}}, grid);
    EXPECT_EQ(maskOf(layout), expected);
    for (int64_t h = 0; h < grid.heads; ++h)
      for (int64_t r = 0; r < grid.rows; ++r)
        EXPECT_EQ(layout.row(h, r).size(), size_t(count));
  }
}

TEST(RandomPatterns, SeedsAndHeadsDiffer) {
  for (const char *name : {"random", "random_balanced"}) {
    const BlockGrid two = {2, 16, 16}, one = {1, 16, 16};
    const BlockLayout layout = build(name, {{"density", 0.5}}, two);
    std::string error;
    auto head = [&](const BlockLayout &from, int64_t index) {
      return *subLayout(from, {index, 0, 0}, one, error);
    };
    EXPECT_NE(head(layout, 0), head(layout, 1));
    EXPECT_EQ(head(layout, 0), build(name, {{"density", 0.5}}, one));
    EXPECT_NE(layout, build(name, {{"density", 0.5}, {"seed", int64_t{1}}}, two));
    EXPECT_EQ(layout, build(name, {{"density", 0.5}}, two));
    const BlockLayout shared =
        build(name, {{"density", 0.5}, {"different_layout_per_head", false}}, two);
    EXPECT_EQ(head(shared, 0), head(shared, 1));
    EXPECT_EQ(head(shared, 0), head(layout, 0));
  }
}

// C60 tests heads with different numbers of blocks.
TEST(RandomPatterns, C60HeadsWithDifferentCounts) {
  std::string error;
  DenseMask mask =
      maskOf({2, 4, 4}, [](auto h, auto r, auto c) { return h == 0 ? r == c : c <= r; });
  const auto layout = BlockLayout::fromMask(block16, mask.grid, mask.bytes, error);
  ASSERT_TRUE(layout) << error;
  EXPECT_EQ(layout->nnz(), 4 + 10);
  EXPECT_EQ(*subLayout(*layout, {0, 0, 0}, {1, 4, 4}, error), build("diagonal", {}, {1, 4, 4}));
  EXPECT_EQ(*subLayout(*layout, {1, 0, 0}, {1, 4, 4}, error), build("causal", {}, {1, 4, 4}));
  EXPECT_EQ(layout->coordinates()[4], (BlockCoordinate{1, 0, 0, 4}));
  EXPECT_EQ(layout->columnMajorCoordinates()[4], (BlockCoordinate{1, 0, 0, 4}));
}

TEST(PatternTable, EveryEntryIsCompleteAndBuildsWithDefaults) {
  std::set<std::string> names;
  for (const PatternInfo &pattern : patternTable()) {
    EXPECT_TRUE(names.insert(pattern.name).second) << pattern.name;
    ASSERT_NE(findPattern(pattern.name), nullptr);
    EXPECT_EQ(findPattern(pattern.name)->doc, pattern.doc);
    EXPECT_EQ(pattern.doc.back(), '.') << pattern.name;
    for (const PatternParameter &parameter : pattern.parameters) {
      EXPECT_EQ(parameter.doc.back(), '.') << parameter.name;
      EXPECT_EQ(parameter.defaultValue.index(), size_t(parameter.type));
      EXPECT_EQ(parameter.type == PatternType::Keyword, !parameter.keywords.empty());
    }
    // Omitted defaults and explicit defaults must give the same pattern.
    Parameters defaults;
    for (const PatternParameter &parameter : pattern.parameters)
      defaults.emplace_back(parameter.name, parameter.defaultValue);
    EXPECT_EQ(build(pattern.name, {}, {2, 12, 12}), build(pattern.name, defaults, {2, 12, 12}));
    EXPECT_EQ(build(pattern.name, {}, {2, 0, 4}).nnz(), 0);
  }
  EXPECT_EQ(findPattern("bslongformer"), findPattern("longformer"));
  EXPECT_EQ(findPattern(""), nullptr);
  EXPECT_EQ(names.size(), 14u);
}

TEST(PatternErrors, NamesAndTypes) {
  EXPECT_EQ(errorFor("swiss", {}),
            "expects a pattern among dense, causal, diagonal, banded, "
            "local_window, checkerboard, strided, fixed, variable, bigbird, "
            "longformer, local_sliding_window, random, random_balanced, but got "
            "'swiss'");
  EXPECT_EQ(errorFor("dense", {{"density", 0.5}}),
            "expects pattern 'dense' to have no parameters, but got 'density'");
  EXPECT_EQ(errorFor("random", {{"probability", 0.5}}),
            "expects pattern 'random' to have parameters among density, seed, "
            "different_layout_per_head, but got 'probability'");
  EXPECT_EQ(errorFor("strided", {{"stride", true}}),
            "expects parameter 'stride' of pattern 'strided' to be an integer, "
            "but got a boolean (true)");
  EXPECT_EQ(errorFor("variable", {{"global_block_indices", int64_t{3}}}),
            "expects parameter 'global_block_indices' of pattern 'variable' to "
            "be a list of integers, but got an integer (3)");
  EXPECT_EQ(errorFor("causal", {{"offset", 0.5}}),
            "expects parameter 'offset' of pattern 'causal' to be an integer, "
            "but got a number (0.5)");
  EXPECT_EQ(errorFor("causal", {{"offset", int64_t{1}}, {"offset", int64_t{2}}}),
            "expects parameter 'offset' of pattern 'causal' once, but got it "
            "again with 2");
}

TEST(PatternErrors, Ranges) {
  EXPECT_EQ(errorFor("random", {{"density", 1.5}}),
            "expects parameter 'density' of pattern 'random' in [0, 1], but got "
            "1.5");
  EXPECT_EQ(errorFor("random", {{"density", std::nan("")}}),
            "expects parameter 'density' of pattern 'random' in [0, 1], but got "
            "nan");
  EXPECT_EQ(errorFor("strided", {{"stride", int64_t{0}}}),
            "expects parameter 'stride' of pattern 'strided' of at least 1, but "
            "got 0");
  EXPECT_EQ(errorFor("variable", {{"local_window_blocks", List{4, 0}}}),
            "expects parameter 'local_window_blocks' of pattern 'variable' to "
            "have entries of at least 1, but got [4, 0]");
  EXPECT_EQ(errorFor("fixed", {{"attention", std::string("both")}}),
            "expects parameter 'attention' of pattern 'fixed' to be one of "
            "unidirectional, bidirectional, but got both");
}

TEST(PatternErrors, ParametersThatContradictEachOther) {
  EXPECT_EQ(
      errorFor("fixed", {{"num_local_blocks", int64_t{4}}, {"num_global_blocks", int64_t{3}}}),
      "expects num_local_blocks to be a multiple of num_global_blocks 3, "
      "but got 4");
  EXPECT_EQ(errorFor("fixed", {{"num_different_global_patterns", int64_t{2}}}),
            "expects num_different_global_patterns to be 1 unless "
            "different_layout_per_head is true, but got 2");
  EXPECT_EQ(errorFor("fixed", {{"num_different_global_patterns", int64_t{5}},
                               {"different_layout_per_head", true}}),
            "expects num_different_global_patterns of at most 4 "
            "(num_local_blocks / num_global_blocks), but got 5");
  for (const char *name : {"fixed", "variable"})
    EXPECT_EQ(errorFor(name, {{"attention", uni}, {"horizontal_global_attention", true}}),
              "expects bidirectional attention with "
              "horizontal_global_attention, but got unidirectional");
  EXPECT_EQ(errorFor("variable", {{"local_window_blocks", List{}}}),
            "expects local_window_blocks of length at least 1, but got 0");
  EXPECT_EQ(errorFor("longformer", {{"global_block_end_indices", List{1, 2}}}),
            "expects global_block_end_indices of length 1 (as "
            "global_block_indices), but got 2");
  EXPECT_EQ(errorFor("longformer",
                     {{"global_block_indices", List{3}}, {"global_block_end_indices", List{3}}}),
            "expects global block end index above its start index 3, but got 3");
}

TEST(PatternErrors, CountsAgainstTheGrid) {
  EXPECT_EQ(errorFor("bigbird", {{"num_random_blocks", int64_t{5}}}),
            "expects parameter 'num_random_blocks' of at most 4 (block cols), "
            "but got 5");
  EXPECT_EQ(errorFor("longformer", {{"num_sliding_window_blocks", int64_t{7}}}),
            "expects parameter 'num_sliding_window_blocks' of at most 4 (block "
            "cols), but got 7");
}

} // namespace
