// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What blocksparse-bench says.

#ifndef BLOCKSPARSE_LIB_BENCH_BENCHREPORT_H
#define BLOCKSPARSE_LIB_BENCH_BENCHREPORT_H

#include "BenchCalls.h"
#include "BenchCheck.h"

namespace mlir::blocksparse {

/// What there is to say about one point.
struct BenchResult {
  enum class Status { Passed, Compiled, Failed, Error, Skipped };

  Status status = Status::Skipped;
  BenchPoint point;
  std::string error, schedule;
  /// Stored blocks of one head, and their share of the grid.
  int64_t nnz = 0;
  double density = 0;
  double compileMilliseconds = 0, linkMilliseconds = 0;
  BenchTimes times;
  BenchCheck check;
  /// Operations that are asked for, or bytes that softmax reads and writes, in one call.
  double work = 0;

  bool ok() const { return status == Status::Passed || status == Status::Compiled; }
};

/// 2 * nnz * bm * bn * (the dense factor's free dimension) and its kin; for softmax bytes of the
/// values read and written. Over all heads.
double countBenchWork(const BenchPoint &point, int64_t nnz);

/// What rates are compared with; 0: not given.
struct BenchRoofs {
  /// TFLOP/s and GB/s.
  double operations = 0, bytes = 0;
};

/// The table, a line for each point as it is done.
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

llvm::json::Object toJSON(const BenchResult &result, const BenchRoofs &roofs);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_BENCH_BENCHREPORT_H
