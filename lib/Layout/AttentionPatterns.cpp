// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The patterns of DeepSpeed's sparsity configurations, under its parameter names. For a square
// grid, the layout is DeepSpeed's in all blocks that are not random. Two rules of random columns
// differ, because DeepSpeed stops with an exception there or stores blocks that its attention never
// reads: random columns of a unidirectional pattern are drawn from the columns up to the row, and a
// row with fewer candidates than `num_random_blocks` takes them all.

#include "PatternRows.h"

#include <algorithm>
#include <memory>
#include <utility>

using namespace blocksparse;
using namespace blocksparse::patterns;

namespace {

struct Range {
  int64_t begin, end;
  bool contains(int64_t index) const { return index >= begin && index < end; }
};

bool fail(std::string &error, const std::string &expected, int64_t got) {
  error = "expects " + expected + ", but got " + std::to_string(got);
  return false;
}

/// A count of blocks in one row cannot exceed the block columns.
bool checkAgainstGrid(const PatternContext &context, const char *name, std::string &error) {
  const int64_t value = context.arguments.integer(name);
  if (value <= context.grid.cols)
    return true;
  return fail(error,
              std::string("parameter '") + name + "' of at most " +
                  std::to_string(context.grid.cols) + " (block cols)",
              value);
}

bool checkHorizontal(const PatternContext &context, std::string &error) {
  if (!context.arguments.boolean("horizontal_global_attention") ||
      !context.arguments.unidirectional())
    return true;
  error = "expects bidirectional attention with horizontal_global_attention, "
          "but got unidirectional";
  return false;
}

/// Sorts the ranges by their begins, and drops those that an earlier range covers. What remains has
/// ascending begins and ends, so that each range adds a column to every row that it applies to:
/// an earlier range applies to every row of a later one.
void dropCoveredRanges(std::vector<Range> &ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const Range &a, const Range &b) {
    return std::pair(a.begin, -a.end) < std::pair(b.begin, -b.end);
  });
  int64_t end = 0;
  std::erase_if(ranges, [&end](const Range &range) {
    const bool covered = range.end <= end || range.begin >= range.end;
    end = std::max(end, range.end);
    return covered;
  });
}

/// Reads the parameters global_block_indices and global_block_end_indices as ranges with ascending
/// begins and ends. Without ends, each index is a range of one block.
bool readGlobalRanges(const PatternContext &context, std::vector<Range> &ranges,
                      std::string &error) {
  const auto &begins = context.arguments.list("global_block_indices");
  const auto &ends = context.arguments.list("global_block_end_indices");
  if (!ends.empty() && ends.size() != begins.size())
    return fail(error,
                "global_block_end_indices of length " + std::to_string(begins.size()) +
                    " (as global_block_indices)",
                static_cast<int64_t>(ends.size()));
  // An index beyond the grid is legal, so that one pattern serves every length.
  const int64_t limit = std::max(context.grid.rows, context.grid.cols);
  for (size_t i = 0; i < begins.size(); ++i) {
    const int64_t begin = begins[i];
    if (ends.empty()) {
      ranges.push_back({std::min(begin, limit), std::min(begin, limit - 1) + 1});
      continue;
    }
    if (ends[i] <= begin)
      return fail(error, "global block end index above its start index " + std::to_string(begin),
                  ends[i]);
    ranges.push_back({std::min(begin, limit), std::min(ends[i], limit)});
  }
  dropCoveredRanges(ranges);
  return true;
}

/// Returns true if one of the ranges, which have ascending begins and ends, contains the row.
bool containsRow(const std::vector<Range> &ranges, int64_t row) {
  auto after =
      std::upper_bound(ranges.begin(), ranges.end(), row,
                       [](int64_t index, const Range &range) { return index < range.begin; });
  return after != ranges.begin() && (after - 1)->contains(row);
}

