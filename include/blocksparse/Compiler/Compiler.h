// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_COMPILER_COMPILER_H
#define BLOCKSPARSE_COMPILER_COMPILER_H

#include "blocksparse/Compiler/Program.h"
#include "blocksparse/Target/CPU/Code.h"
#include "blocksparse/Target/GPU/PTX.h"
#include "blocksparse/Transforms/ScheduleChooser.h"

#include <functional>
#include <optional>

namespace mlir {
class OpPassManager;
class PassManager;
} // namespace mlir

namespace mlir::blocksparse {

/// The stages of the compiler, in order. Each has a name for `--stop-after` and leaves IR
/// that the next one takes; `emit` makes code of it.
enum class Stage { Parse, Optimise, Schedule, Plan, Bufferize, Lower, LLVM, Emit };

struct CompileOptions {
  /// "cpu" or "cuda:<chip>"; for a program that is emitted also several of them, separated by
  /// commas (see usesDevice).
  std::string target = "cpu";
  /// The processor that code is made for, with a GPU the one that launches.
  CPUOptions cpu;
  /// How PTX is made; the chip is the target's.
  GPUOptions gpu;
  /// Check the indices of run-time patterns when the program runs; for the target "cpu" alone.
  bool checkIndices = false;
  /// A file of measured schedules (blocksparse-tune), or "".
  std::string tuningDatabase;
  /// Asked for each schedule first.
  ScheduleChooser chooseSchedule;

  /// Whether GPU kernels are run on the host: the target of tests without a GPU. "emulated" has
  /// the scalar kernels, "emulated:<chip>" those that the schedule of a GPU asks for.
  bool isEmulated() const {
    return target == "emulated" || StringRef(target).starts_with("emulated:");
  }
  bool isCUDA() const { return StringRef(target).starts_with("cuda:"); }
  Stage stopAfter = Stage::Emit;
  /// Called on the pass manager before its passes are added: printing, timing.
  std::function<LogicalResult(PassManager &)> configurePasses;
};

/// What the pipelines of the stages take.
struct StageOptions {
  /// As TargetInfo::parse takes it.
  std::string scheduleTarget = "cpu";
  /// Set for a GPU.
  std::optional<GPUOptions> gpu;
  /// GPU kernels as host loops.
  bool emulated = false;
  bool checkIndices = false;
  std::string tuningDatabase = {};
  ScheduleChooser chooseSchedule = {};
};

/// One row of the stage table.
struct StageInfo {
  Stage stage;
  StringRef name;
  /// What holds after it.
  StringRef summary;
  /// Appends its passes; null for parse, which has none.
  void (*buildPipeline)(OpPassManager &, const StageOptions &);
};

/// All stages in order.
ArrayRef<StageInfo> getStages();

/// Whether the program has code for a GPU: its entry points give a status. With one target, tensors
/// must be in device memory; with several, the first one that has elements decides which code runs,
/// that of its device's best target or, where there is one, the CPU's.
bool usesDevice(const CompileOptions &options);

/// By name; an unknown one is an error that lists the names.
FailureOr<Stage> parseStage(StringRef name, EmitErrorFn emitError);

/// A target, processor, chip or PTX version that there is none of is an error.
LogicalResult checkTarget(const CompileOptions &options, EmitErrorFn emitError);

/// Runs the stages after parse up to `options.stopAfter` on a module as it stands in the
/// source. Emit adds nothing to what the stage before it leaves: see emitProgram.
LogicalResult compile(ModuleOp module, const CompileOptions &options);

enum class OutputFormat { LLVMIR, Assembly, Object, SharedLibrary, PTX };

/// By the ending of a file name: .ll, .s, .o, .so, .ptx (the kernels of one GPU target alone);
/// empty for any other.
std::optional<OutputFormat> getOutputFormat(StringRef path);

/// Compiles the whole way and writes the file at `path` ("-": standard output, not for a shared
/// library) under a temporary name first, so that a failure leaves nothing there.
LogicalResult emitProgram(ModuleOp module, const CompileOptions &options, OutputFormat format,
                          StringRef path);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_COMPILER_COMPILER_H
