// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compiles a benchmark point.

#ifndef BLOCKSPARSE_LIB_BENCH_BENCHPROGRAM_H
#define BLOCKSPARSE_LIB_BENCH_BENCHPROGRAM_H

#include "BenchData.h"
#include "blocksparse/Execution/HostProgram.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/SourceMgr.h"

#include <memory>

namespace mlir::blocksparse {

/// Holds a compiled function @bench of one operation. Each program has its own context, so that
/// several can be compiled concurrently.
class BenchProgram {
public:
  /// Compiles a point. Never returns null: errors, including the diagnostics of the compiler, are
  /// in error(). `options` selects the target. With `compileOnly` nothing is linked into memory,
  /// and program() must not be called.
  static std::unique_ptr<BenchProgram> create(const BenchPoint &point,
                                              const CompileOptions &options,
                                              const DialectRegistry &registry, uint64_t dataSeed,
                                              bool compileOnly);

  const BenchPoint &point() const { return benchPoint; }
  const ::blocksparse::BlockLayout &layout() const { return blockLayout; }
  /// Returns the source function, for a point with a program text.
  func::FuncOp source() const { return sourceFunction; }
  const FunctionSignature &signature() const { return functionSignature; }
  HostProgram &program() { return *hostProgram; }
  /// Returns a function that emits errors into error().
  EmitErrorFn emitErrorFn() { return emit; }

  /// Returns the error; "" if there is none.
  const std::string &error() const { return errorText; }
  void setError(std::string text) { errorText = std::move(text); }
  /// Returns the schedule that the compiler chose: "cuda.wgmma 128x256 stages=4".
  const std::string &schedule() const { return scheduleText; }
  /// compileTime returns the milliseconds from the module to PTX, or to the llvm dialect on a CPU.
  /// linkTime returns those of the rest, the code generation for the host.
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
