// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PatternRows.h"

#include <algorithm>

using namespace blocksparse;
using namespace blocksparse::patterns;

void RowColumns::add(int64_t begin, int64_t end) {
  begin = std::max<int64_t>(begin, 0);
  end = std::min(end, limit_);
  if (begin >= end)
    return;
  if (!intervals_.empty() && intervals_.back().end == begin)
    intervals_.back().end = static_cast<int32_t>(end);
  else
    intervals_.push_back({static_cast<int32_t>(begin), static_cast<int32_t>(end)});
}

int64_t RowColumns::finish() {
  // Patterns name most columns in order and then a few more, so only the tail has to be sorted, and
  // is merged from the back.
  auto before = [](const Interval &a, const Interval &b) { return a.begin < b.begin; };
  auto tail = std::is_sorted_until(intervals_.begin(), intervals_.end(), before);
  if (tail != intervals_.end()) {
    tail_.assign(tail, intervals_.end());
    std::sort(tail_.begin(), tail_.end(), before);
    auto head = tail, out = intervals_.end();
    for (auto next = tail_.end(); next != tail_.begin();) {
      const bool fromHead = head != intervals_.begin() && before(*(next - 1), *(head - 1));
      *--out = fromHead ? *--head : *--next;
    }
  }
  size_t last = 0;
  for (size_t i = 1; i < intervals_.size(); ++i) {
    if (intervals_[i].begin <= intervals_[last].end)
      intervals_[last].end = std::max(intervals_[last].end, intervals_[i].end);
    else
      intervals_[++last] = intervals_[i];
  }
  if (!intervals_.empty())
    intervals_.resize(last + 1);
  int64_t count = 0;
  for (const Interval &interval : intervals_)
    count += interval.end - interval.begin;
  return count;
}

void RowColumns::appendTo(std::vector<int32_t> &out) const {
  for (const Interval &interval : intervals_)
    for (int32_t col = interval.begin; col < interval.end; ++col)
      out.push_back(col);
}

void ColumnSampler::sample(const CounterRandom &random, int64_t count, int64_t range,
                           RowColumns &cols) {
  // Floyd's sampling: step j adds a column of [0, j], or j itself when the one
  // drawn is taken already; `count` draws whatever the density.
  count = std::min(count, range);
  if (count > 0 && static_cast<int64_t>(taken_.size()) < range)
    taken_.resize(range, false);
  picks_.clear();
  for (int64_t j = range - count; j < range; ++j) {
    int64_t pick = static_cast<int64_t>(random.below(picks_.size(), j + 1));
    if (taken_[pick])
      pick = j;
    taken_[pick] = true;
    picks_.push_back(static_cast<int32_t>(pick));
  }
  std::sort(picks_.begin(), picks_.end());
  for (int32_t pick : picks_) {
    taken_[pick] = false;
    cols.add(pick);
  }
}

PatternParameter blocksparse::patterns::integerParameter(std::string name, int64_t defaultValue,
                                                         std::optional<double> minimum,
                                                         std::string doc) {
  return {std::move(name), PatternType::Integer, defaultValue, minimum, std::nullopt, {},
          std::move(doc)};
}

PatternParameter blocksparse::patterns::booleanParameter(std::string name, bool defaultValue,
                                                         std::string doc) {
  return {std::move(name), PatternType::Boolean, defaultValue, std::nullopt, std::nullopt, {},
          std::move(doc)};
}

PatternParameter blocksparse::patterns::listParameter(std::string name,
                                                      std::vector<int64_t> defaultValue,
                                                      double minimum, std::string doc) {
  return {
      std::move(name), PatternType::IntegerList, std::move(defaultValue), minimum, std::nullopt, {},
      std::move(doc)};
}

PatternParameter blocksparse::patterns::attentionParameter(std::string defaultValue) {
  return {"attention",
          PatternType::Keyword,
          std::move(defaultValue),
          std::nullopt,
          std::nullopt,
          {"unidirectional", "bidirectional"},
          "Whether a row stores only columns up to its own (unidirectional) or "
          "columns on both sides."};
}

PatternParameter blocksparse::patterns::densityParameter() {
  return {"density",
          PatternType::Real,
          0.1,
          0.0,
          1.0,
          {},
          "Share of the grid's blocks that are stored."};
}

PatternParameter blocksparse::patterns::seedParameter() {
  return integerParameter("seed", 0, std::nullopt, "Key of the counter-based random numbers.");
}

PatternParameter blocksparse::patterns::differentLayoutPerHeadParameter(bool defaultValue) {
  return booleanParameter("different_layout_per_head", defaultValue,
                          "Whether each head gets its own version of the "
                          "pattern instead of the first head's.");
}

std::vector<PatternParameter> blocksparse::patterns::parametersWithoutEffect(bool sharesPattern) {
  std::vector<PatternParameter> parameters = {
      integerParameter("num_heads", 1, 1, "the grid gives the number of heads."),
      integerParameter("block", 16, 1, "the layout gives the block shape.")};
  if (sharesPattern)
    parameters.push_back(booleanParameter("different_layout_per_head", false,
                                          "the pattern is the same for every head."));
  return parameters;
}
