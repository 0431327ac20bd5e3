// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_COMPILER_COMPILER_H
#define BLOCKSPARSE_COMPILER_COMPILER_H

#include "blocksparse/Compiler/Program.h"
#include "blocksparse/Target/CPU/Code.h"
#include "blocksparse/Target/GPU/PTX.h"
#include "blocksparse/Target/Target.h"
#include "blocksparse/Transforms/ScheduleChooser.h"

#include <functional>
#include <optional>

namespace mlir {
class OpPassManager;
class PassManager;
} // namespace mlir

namespace mlir::blocksparse {

struct CompileOptions {
  /// Target of the program; several are for a program that is emitted. Entry points return a
  /// status. With one GPU as target, tensors must be in device
  /// memory; with several, the first tensor that has elements decides which code runs: that of its
  /// device's best target or, if there is one, the CPU's.
  ::blocksparse::Target target;
  /// Processor that code is made for; with a GPU the one that launches.
  CPUOptions cpu;
  /// Options of PTX, whose target is that of `target`.
  GPUOptions gpu;
  /// Says whether run-time indices are checked when the program runs; empty for the default: on a
  /// CPU they are, in GPU kernels they are not.
  std::optional<bool> checkIndices;
  /// Path of a file of measured schedules (blocksparse-tune), or "".
  std::string tuningDatabase;
  /// Function that is asked for each schedule first.
  ScheduleChooser chooseSchedule;
  /// Last stage that the module has passed. From `schedule` on it is one for one target.
  Stage startAfter = Stage::Parse;
  Stage stopAfter = Stage::Emit;
  /// Function that is called on the pass manager before its passes are added: printing, timing.
  std::function<LogicalResult(PassManager &)> configurePasses;
};

/// Holds the options of the pipelines of the stages.
struct StageOptions {
  /// Target of schedules and plans: the processor with its own facts, or the GPU.
  ::blocksparse::TargetInfo target = {};
  /// Options of the PTX; empty if code is made for the host alone.
  std::optional<GPUOptions> gpu = {};
  bool checkIndices = false;
  std::string tuningDatabase = {};
  ScheduleChooser chooseSchedule = {};
};

/// Describes one row of the stage table.
struct StageInfo {
  Stage stage;
  StringRef name;
  /// Sentence that says what holds after the stage.
  StringRef summary;
  /// Appends the passes of the stage; null for parse, which has none.
  void (*buildPipeline)(OpPassManager &, const StageOptions &);
};

/// Returns all stages in order.
ArrayRef<StageInfo> getStages();

/// Returns the stage of a name. Fails for an unknown one, with an error that lists the names.
FailureOr<Stage> parseStage(StringRef name, EmitErrorFn emitError);

/// Returns the stage after which a compilation may start. Fails for one that nothing follows, and
/// for an unknown one, with an error that lists the legal names.
FailureOr<Stage> parseStartStage(StringRef name, EmitErrorFn emitError);

/// Fails for a processor or PTX version that does not exist, a target that LLVM does not know,
/// and options that do not go together.
LogicalResult checkTarget(const CompileOptions &options, EmitErrorFn emitError);

/// Runs the stages after `options.startAfter` up to `options.stopAfter` on a module. Emit adds
/// nothing to what the previous stage leaves: see emitProgram.
LogicalResult compile(ModuleOp module, const CompileOptions &options);

enum class OutputFormat { LLVMIR, Assembly, Object, SharedLibrary, PTX };

/// Returns the format that the ending of a file name asks for: .ll, .s, .o, .so, or .ptx (the
/// kernels of one GPU target alone). Empty for any other.
std::optional<OutputFormat> getOutputFormat(StringRef path);

/// Compiles the program to code for the host. If one of the targets is a GPU, each entry point f
/// that works on device memory also has a form f_on_stream (getStreamFunctionName).
FailureOr<Code> compileToCode(ModuleOp module, const CompileOptions &options,
                              EntryPoints entryPoints);

/// Holds the kernels of a program for one GPU.
struct Kernels {
  /// PTX text, empty if the program has no kernel.
  std::string ptx;
  /// JSON that says how to launch them (describeLaunches).
  std::string launches;
};

/// Compiles the kernels of a program for one GPU target, and describes their launches.
FailureOr<Kernels> compileKernels(Program &program, const CompileOptions &options);

/// Compiles the program and appends its code to `bytes`. A shared library is linked in temporary
/// files, by the system's compiler driver (linkSharedLibrary). With `EntryPoints::Packed` code for
/// the host has packed entry points, too.
LogicalResult emitProgram(ModuleOp module, const CompileOptions &options, OutputFormat format,
                          SmallVectorImpl<char> &bytes,
                          EntryPoints entryPoints = EntryPoints::Plain);

/// Compiles the program and writes the file at `path` ("-": standard output, not for a shared
/// library) as an OutputFile, so that a failure leaves what was there.
LogicalResult emitProgram(ModuleOp module, const CompileOptions &options, OutputFormat format,
                          StringRef path);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_COMPILER_COMPILER_H
