// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LAYOUT_PATTERNS_H
#define BLOCKSPARSE_LAYOUT_PATTERNS_H

#include "blocksparse/Layout/BlockLayout.h"

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace blocksparse {

/// The value of a pattern parameter. Strings are keywords, as in
/// `attention = "unidirectional"`.
using PatternValue = std::variant<int64_t, bool, double, std::vector<int64_t>, std::string>;

/// Enumerates the types of a parameter, in the order of PatternValue's alternatives. An integer is
/// accepted where a real number is expected.
enum class PatternType { Integer, Boolean, Real, IntegerList, Keyword };

/// Describes a named pattern as a user writes it, before it is built for a grid. Parameters that
/// are not named have the defaults of patternTable().
struct PatternSpec {
  std::string name;
  std::vector<std::pair<std::string, PatternValue>> parameters;
  bool operator==(const PatternSpec &) const = default;
};

/// Describes one parameter of a named pattern.
struct PatternParameter {
  std::string name;
  PatternType type;
  PatternValue defaultValue;
  /// Inclusive bounds of a number, or of each entry of a list; absent where
  /// any value will do.
  std::optional<double> minimum, maximum;
  /// The words that a keyword may be; empty for other types.
  std::vector<std::string> keywords;
  /// One sentence.
  std::string doc;
};

/// Describes one named pattern.
struct PatternInfo {
  std::string name;
  /// A second name for the same pattern, or empty.
  std::string alias;
  /// One sentence: which blocks the pattern stores.
  std::string doc;
  std::vector<PatternParameter> parameters;
  /// Parameters of DeepSpeed's configuration of this name that change nothing here. They are
  /// accepted, with a note from patternNotes(); their defaults have no meaning.
  std::vector<PatternParameter> withoutEffect = {};
};

/// Returns every named pattern with its parameters, in the order of the documentation.
const std::vector<PatternInfo> &patternTable();

/// Returns the entry with this name or alias, or null if there is none.
const PatternInfo *findPattern(std::string_view name);

/// Builds the layout of `spec` on `grid`, in time proportional to the stored blocks plus the block
/// rows (plus 2^26 positions of the grid at most for `random`). While it is built, the layout takes
/// at most 12 bytes for each stored block and block row, and 24 bytes for each run of columns of
/// the longest row.
///
/// Rows and columns are block indices unless a parameter says "elements". The
/// heads of the grid share one pattern, unless the pattern has a parameter
/// `different_layout_per_head` and it is true. Equal arguments give equal
/// layouts on every machine; see CounterRandom.h for where chance comes from.
///
/// Fails with one error for an unknown name or parameter, a parameter given twice, a value of the
/// wrong type or out of range, a DeepSpeed parameter without effect that contradicts the block or
/// the grid, and for shapes or a block count that BlockLayout rejects.
std::optional<BlockLayout> buildPattern(const PatternSpec &spec, BlockShape block, BlockGrid grid,
                                        std::string &error);

/// Returns a note for each parameter of `spec` that is accepted but changes nothing, such as
/// "parameter 'num_heads' of pattern 'fixed' has no effect: ...". A caller shows them as remarks.
std::vector<std::string> patternNotes(const PatternSpec &spec);

/// Returns the name of the type for messages and documentation, such as "an integer" or "a list of
/// integers".
std::string_view describe(PatternType type);
/// Returns the value as a user writes it: 3, true, 0.25, [0, 4], unidirectional.
std::string toString(const PatternValue &value);

} // namespace blocksparse

#endif // BLOCKSPARSE_LAYOUT_PATTERNS_H