/// Holds the windows of `variable`. The sizes are used in order, and the last one repeats until the
/// rows end.
class Windows {
public:
  /// Cuts the windows of all rows. A window ends where its size says, but at most at `limit`.
  /// Requires positive sizes and rows <= limit.
  Windows(const std::vector<int64_t> &sizes, int64_t rows, int64_t limit) : limit_(limit) {
    int64_t begin = 0;
    for (int64_t size : sizes) {
      if (begin >= rows)
        break;
      windows_.push_back({begin, begin + std::min(size, limit - begin)});
      lastSize_ = size;
      begin = windows_.back().end;
    }
  }

  /// Returns the window of a row.
  Range find(int64_t row) const {
    auto after =
        std::upper_bound(windows_.begin(), windows_.end(), row,
                         [](int64_t index, const Range &window) { return index < window.begin; });
    const Range window = *(after - 1);
    if (window.contains(row))
      return window;
    const int64_t begin = window.begin + (row - window.begin) / lastSize_ * lastSize_;
    return {begin, begin + std::min(lastSize_, limit_ - begin)};
  }

private:
  std::vector<Range> windows_;
  int64_t lastSize_ = 1, limit_;
};

/// Describes the global groups of the fixed pattern over `extent` rows or columns: there is one in
/// each window. In the last, short window the group is moved to the left until it fits. A group
/// that is longer than the extent begins at index max(0, 2 * extent - size), as in DeepSpeed.
struct GlobalGroups {
  int64_t window, size, first, extent;

  int64_t count() const { return extent / window + (extent % window != 0 ? 1 : 0); }
  Range group(int64_t index) const {
    const int64_t begin = index * window + first;
    // No overflow: index is 0 when the window is longer than the extent.
    if ((index + 1) * window <= extent)
      return {begin, begin + size};
    const int64_t moved = std::min(begin, extent - size);
    if (moved >= 0)
      return {moved, moved + size};
    // The group is longer than the extent. DeepSpeed slices from a negative index then, which
    // Python counts from the end.
    return {std::max<int64_t>(0, moved + extent), extent};
  }
  bool contains(int64_t index) const {
    // Moved to the left, the last group may stand in the window before its own.
    return group(index / window).contains(index) || group(count() - 1).contains(index);
  }
};

/// Checks what DeepSpeed demands of the parameters of the fixed pattern.
bool checkFixed(const PatternContext &context, std::string &error) {
  const PatternArguments &arguments = context.arguments;
  const int64_t local = arguments.integer("num_local_blocks");
  const int64_t global = arguments.integer("num_global_blocks");
  const int64_t versions = arguments.integer("num_different_global_patterns");
  if (local % global != 0)
    return fail(error,
                "num_local_blocks to be a multiple of num_global_blocks " + std::to_string(global),
                local);
  if (versions > 1 && !arguments.boolean("different_layout_per_head"))
    return fail(error,
                "num_different_global_patterns to be 1 unless "
                "different_layout_per_head is true",
                versions);
  if (versions > local / global)
    return fail(error,
                "num_different_global_patterns of at most " + std::to_string(local / global) +
                    " (num_local_blocks / num_global_blocks)",
                versions);
  return checkHorizontal(context, error);
}

RowFunction fixed(const PatternContext &context, std::string &error) {
  if (!checkFixed(context, error))
    return {};
  const PatternArguments &arguments = context.arguments;
  const int64_t local = arguments.integer("num_local_blocks");
  const int64_t global = arguments.integer("num_global_blocks");
  const int64_t versions = arguments.integer("num_different_global_patterns");
  const bool horizontal = arguments.boolean("horizontal_global_attention");
  const bool unidirectional = arguments.unidirectional();
  return [=, grid = context.grid](int64_t head, int64_t row, RowColumns &cols) {
    // Head 0 takes the last blocks of each window, the next head those before.
    const int64_t first = local - (1 + head % versions) * global;
    const GlobalGroups colGroups = {local, global, first, grid.cols};
    const GlobalGroups rowGroups = {local, global, first, grid.rows};
    if (horizontal && rowGroups.contains(row))
      return cols.addAll();
    for (int64_t i = 0, e = colGroups.count(); i < e; ++i) {
      // A unidirectional row sees a group from the group's first row on.
      const Range group = colGroups.group(i);
      if (unidirectional && row < group.begin)
        break;
      cols.add(group.begin, group.end);
    }
    const int64_t begin = row / local * local;
    const int64_t size = unidirectional ? row + 1 - begin : local;
    cols.add(begin, begin + size);
  };
}

