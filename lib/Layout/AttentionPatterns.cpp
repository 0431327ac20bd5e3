// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The patterns of DeepSpeed's sparsity configurations, under its parameter
// names. What is not random gives the same layout as DeepSpeed does for a
// square grid. Two rules differ, because there DeepSpeed stops with an
// exception or stores blocks that its attention never reads: random columns of
// a unidirectional pattern are drawn from the columns up to the row, and a row
// with fewer candidates than `num_random_blocks` takes them all. A grid smaller
// than one global group of `fixed` is global as a whole.

#include "PatternRows.h"

#include <algorithm>
#include <memory>

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

/// Reads the parameters global_block_indices and global_block_end_indices as ranges. Without ends,
/// each index is a range of one block.
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
  return true;
}

bool containsRow(const std::vector<Range> &ranges, int64_t row) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [row](Range range) { return range.contains(row); });
}

/// Returns the window of every row. The sizes are used in order, and the last one repeats until the
/// rows end. A window ends where its size says, but at most at `limit`.
std::vector<Range> cutWindows(const std::vector<int64_t> &sizes, int64_t rows, int64_t limit) {
  std::vector<Range> windowOfRow(rows);
  int64_t begin = 0;
  for (size_t next = 0; begin < rows; ++next) {
    const int64_t size = sizes[std::min(next, sizes.size() - 1)];
    const Range window = {begin, begin + std::min(size, limit - begin)};
    const int64_t end = std::min(window.end, rows);
    std::fill(windowOfRow.begin() + begin, windowOfRow.begin() + end, window);
    begin = end;
  }
  return windowOfRow;
}

/// Describes the global groups of the fixed pattern over `extent` rows or columns: there is one in
/// each window. In the last, short window the group is moved to the left until it fits.
struct GlobalGroups {
  int64_t window, size, first, extent;

  int64_t count() const { return extent / window + (extent % window != 0 ? 1 : 0); }
  Range group(int64_t index) const {
    int64_t begin = index * window + first;
    // No overflow: index is 0 when the window is longer than the extent.
    if ((index + 1) * window > extent)
      begin = std::max<int64_t>(0, std::min(begin, extent - size));
    return {begin, begin + size};
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
  auto sampler = std::make_shared<ColumnSampler>(context.grid.cols);
  return [=, seed = arguments.seed(),
          windows =
              cutWindows(sizes, context.grid.rows, std::max(context.grid.rows, context.grid.cols))](
             int64_t head, int64_t row, RowColumns &cols) {
    if (horizontal && containsRow(globals, row))
      return cols.addAll();
    const Range window = windows[row];
    cols.add(window.begin, unidirectional ? row + 1 : window.end);
    for (Range range : globals)
      if (!unidirectional || row >= range.begin)
        cols.add(range.begin, range.end);
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
  auto sampler = std::make_shared<ColumnSampler>(context.grid.cols);
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
    for (Range range : globals)
      cols.add(range.begin, range.end);
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
                             "turn.")}},
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
         horizontalParameter(), seedParameter()}},
       variable},
      {{"bigbird",
        "",
        "Stores a sliding window, the first rows and columns, and random "
        "columns.",
        {differentLayoutPerHeadParameter(false), randomBlocksParameter(1), slidingWindowParameter(),
         globalBlocksParameter("Rows and columns from 0 on that are global."),
         attentionParameter("bidirectional"), seedParameter()}},
       bigbird},
      {{"longformer",
        "bslongformer",
        "Stores a sliding window and the rows and columns of given global "
        "blocks.",
        {slidingWindowParameter(), globalIndicesParameter(), globalEndsParameter(),
         attentionParameter("bidirectional")}},
       longformer},
      {{"local_sliding_window",
        "",
        "Stores a sliding window and nothing else.",
        {slidingWindowParameter(), attentionParameter("unidirectional")}},
       localSlidingWindow},
  };
}
