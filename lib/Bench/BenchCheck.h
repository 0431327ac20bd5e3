// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares sampled parts of the results of benchmark points with the reference.

#ifndef BLOCKSPARSE_LIB_BENCH_BENCHCHECK_H
#define BLOCKSPARSE_LIB_BENCH_BENCHCHECK_H

#include "BenchData.h"

namespace mlir::blocksparse {

/// Holds the verdict on the results of a point.
struct BenchCheck {
  int64_t samples = 0;
  /// Number of elements compared, and number of those beyond the error bound.
  int64_t elements = 0, failures = 0;
  /// Largest ratio of error and error bound.
  double worstRatio = 0;
  /// Number of elements of the complete result that are NaN or infinite.
  int64_t nonFinite = 0;
  /// True if later calls returned the same bits; set by the caller.
  bool repeatable = true;
  /// Reason why there is no verdict.
  std::string error;
  /// Location of the first failure.
  std::string detail;

  /// Returns true if the results are correct.
  bool ok() const { return error.empty() && failures == 0 && nonFinite == 0 && repeatable; }
  /// Returns "PASS .41" or "FAIL ...".
  std::string describe() const;
};

/// Computes `count` random parts of the result in f64 with lib/Reference, and compares them within
/// the error bound, which grows with the length of the reduction and the magnitude of the operands.
/// A part is
///   a row, at most 256 columns of it    dsd, bsr_addmm, matmul
///   a column, at most 256 rows of it    dds
///   at most 16 rows of a stored block   sdd
///   a row                               softmax, softmax_grad, attention (out), attention_grad (of
///   dq, dk or dv)
/// One row (column, block) is drawn from each of `count` equal strata of the result. All elements
/// of the result, of attention_grad of all results, are tested for NaN and infinity.
BenchCheck checkBenchResult(const BenchPoint &point, const ::blocksparse::BlockLayout &layout,
                            const BenchTensors &operands,
                            llvm::ArrayRef<::blocksparse::HostTensor> results, int64_t count,
                            uint64_t seed);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_BENCH_BENCHCHECK_H
