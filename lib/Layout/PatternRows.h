// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a named pattern is written: checked arguments come in, a function that
// names the columns of one block row goes out. Private to this library.

#ifndef BLOCKSPARSE_LAYOUT_PATTERNROWS_H
#define BLOCKSPARSE_LAYOUT_PATTERNROWS_H

#include "blocksparse/Layout/CounterRandom.h"
#include "blocksparse/Layout/Patterns.h"

#include <functional>
#include <map>

namespace blocksparse::patterns {

/// Collects the columns of one block row as intervals, which may overlap and be in any order.
/// Intervals are clipped to [0, limit).
class RowColumns {
public:
  explicit RowColumns(int64_t cols) : cols_(cols), limit_(cols) {}

  int64_t cols() const { return cols_; }
  /// Returns the limit of setLimit, or cols(). A pattern that enumerates columns stops here.
  int64_t limit() const { return limit_; }
  /// Starts an empty row without a limit below the grid's.
  void clear() {
    intervals_.clear();
    limit_ = cols_;
  }
  /// Drops what later calls of `add` name at or beyond `limit`.
  void setLimit(int64_t limit) { limit_ = limit < cols_ ? limit : cols_; }
  /// Stores columns [begin, end).
  void add(int64_t begin, int64_t end);
  void add(int64_t col) { add(col, col + 1); }
  void addAll() { add(0, cols_); }

  /// Sorts and merges the intervals and returns the number of columns.
  int64_t finish();
  /// Appends the columns after finish(), ascending and unique.
  void appendTo(std::vector<int32_t> &out) const;

private:
  /// Columns [begin, end). 32 bits suffice by BlockLayout::maxBlocks, and keep a row of single
  /// columns small.
  struct Interval {
    int32_t begin, end;
  };
  int64_t cols_, limit_;
  std::vector<Interval> intervals_;
  /// Scratch of finish(), kept to reuse its memory.
  std::vector<Interval> tail_;
};

/// Holds the values of all parameters of one pattern, given or default, with the types of the
/// table.
class PatternArguments {
public:
  void set(const std::string &name, PatternValue value) { values_[name] = std::move(value); }
  int64_t integer(const char *name) const { return std::get<int64_t>(values_.at(name)); }
  bool boolean(const char *name) const { return std::get<bool>(values_.at(name)); }
  double real(const char *name) const { return std::get<double>(values_.at(name)); }
  const std::vector<int64_t> &list(const char *name) const {
    return std::get<std::vector<int64_t>>(values_.at(name));
  }
  const std::string &keyword(const char *name) const {
    return std::get<std::string>(values_.at(name));
  }
  bool unidirectional() const { return keyword("attention") == "unidirectional"; }
  uint64_t seed() const { return static_cast<uint64_t>(integer("seed")); }

private:
  std::map<std::string, PatternValue> values_;
};

/// Holds what a pattern is built from: its arguments, and the shapes of block and grid.
struct PatternContext {
  PatternArguments arguments;
  BlockShape block;
  BlockGrid grid;
};

/// Adds the columns of block row `row` of head `head`. Called for ascending
/// rows; heads beyond 0 are asked for only where heads differ.
using RowFunction = std::function<void(int64_t head, int64_t row, RowColumns &cols)>;

/// Checks what concerns several parameters or the grid and returns the row
/// function; on failure the function is empty and `error` is set.
using PatternFactory = RowFunction (*)(const PatternContext &context, std::string &error);

/// Returns true if a layout may have `count` stored blocks. Otherwise `error` says so; `precision`
/// says how well the count is known ("at least", "about").
bool checkBlockCount(int64_t count, std::string &error, const char *precision = "at least");

/// Holds a table entry together with its implementation.
struct PatternDefinition {
  PatternInfo info;
  PatternFactory factory;
};

/// Return the patterns of each family, in the order of the documentation.
std::vector<PatternDefinition> structuredPatterns();
std::vector<PatternDefinition> attentionPatterns();
std::vector<PatternDefinition> randomPatterns();

/// Draws distinct columns. Holds scratch memory that lives as long as the
/// pattern is being built.
class ColumnSampler {
public:
  /// Adds `count` distinct columns of [0, range), every set with the same
  /// probability, by draws 0 ... count - 1. `count` above `range` means all.
  void sample(const CounterRandom &random, int64_t count, int64_t range, RowColumns &cols);

private:
  std::vector<bool> taken_;
  std::vector<int32_t> picks_;
};

/// Return table entries that several patterns share.
PatternParameter integerParameter(std::string name, int64_t defaultValue,
                                  std::optional<double> minimum, std::string doc);
PatternParameter booleanParameter(std::string name, bool defaultValue, std::string doc);
PatternParameter listParameter(std::string name, std::vector<int64_t> defaultValue, double minimum,
                               std::string doc);
PatternParameter attentionParameter(std::string defaultValue);
PatternParameter densityParameter();
PatternParameter seedParameter();
PatternParameter differentLayoutPerHeadParameter(bool defaultValue);
/// Returns the parameters of every configuration of DeepSpeed that a layout says in another way. If
/// `sharesPattern`, different_layout_per_head is one of them.
std::vector<PatternParameter> parametersWithoutEffect(bool sharesPattern);

} // namespace blocksparse::patterns

#endif // BLOCKSPARSE_LAYOUT_PATTERNROWS_H
