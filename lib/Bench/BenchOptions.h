// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Options that blocksparse-bench and blocksparse-tune share.

#ifndef BLOCKSPARSE_LIB_BENCH_BENCHOPTIONS_H
#define BLOCKSPARSE_LIB_BENCH_BENCHOPTIONS_H

#include "BenchLayout.h"
#include "BenchMeasure.h"
#include "blocksparse/Compiler/NumberOption.h"

#include "llvm/Support/CommandLine.h"

namespace mlir::blocksparse {

/// Declares the options that select points.
struct BenchPointOptions {
  llvm::cl::OptionCategory &category;

  llvm::cl::opt<std::string> points{
      "points",
      llvm::cl::desc("A JSON list of points; the options of points are then not looked at"),
      llvm::cl::value_desc("file"), llvm::cl::cat(category)};
  llvm::cl::list<std::string> ops{
      "op",
      llvm::cl::desc(
          "dsd, dds, sdd, matmul, bsr_addmm, softmax, softmax_grad, attention, attention_grad"),
      llvm::cl::value_desc("op,..."), llvm::cl::CommaSeparated, llvm::cl::cat(category)};
  llvm::cl::list<std::string> sizes{"size", llvm::cl::desc("M = N = K, or each"),
                                    llvm::cl::value_desc("n|MxNxK,..."), llvm::cl::CommaSeparated,
                                    llvm::cl::cat(category)};
  llvm::cl::list<std::string> blocks{"block", llvm::cl::desc("Block shapes"),
                                     llvm::cl::value_desc("b|BMxBN,..."), llvm::cl::CommaSeparated,
                                     llvm::cl::cat(category)};
  llvm::cl::list<double> densities{"density", llvm::cl::desc("Shares of stored blocks"),
                                   llvm::cl::value_desc("d,..."), llvm::cl::CommaSeparated,
                                   llvm::cl::cat(category)};
  /// Help text of the option below, which keeps a reference to it.
  const std::string layoutHelp =
      "Layout families or patterns; may be repeated: " + benchLayoutFamilies();
  // Values are not separated by commas, because a pattern may contain commas.
  llvm::cl::list<std::string> layouts{"layout", llvm::cl::desc(layoutHelp),
                                      llvm::cl::value_desc("layout"), llvm::cl::cat(category)};
  llvm::cl::list<std::string> types{
      "type", llvm::cl::desc("f16, bf16, f32, f64, i8, f8E4M3FN, f8E5M2"),
      llvm::cl::value_desc("type,..."), llvm::cl::CommaSeparated, llvm::cl::cat(category)};
  NumberOption<int64_t> heads{"heads", InRange<int64_t>{1, INT32_MAX},
                              llvm::cl::desc("Leading dimension of all operands"),
                              llvm::cl::init(1), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> schedule{
      "schedule", llvm::cl::desc("Instead of the compiler's choice"),
      llvm::cl::value_desc("#blocksparse.schedule<...>"), llvm::cl::cat(category)};
  llvm::cl::opt<bool> packed{
      "packed-constant", llvm::cl::desc("Values of the sparse factor are constants of the program"),
      llvm::cl::cat(category)};
  llvm::cl::opt<bool> transposeA{"transpose-a", llvm::cl::desc("a is stored transposed"),
                                 llvm::cl::cat(category)};
  llvm::cl::opt<bool> transposeB{"transpose-b", llvm::cl::desc("b is stored transposed"),
                                 llvm::cl::cat(category)};
  llvm::cl::opt<bool> causal{"causal", llvm::cl::desc("Of softmax and attention"),
                             llvm::cl::cat(category)};
  llvm::cl::opt<std::string> epilogue{
      "epilogue", llvm::cl::desc("bias, bias_relu, bias_gelu_tanh, ..."), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> precision{"precision", llvm::cl::desc("ieee, tf32 or tf32x3"),
                                       llvm::cl::init("ieee"), llvm::cl::cat(category)};
  NumberOption<int64_t> seed{"seed", InRange<int64_t>{INT64_MIN, INT64_MAX},
                             llvm::cl::desc("Seed of layouts"), llvm::cl::init(1),
                             llvm::cl::cat(category)};

  /// Returns all points: those of the file, or the product of the lists. Returns nullopt and sets
  /// `error` on failure.
  std::optional<std::vector<BenchPoint>> get(std::string &error) const;
};

/// Declares the options that select the target and the precision of measurements.
struct BenchMeasureOptions {
  llvm::cl::OptionCategory &category;

  llvm::cl::opt<std::string> target{
      "target",
      llvm::cl::desc("native (a GPU where there is one), cpu or cuda:<chip>, with ,key=value"),
      llvm::cl::init("native"), llvm::cl::cat(category)};
  NumberOption<uint64_t> dataSeed{"data-seed", InRange<uint64_t>{0, UINT64_MAX},
                                  llvm::cl::desc("Seed of operands"), llvm::cl::init(0),
                                  llvm::cl::cat(category)};
  NumberOption<int64_t> samples{"samples", InRange<int64_t>{1, 1000000},
                                llvm::cl::desc("Times that the median is taken of"),
                                llvm::cl::init(10), llvm::cl::cat(category)};
  NumberOption<double> sampleTime{"sample-ms", InRange<double>{0, 1e6},
                                  llvm::cl::desc("Milliseconds of calls in each"),
                                  llvm::cl::init(10), llvm::cl::cat(category)};
  NumberOption<int64_t> checks{"checks", InRange<int64_t>{0, 1000000000},
                               llvm::cl::desc("Parts of a result that are compared"),
                               llvm::cl::init(64), llvm::cl::cat(category)};
  NumberOption<double> rotate{
      "rotate-mb", InRange<double>{0, 1e7},
      llvm::cl::desc("Bytes of the sets of operands that take turns; 0: one set"),
      llvm::cl::init(128), llvm::cl::cat(category)};
  NumberOption<double> memory{"memory-mb", InRange<double>{0, 1e7},
                              llvm::cl::desc("Most bytes of all sets"), llvm::cl::init(16384),
                              llvm::cl::cat(category)};
  llvm::cl::opt<bool> eager{
      "eager", llvm::cl::desc("On a GPU: start each call from the host, without a CUDA graph"),
      llvm::cl::cat(category)};
  llvm::cl::opt<BenchDamage> damage{
      "damage",
      llvm::cl::desc("For tests: damage results before they are checked"),
      llvm::cl::Hidden,
      llvm::cl::init(BenchDamage::None),
      llvm::cl::values(
          clEnumValN(BenchDamage::Values, "values", "all are 1"),
          clEnumValN(BenchDamage::NaN, "nan", "the last element is not a number"),
          clEnumValN(BenchDamage::Repeat, "repeat", "the last call gives another bit")),
      llvm::cl::cat(category)};

  /// Returns the values of the options.
  BenchMeasure get() const;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_BENCH_BENCHOPTIONS_H
