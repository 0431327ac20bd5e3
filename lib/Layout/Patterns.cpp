// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Layout/Patterns.h"

#include "PatternRows.h"

#include <algorithm>
#include <charconv>

using namespace blocksparse;
using namespace blocksparse::patterns;

namespace {

const std::vector<PatternDefinition> &definitions() {
  static const std::vector<PatternDefinition> all = [] {
    std::vector<PatternDefinition> result = structuredPatterns();
    for (auto family : {attentionPatterns, randomPatterns})
      for (PatternDefinition &definition : family())
        result.push_back(std::move(definition));
    return result;
  }();
  return all;
}

const PatternDefinition *findDefinition(std::string_view name) {
  for (const PatternDefinition &definition : definitions())
    if (definition.info.name == name ||
        (!definition.info.alias.empty() && definition.info.alias == name))
      return &definition;
  return nullptr;
}

std::string realText(double value) {
  char buffer[32];
  auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, result.ptr);
}

template <typename Range, typename Name>
std::string joined(const Range &range, Name name) {
  std::string text;
  for (const auto &item : range)
    text += (text.empty() ? "" : ", ") + std::string(name(item));
  return text;
}

/// "expects parameter 'p' of pattern 'q' "
std::string subject(const PatternInfo &pattern, const PatternParameter &parameter) {
  return "expects parameter '" + parameter.name + "' of pattern '" + pattern.name + "' ";
}

bool inRange(const PatternParameter &parameter, double value) {
  // Written so that NaN is outside every range.
  return (!parameter.minimum || value >= *parameter.minimum) &&
         (!parameter.maximum || value <= *parameter.maximum);
}

std::string rangeText(const PatternParameter &parameter) {
  if (parameter.minimum && parameter.maximum)
    return "in [" + realText(*parameter.minimum) + ", " + realText(*parameter.maximum) + "]";
  return parameter.minimum ? "of at least " + realText(*parameter.minimum)
                           : "of at most " + realText(*parameter.maximum);
}

/// Checks one given value against the table and converts an integer to a real
/// number where the table wants one.
bool checkValue(const PatternInfo &pattern, const PatternParameter &parameter, PatternValue &value,
                std::string &error) {
  if (parameter.type == PatternType::Real && std::holds_alternative<int64_t>(value))
    value = static_cast<double>(std::get<int64_t>(value));
  if (value.index() != static_cast<size_t>(parameter.type)) {
    error = subject(pattern, parameter) + "to be " + std::string(describe(parameter.type)) +
            ", but got " + std::string(describe(static_cast<PatternType>(value.index()))) + " (" +
            toString(value) + ")";
    return false;
  }
  if (auto *word = std::get_if<std::string>(&value)) {
    const auto &words = parameter.keywords;
    if (std::find(words.begin(), words.end(), *word) != words.end())
      return true;
    error = subject(pattern, parameter) + "to be one of " +
            joined(words, [](const std::string &w) { return w; }) + ", but got " + *word;
    return false;
  }
  std::vector<double> numbers;
  if (auto *integer = std::get_if<int64_t>(&value))
    numbers.push_back(static_cast<double>(*integer));
  else if (auto *real = std::get_if<double>(&value))
    numbers.push_back(*real);
  else if (auto *list = std::get_if<std::vector<int64_t>>(&value))
    numbers.assign(list->begin(), list->end());
  for (double number : numbers) {
    if (inRange(parameter, number))
      continue;
    error = subject(pattern, parameter) +
            (parameter.type == PatternType::IntegerList ? "to have entries " : "") +
            rangeText(parameter) + ", but got " + toString(value);
    return false;
  }
  return true;
}

const PatternParameter *findParameter(const std::vector<PatternParameter> &parameters,
                                      const std::string &name) {
  for (const PatternParameter &parameter : parameters)
    if (parameter.name == name)
      return &parameter;
  return nullptr;
}

