// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reports the results of blocksparse-bench as a table and as JSON.

#ifndef BLOCKSPARSE_LIB_BENCH_BENCHREPORT_H
#define BLOCKSPARSE_LIB_BENCH_BENCHREPORT_H

#include "BenchCalls.h"
#include "BenchCheck.h"

namespace mlir::blocksparse {

/// Holds the result of one point.
struct BenchResult {
  /// Lists the outcomes of a point.
  enum class Status { Passed, Compiled, Failed, Error, Skipped };

  Status status = Status::Skipped;
  BenchPoint point;
  std::string error, schedule;
  /// Number of stored blocks of one head, and their share of the grid, 0 to 1.
  int64_t nnz = 0;
  double density = 0;
  double compileMilliseconds = 0, linkMilliseconds = 0;
  BenchTimes times;
  BenchCheck check;
  /// Useful work of one call: operations, or the bytes that softmax reads and writes.
  double work = 0;

  /// Returns true if the point passed, or was compiled as requested.
  bool ok() const { return status == Status::Passed || status == Status::Compiled; }
};

/// Returns the useful work of a point over all heads. For products this is 2 * nnz * bm * bn * (the
/// dense factor's free dimension) operations, or the equivalent; for softmax the bytes of values
/// read and written.
double countBenchWork(const BenchPoint &point, int64_t nnz);

/// Holds the roofs that rates are compared with; 0: not given.
struct BenchRoofs {
  /// TFLOP/s and GB/s.
  double operations = 0, bytes = 0;
};

/// Prints the table, one line for each point as soon as it is measured.
class BenchTable {
public:
  BenchTable(llvm::raw_ostream &os, ArrayRef<BenchPoint> points, BenchRoofs roofs);
  void printHeader();
  void print(const BenchResult &result);

private:
  void printRow(ArrayRef<std::string> cells);

  llvm::raw_ostream &os;
  BenchRoofs roofs;
  SmallVector<size_t> widths;
};

/// Returns the result of a point as JSON (docs/Benchmarking.md).
llvm::json::Object toJSON(const BenchResult &result, const BenchRoofs &roofs);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_BENCH_BENCHREPORT_H
