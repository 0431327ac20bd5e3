// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A benchmark point as a compiled program.

#ifndef BLOCKSPARSE_LIB_BENCH_BENCHPROGRAM_H
#define BLOCKSPARSE_LIB_BENCH_BENCHPROGRAM_H

#include "BenchData.h"
#include "blocksparse/Execution/HostProgram.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/SourceMgr.h"

#include <memory>

namespace mlir::blocksparse {

/// A function @bench of one operation, compiled. Each has a context of its own, so that several can
/// be compiled at once.
class BenchProgram {
public:
  /// Never null. What goes wrong, also a diagnostic of the compiler, is in error(). `options` says
  /// the target; with `compileOnly` nothing is linked into memory and program() may not be called.
  static std::unique_ptr<BenchProgram> create(const BenchPoint &point,
                                              const CompileOptions &options,
                                              const DialectRegistry &registry, uint64_t dataSeed,
                                              bool compileOnly);

  const BenchPoint &point() const { return benchPoint; }
  const ::blocksparse::BlockLayout &layout() const { return blockLayout; }
  /// Of a point with a text: the function as it stands there.
  func::FuncOp source() const { return sourceFunction; }
  const FunctionSignature &signature() const { return functionSignature; }
  HostProgram &program() { return *hostProgram; }
  /// Emits into error().
  EmitErrorFn emitErrorFn() { return emit; }

  /// "" where all is well.
  const std::string &error() const { return errorText; }
  void setError(std::string text) { errorText = std::move(text); }
  /// What the compiler chose: "cuda.wgmma 128x256x64 s4 w2".
  const std::string &schedule() const { return scheduleText; }
  /// Milliseconds from the module to PTX, or to the llvm dialect on a CPU; and of the rest, code of
  /// the host.
  double compileTime() const { return compileMilliseconds; }
  double linkTime() const { return linkMilliseconds; }

private:
  explicit BenchProgram(const BenchPoint &point, const DialectRegistry &registry);
  void build(const CompileOptions &options, uint64_t dataSeed, bool compileOnly);
  FailureOr<OwningOpRef<ModuleOp>> makeModule(uint64_t dataSeed);
  FailureOr<OwningOpRef<ModuleOp>> parseSource();

  BenchPoint benchPoint;
  ::blocksparse::BlockLayout blockLayout;
  std::unique_ptr<MLIRContext> context;
  std::function<InFlightDiagnostic()> emit;
  llvm::SourceMgr sourceMgr;
  std::optional<Program> sourceProgram;
  func::FuncOp sourceFunction;
  FunctionSignature functionSignature;
  std::optional<HostProgram> hostProgram;
  std::string errorText, scheduleText;
  double compileMilliseconds = 0, linkMilliseconds = 0;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_BENCH_BENCHPROGRAM_H
