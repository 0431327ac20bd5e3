// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Results of benchmark points against the reference, at sampled places.

#ifndef BLOCKSPARSE_LIB_BENCH_BENCHCHECK_H
#define BLOCKSPARSE_LIB_BENCH_BENCHCHECK_H

#include "BenchData.h"

namespace mlir::blocksparse {

struct BenchCheck {
  int64_t samples = 0;
  /// Elements compared, and those beyond the bound.
  int64_t elements = 0, failures = 0;
  /// The largest error / bound.
  double worstRatio = 0;
  /// NaN or infinite, in the whole result.
  int64_t nonFinite = 0;
  /// Whether later calls gave the same bits; set by the caller.
  bool repeatable = true;
  /// Why there is no verdict.
  std::string error;
  /// Where the first failure is.
  std::string detail;

  bool ok() const { return error.empty() && failures == 0 && nonFinite == 0 && repeatable; }
  /// "PASS .41" or "FAIL ...".
  std::string describe() const;
};

/// Computes `count` random parts of the result in f64 with lib/Reference and compares them within
/// its bound, which grows with the length of the sums and the size of the operands. A part is
///   a row, at most 256 columns of it    dsd, bsr_addmm, matmul
///   a column, at most 256 rows of it    dds
///   at most 16 rows of a stored block   sdd
///   a row                               softmax, softmax_grad, attention (out)
/// The rows (columns, blocks) come one from each of `count` equal strata of the result. All
/// elements are looked through for NaN and infinity.
BenchCheck checkBenchResult(const BenchPoint &point, const ::blocksparse::BlockLayout &layout,
                            const BenchTensors &operands, const ::blocksparse::HostTensor &result,
                            int64_t count, uint64_t seed);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_BENCH_BENCHCHECK_H
