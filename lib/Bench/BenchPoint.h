// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One point of blocksparse-bench: an operation at a shape with a layout.

#ifndef BLOCKSPARSE_LIB_BENCH_BENCHPOINT_H
#define BLOCKSPARSE_LIB_BENCH_BENCHPOINT_H

#include "blocksparse/Layout/BlockLayout.h"
#include "blocksparse/Support/ElementType.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::blocksparse {

enum class BenchOp { DSD, DDS, SDD, Matmul, BsrAddmm, Softmax, SoftmaxGrad, Attention };

/// "dsd", ..., "softmax_grad", "attention".
llvm::StringRef getName(BenchOp op);

/// Sizes are in elements. The sparse operand or result is
///   dsd, bsr_addmm  the left factor [M, K]     dds  the right factor [K, N]
///   sdd             the result [M, N]           softmax, softmax_grad  [M, N]
///   attention       the scores [M, N], with K the head dimension
/// and matmul has none. With several heads every operand has a leading dimension.
struct BenchPoint {
  BenchOp op = BenchOp::DSD;
  int64_t m = 4096, n = 4096, k = 4096, heads = 1;
  ::blocksparse::BlockShape block{64, 64};
  double density = 0.25;
  /// A family of benchLayoutFamilies(), or a pattern of the dialect: "bigbird(seed = 7)".
  std::string layout = "random_balanced";
  ::blocksparse::ElementType type = ::blocksparse::ElementType::f16;
  /// Of the layout's random numbers.
  uint64_t seed = 1;
  /// Text of a #blocksparse.schedule; "" lets the compiler choose.
  std::string schedule;
  /// Values of dsd's and dds' sparse factor are constants of the program.
  bool packedConstant = false;
  /// Of the dense factors.
  bool transposeA = false, transposeB = false;
  /// "", "bias" or "bias_" and an activation; dsd, dds and matmul.
  std::string epilogue;
  /// "ieee", "tf32" or "tf32x3".
  std::string precision = "ieee";
  /// Of softmax and attention.
  bool causal = false;
  /// Text of a program and the name of a public function of it, instead of all of the above; of
  /// blocksparse-tune, no part of the JSON.
  std::string sourceText, function;

  bool isSoftmax() const { return op == BenchOp::Softmax || op == BenchOp::SoftmaxGrad; }
  bool hasLayout() const { return op != BenchOp::Matmul; }
  /// Rows and columns of what the layout describes.
  int64_t sparseRows() const { return op == BenchOp::DDS ? k : m; }
  int64_t sparseCols() const;

  /// "4096x4096x4096", with the heads in front where there are several.
  std::string formatShape() const;
  std::string formatBlock() const;
  llvm::json::Object toJSON() const;
};

/// Reads what toJSON() writes; keys that are missing have the defaults above. "size" sets m, n and
/// k: 4096 or "4096x64x1024". An unknown key, name or a size below 1 is an error: "expects ..., but
/// got ...".
std::optional<BenchPoint> parseBenchPoint(const llvm::json::Value &value, std::string &error);

/// Parses a file's text: a list of points, or an object with such a list under "points". An entry
/// may also be an object with its point under "point", as the tool's results are.
std::optional<std::vector<BenchPoint>> parseBenchPoints(llvm::StringRef text, std::string &error);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_BENCH_BENCHPOINT_H
