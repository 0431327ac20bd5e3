// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Layout/MatrixMarket.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace blocksparse;

namespace {

enum class Field { Real, Integer, Pattern };

/// Returns the first characters of a word for messages.
std::string shortened(std::string_view word) {
  constexpr size_t limit = 64;
  return std::string(word.substr(0, limit)) + (word.size() > limit ? "..." : "");
}

std::string quoted(std::string_view word) { return "'" + shortened(word) + "'"; }

/// No line has more words than the banner.
constexpr size_t maxWords = 5;

/// Splits a line at blanks and tabs; carriage returns count as blanks. A line that has more than
/// maxWords words gives maxWords + 1.
std::vector<std::string_view> splitWords(std::string_view line) {
  constexpr std::string_view blanks = " \t\r\f\v";
  std::vector<std::string_view> words;
  while (true) {
    if (words.size() > maxWords)
      return words;
    const size_t begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos)
      return words;
    const size_t end = std::min(line.find_first_of(blanks, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
}

/// Returns the number of words for messages.
std::string countText(const std::vector<std::string_view> &words) {
  return words.size() > maxWords ? "more than " + std::to_string(maxWords)
                                 : std::to_string(words.size());
}

std::string lowered(std::string_view word) {
  std::string result(word);
  for (char &c : result)
    if (c >= 'A' && c <= 'Z')
      c += 'a' - 'A';
  return result;
}

template <typename Number>
bool parseNumber(std::string_view word, Number &value) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-')
    word.remove_prefix(1);
  auto result = std::from_chars(word.data(), word.data() + word.size(), value);
  return result.ec == std::errc() && result.ptr == word.data() + word.size();
}

class Parser {
public:
  Parser(std::string_view text, std::string &error)
      : rest_(text), textSize_(text.size()), error_(error) {}

  std::optional<CooMatrix> run() {
    if (!readBanner() || !readSizes() || !readEntries())
      return std::nullopt;
    return std::move(matrix_);
  }

private:
  bool fail(const std::string &expected, const std::string &got) {
    error_ = "line " + std::to_string(lineNumber_) + ": expects " + expected + ", but got " + got;
    return false;
  }

  bool nextLine(std::string_view &line) {
    if (rest_.empty())
      return false;
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++lineNumber_;
    return true;
  }

  /// Returns the words of the next line that is neither blank nor a comment, and none at the end of
  /// the text.
  std::vector<std::string_view> nextWords() {
    std::string_view line;
    while (nextLine(line)) {
      std::vector<std::string_view> words = splitWords(line);
      if (!words.empty() && words[0][0] != '%')
        return words;
    }
    return {};
  }

  bool readBanner() {
    const std::string expected = "'%%MatrixMarket matrix coordinate <field> <symmetry>'";
    std::string_view line;
    if (!nextLine(line)) {
      lineNumber_ = 1;
      return fail(expected, "an empty text");
    }
    std::vector<std::string> words;
    for (std::string_view word : splitWords(line))
      words.push_back(lowered(word));
    if (words.size() != 5 || words[0] != "%%matrixmarket" || words[1] != "matrix")
      return fail(expected, quoted(line));
    if (words[2] != "coordinate")
      return fail("format coordinate", shortened(words[2]));
    if (words[3] == "real")
      field_ = Field::Real;
    else if (words[3] == "integer")
      field_ = Field::Integer;
    else if (words[3] == "pattern")
      field_ = Field::Pattern;
    else
      return fail("field real, integer or pattern", shortened(words[3]));
    if (words[4] != "general" && words[4] != "symmetric")
      return fail("symmetry general or symmetric", shortened(words[4]));
    symmetric_ = words[4] == "symmetric";
    return true;
  }

  bool readCount(std::string_view word, const char *what, int64_t &value) {
    if (parseNumber(word, value) && value >= 0)
      return true;
    return fail(std::string("a non-negative number of ") + what, quoted(word));
  }

  bool readSizes() {
    const auto words = nextWords();
    if (words.size() != 3)
      return fail("3 sizes (rows, columns, entries)", countText(words));
    if (!readCount(words[0], "rows", matrix_.rows) ||
        !readCount(words[1], "columns", matrix_.cols) ||
        !readCount(words[2], "entries", numEntries_))
      return false;
    if (symmetric_ && matrix_.rows != matrix_.cols)
      return fail("a symmetric matrix to be square",
                  std::to_string(matrix_.rows) + " x " + std::to_string(matrix_.cols));
    // The header may lie; an entry takes at least four characters.
    const size_t likely = std::min<size_t>(numEntries_, textSize_ / 4 + 1);
    matrix_.rowIndices.reserve(likely);
    matrix_.colIndices.reserve(likely);
    matrix_.values.reserve(likely);
    return true;
  }

  bool readIndex(std::string_view word, const char *axis, int64_t extent, int64_t &index) {
    if (!parseNumber(word, index) || index < 1 || index > extent)
      return fail(std::string(axis) + " index in [1, " + std::to_string(extent) + "]",
                  shortened(word));
    --index;
    return true;
  }

  bool readValue(std::string_view word, double &value) {
    if (field_ == Field::Real)
      return parseNumber(word, value) || fail("a real number", quoted(word));
    int64_t integer;
    if (!parseNumber(word, integer))
      return fail("an integer", quoted(word));
    value = static_cast<double>(integer);
    return true;
  }

  void push(int64_t row, int64_t col, double value) {
    matrix_.rowIndices.push_back(row);
    matrix_.colIndices.push_back(col);
    matrix_.values.push_back(value);
  }

  bool readEntry(const std::vector<std::string_view> &words) {
    const size_t numWords = field_ == Field::Pattern ? 2 : 3;
    if (words.size() != numWords)
      return fail(numWords == 2 ? "2 numbers (row, column)" : "3 numbers (row, column, value)",
                  countText(words));
    int64_t row, col;
    double value = 1;
    if (!readIndex(words[0], "row", matrix_.rows, row) ||
        !readIndex(words[1], "column", matrix_.cols, col) ||
        (numWords == 3 && !readValue(words[2], value)))
      return false;
    if (symmetric_ && col > row)
      return fail("entries of a symmetric matrix on or below the diagonal",
                  "row " + std::to_string(row + 1) + " and column " + std::to_string(col + 1));
    push(row, col, value);
    if (symmetric_ && row != col)
      push(col, row, value);
    return true;
  }

  bool readEntries() {
    int64_t count = 0;
    for (auto words = nextWords(); !words.empty(); words = nextWords()) {
      if (++count > numEntries_)
        return fail(std::to_string(numEntries_) + " entries", "entry " + std::to_string(count));
      if (!readEntry(words))
        return false;
    }
    return count == numEntries_ ||
           fail(std::to_string(numEntries_) + " entries", std::to_string(count));
  }

  std::string_view rest_;
  size_t textSize_;
  std::string &error_;
  int64_t lineNumber_ = 0;
  Field field_ = Field::Real;
  bool symmetric_ = false;
  int64_t numEntries_ = 0;
  CooMatrix matrix_;
};

int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

bool checkEntries(const CooMatrix &matrix, std::string &error) {
  if (matrix.rows < 0 || matrix.cols < 0) {
    error = "expects a matrix of at least 0 x 0, but got " + std::to_string(matrix.rows) + " x " +
            std::to_string(matrix.cols);
    return false;
  }
  const size_t count = matrix.values.size();
  if (matrix.rowIndices.size() != count || matrix.colIndices.size() != count) {
    error = "expects " + std::to_string(count) + " row and column indices (as values), but got " +
            std::to_string(matrix.rowIndices.size()) + " and " +
            std::to_string(matrix.colIndices.size());
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    const int64_t row = matrix.rowIndices[i], col = matrix.colIndices[i];
    if (row >= 0 && row < matrix.rows && col >= 0 && col < matrix.cols)
      continue;
    error = "expects entries within " + std::to_string(matrix.rows) + " x " +
            std::to_string(matrix.cols) + ", but got row " + std::to_string(row) + " and column " +
            std::to_string(col);
    return false;
  }
  return true;
}

/// Returns the layout of the blocks that contain an entry.
std::optional<BlockLayout> layoutOf(const CooMatrix &matrix, BlockShape block, BlockGrid grid,
                                    std::string &error) {
  // Block rows and columns fit an int32 each, so that a pair fits a word.
  std::vector<uint64_t> blocks(matrix.values.size());
  for (size_t i = 0; i < blocks.size(); ++i)
    blocks[i] = static_cast<uint64_t>(matrix.rowIndices[i] / block.rows) << 32 |
                static_cast<uint64_t>(matrix.colIndices[i] / block.cols);
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  std::vector<int32_t> offsets(grid.rows + 1, 0), cols(blocks.size());
  for (size_t p = 0; p < blocks.size(); ++p) {
    ++offsets[(blocks[p] >> 32) + 1];
    cols[p] = static_cast<int32_t>(blocks[p] & 0xffffffff);
  }
  for (int64_t row = 0; row < grid.rows; ++row)
    offsets[row + 1] += offsets[row];
  return BlockLayout::fromCsr(block, grid, std::move(offsets), std::move(cols), error);
}

bool countValues(const BlockLayout &layout, int64_t &count, std::string &error) {
  constexpr int64_t limit = int64_t{1} << 30;
  if (!__builtin_mul_overflow(layout.block().rows, layout.block().cols, &count) &&
      !__builtin_mul_overflow(count, layout.nnz(), &count) && count <= limit)
    return true;
  error = "expects at most " + std::to_string(limit) + " values in the stored blocks, but got " +
          std::to_string(layout.nnz()) + " blocks of " + std::to_string(layout.block().rows) +
          " x " + std::to_string(layout.block().cols);
  return false;
}

} // namespace

std::optional<CooMatrix> blocksparse::parseMatrixMarket(std::string_view text, std::string &error) {
  return Parser(text, error).run();
}

std::optional<CooMatrix> blocksparse::readMatrixMarket(const std::string &path,
                                                       std::string &error) {
  // A device may have no end.
  std::error_code status;
  if (std::filesystem::exists(path, status) && !std::filesystem::is_regular_file(path, status)) {
    error = path + ": expects a regular file, but got a directory or a device";
    return std::nullopt;
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file)
    text << file.rdbuf();
  // An empty file sets the stream's fail bit; the parser reports that better.
  if (!file.is_open() || file.bad()) {
    error = path + ": expects a readable file, but got '" + std::strerror(errno) + "'";
    return std::nullopt;
  }
  auto matrix = parseMatrixMarket(text.view(), error);
  if (!matrix)
    error = path + ": " + error;
  return matrix;
}

std::optional<BsrMatrix> blocksparse::toBsr(const CooMatrix &matrix, BlockShape block,
                                            std::string &error) {
  const bool positive = block.rows > 0 && block.cols > 0;
  const BlockGrid grid = {1, positive ? ceilDiv(matrix.rows, block.rows) : 0,
                          positive ? ceilDiv(matrix.cols, block.cols) : 0};
  if (!BlockLayout::checkShapes(block, grid, error) || !checkEntries(matrix, error))
    return std::nullopt;
  std::optional<BlockLayout> layout = layoutOf(matrix, block, grid, error);
  int64_t numValues;
  if (!layout || !countValues(*layout, numValues, error))
    return std::nullopt;

  BsrMatrix result{matrix.rows, matrix.cols, std::move(*layout), {}};
  result.values.resize(numValues, 0.0);
  for (size_t i = 0; i < matrix.values.size(); ++i) {
    const int64_t row = matrix.rowIndices[i], col = matrix.colIndices[i];
    const auto cols = result.layout.row(0, row / block.rows);
    const int64_t place =
        result.layout.rowOffsets()[row / block.rows] +
        (std::lower_bound(cols.begin(), cols.end(), col / block.cols) - cols.begin());
    result.values[(place * block.rows + row % block.rows) * block.cols + col % block.cols] +=
        matrix.values[i];
  }
  return result;
}