RowFunction variable(const PatternContext &context, std::string &error) {
  const PatternArguments &arguments = context.arguments;
  const auto &sizes = arguments.list("local_window_blocks");
  std::vector<Range> globals;
  if (sizes.empty()) {
    fail(error, "local_window_blocks of length at least 1", 0);
    return {};
  }
  if (!checkAgainstGrid(context, "num_random_blocks", error) || !checkHorizontal(context, error) ||
      !readGlobalRanges(context, globals, error))
    return {};
  const int64_t numRandom = arguments.integer("num_random_blocks");
  const bool horizontal = arguments.boolean("horizontal_global_attention");
  const bool unidirectional = arguments.unidirectional();
  auto sampler = std::make_shared<ColumnSampler>();
  return
      [=, seed = arguments.seed(),
       windows = Windows(sizes, context.grid.rows, std::max(context.grid.rows, context.grid.cols))](
          int64_t head, int64_t row, RowColumns &cols) {
        if (horizontal && containsRow(globals, row))
          return cols.addAll();
        const Range window = windows.find(row);
        cols.add(window.begin, unidirectional ? row + 1 : window.end);
        for (Range range : globals) {
          if (range.begin >= cols.limit() || (unidirectional && row < range.begin))
            break;
          cols.add(range.begin, range.end);
        }
        const int64_t candidates = unidirectional ? std::min(row + 1, cols.cols()) : cols.cols();
        sampler->sample(CounterRandom(seed, head, row), numRandom, candidates, cols);
      };
}

RowFunction bigbird(const PatternContext &context, std::string &error) {
  if (!checkAgainstGrid(context, "num_random_blocks", error) ||
      !checkAgainstGrid(context, "num_sliding_window_blocks", error) ||
      !checkAgainstGrid(context, "num_global_blocks", error))
    return {};
  const PatternArguments &arguments = context.arguments;
  const int64_t numRandom = arguments.integer("num_random_blocks");
  const int64_t side = arguments.integer("num_sliding_window_blocks") / 2;
  const int64_t numGlobal = arguments.integer("num_global_blocks");
  const bool unidirectional = arguments.unidirectional();
  auto sampler = std::make_shared<ColumnSampler>();
  return [=, seed = arguments.seed()](int64_t head, int64_t row, RowColumns &cols) {
    if (unidirectional)
      cols.setLimit(row + 1);
    if (row < numGlobal)
      return cols.addAll();
    cols.add(0, numGlobal);
    cols.add(row - side, row + side + 1);
    const int64_t candidates = unidirectional ? std::min(row + 1, cols.cols()) : cols.cols();
    sampler->sample(CounterRandom(seed, head, row), numRandom, candidates, cols);
  };
}

RowFunction longformer(const PatternContext &context, std::string &error) {
  std::vector<Range> globals;
  if (!checkAgainstGrid(context, "num_sliding_window_blocks", error) ||
      !readGlobalRanges(context, globals, error))
    return {};
  const PatternArguments &arguments = context.arguments;
  const int64_t side = arguments.integer("num_sliding_window_blocks") / 2;
  const bool unidirectional = arguments.unidirectional();
  return [=](int64_t, int64_t row, RowColumns &cols) {
    if (unidirectional)
      cols.setLimit(row + 1);
    if (containsRow(globals, row))
      return cols.addAll();
    cols.add(row - side, row + side + 1);
    for (Range range : globals) {
      if (range.begin >= cols.limit())
        break;
      cols.add(range.begin, range.end);
    }
  };
}

