// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Layout/MatrixMarket.h"

#include "DenseMask.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

using namespace blocksparse;
using namespace blocksparse::test;

namespace {

CooMatrix parse(const std::string &text) {
  std::string error;
  auto matrix = parseMatrixMarket(text, error);
  EXPECT_TRUE(matrix.has_value()) << error;
  return matrix.value_or(CooMatrix());
}

std::string parseError(const std::string &text) {
  std::string error;
  EXPECT_FALSE(parseMatrixMarket(text, error).has_value());
  return error;
}

std::vector<double> denseOf(const CooMatrix &matrix) {
  std::vector<double> dense(matrix.rows * matrix.cols, 0.0);
  for (size_t i = 0; i < matrix.values.size(); ++i)
    dense[matrix.rowIndices[i] * matrix.cols + matrix.colIndices[i]] += matrix.values[i];
  return dense;
}

const std::string realGeneral = "%%MatrixMarket matrix coordinate real general\n";

TEST(MatrixMarketTest, RealGeneral) {
  const CooMatrix matrix = parse(realGeneral + "% a comment\n\n2 3 3\n1 1 1.5\n% another\n2\t3  "
                                               "-2e-3\r\n1 3 +4");
  EXPECT_EQ(matrix.rows, 2);
  EXPECT_EQ(matrix.cols, 3);
  EXPECT_EQ(matrix.rowIndices, (std::vector<int64_t>{0, 1, 0}));
  EXPECT_EQ(matrix.colIndices, (std::vector<int64_t>{0, 2, 2}));
  EXPECT_EQ(matrix.values, (std::vector<double>{1.5, -2e-3, 4}));
}

TEST(MatrixMarketTest, IntegerSymmetricIsMirrored) {
  const CooMatrix matrix = parse("%%MatrixMarket MATRIX Coordinate Integer Symmetric\n"
                                 "2 2 2\n1 1 7\n2 1 -3\n");
  EXPECT_EQ(denseOf(matrix), (std::vector<double>{7, -3, -3, 0}));
}

TEST(MatrixMarketTest, PatternEntriesAreOne) {
  const CooMatrix matrix = parse("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n");
  EXPECT_EQ(denseOf(matrix), (std::vector<double>{0, 0, 1, 0}));
}

TEST(MatrixMarketTest, MatrixWithoutEntries) {
  EXPECT_TRUE(parse(realGeneral + "4 4 0\n").values.empty());
}

TEST(MatrixMarketTest, BannerErrors) {
  EXPECT_EQ(parseError(""), "line 1: expects '%%MatrixMarket matrix coordinate <field> "
                            "<symmetry>', but got an empty text");
  EXPECT_EQ(parseError("1 1 1\n"), "line 1: expects '%%MatrixMarket matrix coordinate <field> "
                                   "<symmetry>', but got '1 1 1'");
  EXPECT_EQ(parseError("%%MatrixMarket matrix array real general\n"),
            "line 1: expects format coordinate, but got array");
  EXPECT_EQ(parseError("%%MatrixMarket matrix coordinate complex general\n"),
            "line 1: expects field real, integer or pattern, but got complex");
  EXPECT_EQ(parseError("%%MatrixMarket matrix coordinate real hermitian\n"),
            "line 1: expects symmetry general or symmetric, but got hermitian");
}

TEST(MatrixMarketTest, SizeErrors) {
  EXPECT_EQ(parseError(realGeneral + "%\n2 2\n"),
            "line 3: expects 3 sizes (rows, columns, entries), but got 2");
  EXPECT_EQ(parseError(realGeneral), "line 1: expects 3 sizes (rows, columns, entries), but got 0");
  EXPECT_EQ(parseError(realGeneral + "2 -2 1\n"),
            "line 2: expects a non-negative number of columns, but got '-2'");
  EXPECT_EQ(parseError(realGeneral + "2 2 99999999999999999999\n"),
            "line 2: expects a non-negative number of entries, but got "
            "'99999999999999999999'");
  EXPECT_EQ(parseError("%%MatrixMarket matrix coordinate real symmetric\n"
                       "2 3 0\n"),
            "line 2: expects a symmetric matrix to be square, but got 2 x 3");
}

TEST(MatrixMarketTest, EntryErrors) {
  const std::string start = realGeneral + "2 2 2\n1 1 1\n";
  EXPECT_EQ(parseError(start + "3 1 1\n"), "line 4: expects row index in [1, 2], but got 3");
  EXPECT_EQ(parseError(start + "\n1 0 1\n"), "line 5: expects column index in [1, 2], but got 0");
  EXPECT_EQ(parseError(start + "1 x 1\n"), "line 4: expects column index in [1, 2], but got x");
  EXPECT_EQ(parseError(start + "1 2\n"),
            "line 4: expects 3 numbers (row, column, value), but got 2");
  EXPECT_EQ(parseError(start + "1 2 1.5z\n"), "line 4: expects a real number, but got '1.5z'");
  EXPECT_EQ(parseError(start), "line 3: expects 2 entries, but got 1");
  EXPECT_EQ(parseError(start + "1 2 1\n2 2 1\n"), "line 5: expects 2 entries, but got entry 3");
  EXPECT_EQ(parseError("%%MatrixMarket matrix coordinate integer general\n"
                       "1 1 1\n1 1 0.5\n"),
            "line 3: expects an integer, but got '0.5'");
  EXPECT_EQ(parseError("%%MatrixMarket matrix coordinate pattern general\n"
                       "1 1 1\n1 1 1\n"),
            "line 3: expects 2 numbers (row, column), but got 3");
  EXPECT_EQ(parseError("%%MatrixMarket matrix coordinate real symmetric\n"
                       "2 2 1\n1 2 1\n"),
            "line 3: expects entries of a symmetric matrix on or below the "
            "diagonal, but got row 1 and column 2");
}

// A line of any length is quoted, and split into words, only in part.
TEST(MatrixMarketTest, LongLinesHaveShortErrors) {
  std::string error;
  EXPECT_FALSE(parseMatrixMarket(std::string(1 << 20, 'x'), error));
  EXPECT_EQ(error,
            "line 1: expects '%%MatrixMarket matrix coordinate <field> <symmetry>', but got '" +
                std::string(64, 'x') + "...'");
  std::string words = "%%MatrixMarket matrix coordinate real general\n";
  for (int i = 0; i < 100000; ++i)
    words += "1 ";
  EXPECT_FALSE(parseMatrixMarket(words, error));
  EXPECT_EQ(error, "line 2: expects 3 sizes (rows, columns, entries), but got more than 5");
  EXPECT_FALSE(parseMatrixMarket("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 " +
                                     std::string(1000, '9') + "x\n",
                                 error));
  EXPECT_EQ(error, "line 3: expects a real number, but got '" + std::string(64, '9') + "...'");
}

TEST(MatrixMarketTest, OnlyRegularFilesAreRead) {
  std::string error;
  EXPECT_FALSE(readMatrixMarket("/dev/zero", error));
  EXPECT_EQ(error, "/dev/zero: expects a regular file, but got a directory or a device");
}

TEST(MatrixMarketTest, FilesAndTheirErrors) {
  const std::string path = testing::TempDir() + "blocksparse-layout-test.mtx";
  std::ofstream(path) << realGeneral << "1 1 1\n1 1 3\n";
  std::string error;
  const auto matrix = readMatrixMarket(path, error);
  ASSERT_TRUE(matrix) << error;
  EXPECT_EQ(denseOf(*matrix), std::vector<double>{3});
  std::ofstream(path) << realGeneral << "1 1 1\n1 2 3\n";
  EXPECT_FALSE(readMatrixMarket(path, error));
  EXPECT_EQ(error, path + ": line 3: expects column index in [1, 1], but got 2");
  std::remove(path.c_str());
  EXPECT_FALSE(readMatrixMarket(path, error));
  EXPECT_EQ(error, path + ": expects a readable file, but got 'No such file or "
                          "directory'");
}

/// Returns the dense matrix, assembled from its blocks, and checks that their padding is 0.
std::vector<double> denseOf(const BsrMatrix &bsr) {
  std::vector<double> dense(bsr.rows * bsr.cols, 0.0);
  const BlockShape block = bsr.layout.block();
  for (const BlockCoordinate &b : bsr.layout.coordinates())
    for (int64_t i = 0; i < block.rows; ++i)
      for (int64_t j = 0; j < block.cols; ++j) {
        const double value = bsr.values[(b.value * block.rows + i) * block.cols + j];
        const int64_t row = b.row * block.rows + i, col = b.col * block.cols + j;
        if (row < bsr.rows && col < bsr.cols)
          dense[row * bsr.cols + col] = value;
        else
          EXPECT_EQ(value, 0);
      }
  return dense;
}

TEST(ToBsrTest, AgreesWithTheDenseMatrix) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const CounterRandom random(seed, 0, 0);
    CooMatrix matrix;
    matrix.rows = 1 + random.below(0, 20);
    matrix.cols = 1 + random.below(1, 20);
    for (uint64_t i = 0, e = random.below(2, 40); i < e; ++i) {
      matrix.rowIndices.push_back(random.below(3 + 3 * i, matrix.rows));
      matrix.colIndices.push_back(random.below(4 + 3 * i, matrix.cols));
      matrix.values.push_back(double(random.below(5 + 3 * i, 100)) - 50);
    }
    for (BlockShape block :
         {BlockShape{1, 1}, BlockShape{2, 3}, BlockShape{4, 4}, BlockShape{32, 8}}) {
      std::string error;
      const auto bsr = toBsr(matrix, block, error);
      ASSERT_TRUE(bsr) << error;
      EXPECT_EQ(denseOf(*bsr), denseOf(matrix));
      DenseMask expected(bsr->layout.grid());
      for (size_t i = 0; i < matrix.values.size(); ++i)
        expected.at(0, matrix.rowIndices[i] / block.rows, matrix.colIndices[i] / block.cols) = 1;
      EXPECT_EQ(maskOf(bsr->layout), expected);
    }
  }
}

