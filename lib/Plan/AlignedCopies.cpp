// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/AlignedCopies.h"

using namespace blocksparse;

bool blocksparse::hasAlignedRows(int64_t cols, std::optional<ElementType> type) {
  constexpr int64_t alignment = 16;
  return cols == unknownSize || !type || cols * elementSize(*type) % alignment == 0;
}

AlignedCopies AlignedCopies::get(const KernelProblem &problem, bool storesByTMA) {
  AlignedCopies copies;
  auto add = [&](int64_t rows, int64_t cols, std::optional<ElementType> type) {
    if (rows <= 0 || cols <= 0 || hasAlignedRows(cols, type))
      return;
    ++copies.kernels;
    copies.bytes += rows * cols * elementSize(*type);
  };
  if (problem.denseKMajor)
    add(problem.cols, problem.depth, problem.b);
  else
    add(problem.depth, problem.cols, problem.b);
  if (storesByTMA)
    add(problem.rows, problem.cols, problem.out);
  return copies;
}

double AlignedCopies::estimateSeconds(int64_t times, const GPUFacts &gpu) const {
  // A kernel that follows another one starts sooner than the first one of a call.
  constexpr double launchSeconds = 1.5e-6;
  return static_cast<double>(kernels) * launchSeconds +
         2.0 * static_cast<double>(bytes * times) / gpu.rates.transposeBytesPerSecond;
}

bool blocksparse::prefersScalarKernels(const KernelProblem &problem, int64_t times,
                                       double operations, const GPUFacts &gpu) {
  // Scalar kernels measured 4 TFLOP/s with 14335 columns of f16 and 2.3 with f64, where dense
  // products of f16 have 690 (docs/Developer/LabNotes/all-shapes.md).
  const double tensorRateToScalar = problem.a == ElementType::f64 ? 300 : 170;
  const AlignedCopies copies = AlignedCopies::get(problem, /*storesByTMA=*/false);
  return copies.kernels != 0 && operations * tensorRateToScalar / gpu.rates.tensorFlopsPerSecond <
                                    copies.estimateSeconds(times, gpu);
}
