// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Describes a point of blocksparse-bench: an operation with its sizes and its layout.

#ifndef BLOCKSPARSE_LIB_BENCH_BENCHPOINT_H
#define BLOCKSPARSE_LIB_BENCH_BENCHPOINT_H

#include "blocksparse/Layout/BlockLayout.h"
#include "blocksparse/Support/ElementType.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::blocksparse {

/// Lists the operations that can be measured.
enum class BenchOp {
  DSD,
  DDS,
  SDD,
  Matmul,
  BsrAddmm,
  Softmax,
  SoftmaxGrad,
  Attention,
  AttentionGrad
};

/// Returns the name of an operation: "dsd", ..., "attention", "attention_grad".
llvm::StringRef getName(BenchOp op);

/// Describes one point. Sizes are in elements. The sparse operand or result is
///   dsd, bsr_addmm  the left factor [M, K]     dds  the right factor [K, N]
///   sdd             the result [M, N]           softmax, softmax_grad  [M, N]
///   attention, attention_grad  the scores [M, N], with K the head dimension
/// and matmul has none. With several heads every operand has a leading dimension.
struct BenchPoint {
  BenchOp op = BenchOp::DSD;
  int64_t m = 4096, n = 4096, k = 4096, heads = 1;
  ::blocksparse::BlockShape block{64, 64};
  double density = 0.25;
  /// Name of a family of benchLayoutFamilies(), or a pattern of the dialect: "bigbird(seed = 7)".
  std::string layout = "random_balanced";
  ::blocksparse::ElementType type = ::blocksparse::ElementType::f16;
  /// Seed of the layout's random numbers.
  uint64_t seed = 1;
  /// Text of a #blocksparse.schedule; "" lets the compiler choose.
  std::string schedule;
  /// True if the values of the sparse factor of dsd or dds are a constant of the program.
  bool packedConstant = false;
  /// True if the dense factors are stored transposed.
  bool transposeA = false, transposeB = false;
  /// Epilogue of dsd, dds and matmul: "", "bias", or "bias_" and an activation.
  std::string epilogue;
  /// Precision of the products: "ieee", "tf32" or "tf32x3".
  std::string precision = "ieee";
  /// True if softmax and attention are causal.
  bool causal = false;
  /// Text of a program and the name of one of its public functions, which then replace all of the
  /// above. Used by blocksparse-tune only, and not part of the JSON.
  std::string sourceText, function;

  bool isSoftmax() const { return op == BenchOp::Softmax || op == BenchOp::SoftmaxGrad; }
  bool hasLayout() const { return op != BenchOp::Matmul; }
  /// Return the numbers of rows and columns that the layout describes, in elements.
  int64_t sparseRows() const { return op == BenchOp::DDS ? k : m; }
  int64_t sparseCols() const;

  /// Returns "4096x4096x4096", preceded by the number of heads if there are several.
  std::string formatShape() const;
  /// Returns "64x32".
  std::string formatBlock() const;
  /// Returns the point in the form that parseBenchPoint reads, without optional members that have
  /// their defaults.
  llvm::json::Object toJSON() const;
};

/// Parses the output of toJSON(); keys that are missing have the defaults above. "size" sets m, n
/// and k: 4096 or "4096x64x1024". Returns nullopt and sets `error` ("expects ..., but got ...") for
/// an unknown key or name, or a size below 1.
std::optional<BenchPoint> parseBenchPoint(const llvm::json::Value &value, std::string &error);

/// Parses the text of a file: a list of points, or an object with such a list under "points". An
/// entry may also be an object with its point under "point", such as a result of the tool.
std::optional<std::vector<BenchPoint>> parseBenchPoints(llvm::StringRef text, std::string &error);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_BENCH_BENCHPOINT_H