TEST(ToBsrTest, StoredZerosKeepTheirBlockAndTwinsAddUp) {
  std::string error;
  const auto bsr = toBsr(parse(realGeneral + "4 4 3\n1 1 2\n1 1 3\n4 4 0\n"), {2, 2}, error);
  ASSERT_TRUE(bsr) << error;
  EXPECT_EQ(textOf(maskOf(bsr->layout)), (std::vector<std::string>{"10", "01"}));
  EXPECT_EQ(bsr->values, (std::vector<double>{5, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(ToBsrTest, Errors) {
  std::string error;
  EXPECT_FALSE(toBsr({2, 2, {0}, {0}, {1.0}}, {0, 2}, error));
  EXPECT_EQ(error, "expects a positive block shape, but got 0 x 2");
  EXPECT_FALSE(toBsr({2, 2, {2}, {0}, {1.0}}, {2, 2}, error));
  EXPECT_EQ(error, "expects entries within 2 x 2, but got row 2 and column 0");
  EXPECT_FALSE(toBsr({2, 2, {0, 1}, {0}, {1.0}}, {2, 2}, error));
  EXPECT_EQ(error, "expects 1 row and column indices (as values), but got 2 and "
                   "1");
  EXPECT_FALSE(toBsr({-1, 2, {}, {}, {}}, {2, 2}, error));
  EXPECT_EQ(error, "expects a matrix of at least 0 x 0, but got -1 x 2");
  EXPECT_FALSE(toBsr({2, 2, {0}, {0}, {1.0}}, {1 << 20, 1 << 20}, error));
  EXPECT_EQ(error, "expects a block of at most 2147483647 elements, but got 1048576 x 1048576");
  EXPECT_FALSE(toBsr({2, 2, {0}, {0}, {1.0}}, {1 << 15, (1 << 15) + 1}, error));
  EXPECT_EQ(error, "expects at most 1073741824 values in the stored blocks, but got 1 blocks of "
                   "32768 x 32769");
  EXPECT_FALSE(toBsr({int64_t{1} << 62, 1, {0}, {0}, {1.0}}, {1, 1}, error));
  EXPECT_EQ(error, "expects heads x block rows of at most 134217728, but got 1 x "
                   "4611686018427387904");
}

} // namespace