/// Checks a parameter without effect against what the layout says in another way: DeepSpeed's
/// `block` and `num_heads` are the block shape and the heads of the grid here.
bool checkWithoutEffect(const PatternInfo &pattern, const PatternParameter &parameter,
                        const PatternValue &value, BlockShape block, BlockGrid grid,
                        std::string &error) {
  const auto *number = std::get_if<int64_t>(&value);
  std::string expected;
  if (parameter.name == "block" && (*number != block.rows || *number != block.cols))
    expected = "to agree with the block shape " + std::to_string(block.rows) + " x " +
               std::to_string(block.cols);
  else if (parameter.name == "num_heads" && grid.heads != 1 && *number != grid.heads)
    expected = "to agree with the " + std::to_string(grid.heads) + " heads of the grid";
  if (expected.empty())
    return true;
  error = subject(pattern, parameter) + expected + ", but got " + toString(value);
  return false;
}

std::optional<PatternArguments> checkArguments(const PatternInfo &pattern, const PatternSpec &spec,
                                               BlockShape block, BlockGrid grid,
                                               std::string &error) {
  PatternArguments arguments;
  for (const PatternParameter &parameter : pattern.parameters)
    arguments.set(parameter.name, parameter.defaultValue);
  for (auto it = spec.parameters.begin(); it != spec.parameters.end(); ++it) {
    const std::string &name = it->first;
    const PatternParameter *parameter = findParameter(pattern.parameters, name);
    const bool hasEffect = parameter != nullptr;
    if (!hasEffect)
      parameter = findParameter(pattern.withoutEffect, name);
    if (!parameter) {
      error = "expects pattern '" + pattern.name + "' to have " +
              (pattern.parameters.empty()
                   ? "no parameters"
                   : "parameters among " +
                         joined(pattern.parameters, [](const auto &p) { return p.name; })) +
              ", but got '" + name + "'";
      return std::nullopt;
    }
    if (std::any_of(spec.parameters.begin(), it,
                    [&](const auto &other) { return other.first == name; })) {
      error = subject(pattern, *parameter) + "once, but got it again with " + toString(it->second);
      return std::nullopt;
    }
    PatternValue value = it->second;
    if (!checkValue(pattern, *parameter, value, error) ||
        (!hasEffect && !checkWithoutEffect(pattern, *parameter, value, block, grid, error)))
      return std::nullopt;
    if (hasEffect)
      arguments.set(name, std::move(value));
  }
  return arguments;
}

/// Returns true if the heads of the pattern are built one by one.
bool headsDiffer(const PatternInfo &pattern, const PatternArguments &arguments, BlockGrid grid) {
  return grid.heads > 1 &&
         findParameter(pattern.parameters, "different_layout_per_head") != nullptr &&
         arguments.boolean("different_layout_per_head");
}

/// Counts the blocks of a large grid before anything is stored, so that a pattern with too many
/// blocks is an error and not an exhausted memory, and so that the arrays are allocated once. The
/// blocks of a small grid are not counted: `count` is then 0.
bool countLargeGrid(const RowFunction &function, BlockGrid grid, int64_t builtHeads, int64_t &count,
                    std::string &error) {
  // The arrays of fewer blocks are too small to matter while they grow.
  constexpr int64_t smallGrid = int64_t{1} << 22;
  static_assert(smallGrid <= BlockLayout::maxBlocks);
  count = 0;
  if (grid.heads * grid.rows * grid.cols <= smallGrid)
    return true;
  const int64_t copies = grid.heads / builtHeads;
  RowColumns cols(grid.cols);
  for (int64_t head = 0; head < builtHeads; ++head) {
    for (int64_t row = 0; row < grid.rows; ++row) {
      cols.clear();
      function(head, row, cols);
      count += cols.finish();
      if (!checkBlockCount(count * copies, error))
        return false;
    }
  }
  return true;
}