RowFunction localSlidingWindow(const PatternContext &context, std::string &error) {
  if (!checkAgainstGrid(context, "num_sliding_window_blocks", error))
    return {};
  const int64_t side = context.arguments.integer("num_sliding_window_blocks") / 2;
  return [side, unidirectional = context.arguments.unidirectional()](int64_t, int64_t row,
                                                                     RowColumns &cols) {
    cols.add(row - side, unidirectional ? row + 1 : row + side + 1);
  };
}

PatternParameter randomBlocksParameter(int64_t defaultValue) {
  return integerParameter("num_random_blocks", defaultValue, 0, "Random columns in each row.");
}

PatternParameter slidingWindowParameter() {
  return integerParameter("num_sliding_window_blocks", 3, 1,
                          "Width of the window; half of it, rounded down, lies "
                          "on each side of the diagonal.");
}

PatternParameter globalBlocksParameter(std::string doc) {
  return integerParameter("num_global_blocks", 1, 1, std::move(doc));
}

PatternParameter globalIndicesParameter() {
  return listParameter("global_block_indices", {0}, 0,
                       "Global blocks, or the first of each global range; "
                       "those beyond the grid are left out.");
}

PatternParameter globalEndsParameter() {
  return listParameter("global_block_end_indices", {}, 0,
                       "One past the last block of each global range; empty "
                       "when each index is one block.");
}

PatternParameter horizontalParameter() {
  return booleanParameter("horizontal_global_attention", false,
                          "Whether global rows store every column too.");
}

PatternDefinition fixedDefinition() {
  return {{"fixed",
           "",
           "Stores windows of num_local_blocks along the diagonal and the columns "
           "of a few global blocks in each window.",
           {differentLayoutPerHeadParameter(false),
            integerParameter("num_local_blocks", 4, 1, "Blocks of one window."),
            globalBlocksParameter("Consecutive blocks of a window that are global; "
                                  "head 0 takes the last ones."),
            attentionParameter("bidirectional"), horizontalParameter(),
            integerParameter("num_different_global_patterns", 1, 1,
                             "Choices of the global blocks that the heads take in "
                             "turn.")},
           parametersWithoutEffect(false)},
          fixed};
}

} // namespace

std::vector<PatternDefinition> blocksparse::patterns::attentionPatterns() {
  return {
      fixedDefinition(),
      {{"variable",
        "",
        "Stores windows of given sizes along the diagonal, given global blocks "
        "and random columns.",
        {differentLayoutPerHeadParameter(false), randomBlocksParameter(0),
         listParameter("local_window_blocks", {4}, 1,
                       "Sizes of the windows in turn; the last one repeats."),
         globalIndicesParameter(), globalEndsParameter(), attentionParameter("bidirectional"),
         horizontalParameter(), seedParameter()},
        parametersWithoutEffect(false)},
       variable},
      {{"bigbird",
        "",
        "Stores a sliding window, the first rows and columns, and random "
        "columns.",
        {differentLayoutPerHeadParameter(false), randomBlocksParameter(1), slidingWindowParameter(),
         globalBlocksParameter("Rows and columns from 0 on that are global."),
         attentionParameter("bidirectional"), seedParameter()},
        parametersWithoutEffect(false)},
       bigbird},
      {{"longformer",
        "bslongformer",
        "Stores a sliding window and the rows and columns of given global "
        "blocks.",
        {slidingWindowParameter(), globalIndicesParameter(), globalEndsParameter(),
         attentionParameter("bidirectional")},
        parametersWithoutEffect(true)},
       longformer},
      {{"local_sliding_window",
        "",
        "Stores a sliding window and nothing else.",
        {slidingWindowParameter(), attentionParameter("unidirectional")},
        parametersWithoutEffect(true)},
       localSlidingWindow},
  };
}
