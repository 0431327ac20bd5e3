// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Options of the tools whose value is a number in a range.

#ifndef BLOCKSPARSE_COMPILER_NUMBEROPTION_H
#define BLOCKSPARSE_COMPILER_NUMBEROPTION_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

namespace mlir::blocksparse {

/// Is what NumberParser reads. LLVM's printer of options finds the parser by this type.
template <typename Number>
struct ParsedNumber {
  Number value = 0;
  operator Number() const { return value; }
};

/// Parses the number of an option. One that is out of the option's range, or that `Number` cannot
/// hold, is an error with both values.
template <typename Number>
class NumberParser : public llvm::cl::basic_parser<ParsedNumber<Number>> {
public:
  using llvm::cl::basic_parser<ParsedNumber<Number>>::basic_parser;

  bool parse(llvm::cl::Option &option, llvm::StringRef, llvm::StringRef text,
             ParsedNumber<Number> &parsed) {
    Number &value = parsed.value;
    if (text.empty() && withoutText) {
      value = *withoutText;
      return false;
    }
    bool invalid;
    if constexpr (std::is_floating_point_v<Number>)
      invalid = text.empty() || !llvm::to_float(text, value);
    else
      invalid = text.getAsInteger(0, value);
    // NaN is in no range.
    if (!invalid && value >= least && value <= most)
      return false;
    const char *kind = std::is_floating_point_v<Number> ? "a number" : "an integer";
    return option.error(llvm::formatv("expects {0} from {1} to {2}, but got '{3}'", kind,
                                      print(least), print(most), text)
                            .str());
  }

  llvm::StringRef getValueName() const override { return "number"; }

  void printValue(const llvm::cl::Option &option, Number value, size_t globalWidth) const {
    this->printOptionName(option, globalWidth);
    llvm::outs() << "= " << print(value) << "\n";
  }

  Number least = std::numeric_limits<Number>::lowest(), most = std::numeric_limits<Number>::max();
  /// Value of the option where it is given without one.
  std::optional<Number> withoutText;

private:
  static std::string print(Number number) {
    char digits[32];
    return {digits, std::to_chars(digits, std::end(digits), number).ptr};
  }
};

/// Is an option with one number.
template <typename Number>
using NumberOption = llvm::cl::opt<Number, false, NumberParser<Number>>;

/// Sets the range of a NumberOption, bounds included.
template <typename Number>
struct InRange {
  Number least, most;
  template <typename Option>
  void apply(Option &option) const {
    option.getParser().least = least;
    option.getParser().most = most;
  }
};

/// Lets a NumberOption stand without a value: `value` is meant.
template <typename Number>
struct OrWithout {
  Number value;
  template <typename Option>
  void apply(Option &option) const {
    option.getParser().withoutText = value;
    option.setValueExpectedFlag(llvm::cl::ValueOptional);
  }
};

/// Is the largest number of threads that a tool starts.
inline constexpr unsigned maxThreads = 1024;

} // namespace mlir::blocksparse

/// Prints the value of a NumberOption for --print-options.
template <typename Number>
struct llvm::cl::OptionDiffPrinter<mlir::blocksparse::ParsedNumber<Number>, Number> {
  void print(const Option &option, const mlir::blocksparse::NumberParser<Number> &parser,
             const Number &value, const OptionValue<Number> &, size_t globalWidth) {
    parser.printValue(option, value, globalWidth);
  }
};

#endif // BLOCKSPARSE_COMPILER_NUMBEROPTION_H