/// Builds the rows of `builtHeads` heads and repeats them for the others. `count` is the number of
/// blocks of the built heads, or 0 if it is not known.
std::optional<BlockLayout> buildRows(const RowFunction &function, BlockShape block, BlockGrid grid,
                                     int64_t builtHeads, int64_t count, std::string &error) {
  std::vector<int32_t> offsets, cols;
  offsets.reserve(grid.heads * grid.rows + 1);
  offsets.push_back(0);
  cols.reserve(count * (grid.heads / builtHeads));
  RowColumns row(grid.cols);
  for (int64_t head = 0; head < builtHeads; ++head) {
    for (int64_t index = 0; index < grid.rows; ++index) {
      row.clear();
      function(head, index, row);
      row.finish();
      row.appendTo(cols);
      offsets.push_back(static_cast<int32_t>(cols.size()));
    }
  }
  const size_t numRows = offsets.size() - 1, numCols = cols.size();
  cols.resize(numCols * (grid.heads / builtHeads));
  for (int64_t copy = 1; copy < grid.heads / builtHeads; ++copy) {
    const int32_t shift = static_cast<int32_t>(numCols * copy);
    std::copy_n(cols.begin(), numCols, cols.begin() + shift);
    for (size_t r = 1; r <= numRows; ++r)
      offsets.push_back(offsets[r] + shift);
  }
  return BlockLayout::fromCsr(block, grid, std::move(offsets), std::move(cols), error);
}

} // namespace

bool blocksparse::patterns::checkBlockCount(int64_t count, std::string &error,
                                            const char *precision) {
  if (count <= BlockLayout::maxBlocks)
    return true;
  error = "expects at most " + std::to_string(BlockLayout::maxBlocks) + " stored blocks, but got " +
          precision + " " + std::to_string(count);
  return false;
}

const std::vector<PatternInfo> &blocksparse::patternTable() {
  static const std::vector<PatternInfo> table = [] {
    std::vector<PatternInfo> result;
    for (const PatternDefinition &definition : definitions())
      result.push_back(definition.info);
    return result;
  }();
  return table;
}

const PatternInfo *blocksparse::findPattern(std::string_view name) {
  const PatternDefinition *definition = findDefinition(name);
  return definition ? &definition->info : nullptr;
}

std::optional<BlockLayout> blocksparse::buildPattern(const PatternSpec &spec, BlockShape block,
                                                     BlockGrid grid, std::string &error) {
  const PatternDefinition *definition = findDefinition(spec.name);
  if (!definition) {
    error = "expects a pattern among " +
            joined(definitions(), [](const auto &d) { return d.info.name; }) + ", but got '" +
            spec.name + "'";
    return std::nullopt;
  }
  if (!BlockLayout::checkShapes(block, grid, error))
    return std::nullopt;
  std::optional<PatternArguments> arguments =
      checkArguments(definition->info, spec, block, grid, error);
  if (!arguments)
    return std::nullopt;
  const bool perHead = headsDiffer(definition->info, *arguments, grid);
  RowFunction function = definition->factory({std::move(*arguments), block, grid}, error);
  if (!function)
    return std::nullopt;

  const int64_t builtHeads = perHead ? grid.heads : 1;
  int64_t count;
  if (!countLargeGrid(function, grid, builtHeads, count, error))
    return std::nullopt;
  return buildRows(function, block, grid, builtHeads, count, error);
}

std::vector<std::string> blocksparse::patternNotes(const PatternSpec &spec) {
  std::vector<std::string> notes;
  if (const PatternInfo *pattern = findPattern(spec.name))
    for (const auto &[name, value] : spec.parameters)
      if (const PatternParameter *parameter = findParameter(pattern->withoutEffect, name))
        notes.push_back("parameter '" + name + "' of pattern '" + pattern->name +
                        "' has no effect: " + parameter->doc);
  return notes;
}

std::string_view blocksparse::describe(PatternType type) {
  switch (type) {
  case PatternType::Integer:
    return "an integer";
  case PatternType::Boolean:
    return "a boolean";
  case PatternType::Real:
    return "a number";
  case PatternType::IntegerList:
    return "a list of integers";
  case PatternType::Keyword:
    return "a keyword";
  }
  return "";
}

std::string blocksparse::toString(const PatternValue &value) {
  if (const auto *integer = std::get_if<int64_t>(&value))
    return std::to_string(*integer);
  if (const auto *boolean = std::get_if<bool>(&value))
    return *boolean ? "true" : "false";
  if (const auto *real = std::get_if<double>(&value))
    return realText(*real);
  if (const auto *list = std::get_if<std::vector<int64_t>>(&value))
    return "[" + joined(*list, [](int64_t entry) { return std::to_string(entry); }) + "]";
  return std::get<std::string>(value);
}
