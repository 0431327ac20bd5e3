// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Options of the tools that run programs.

#ifndef BLOCKSPARSE_LIB_DRIVERS_DEVICEOPTIONS_H
#define BLOCKSPARSE_LIB_DRIVERS_DEVICEOPTIONS_H

#include "../Execution/SimulatedDevice.h"
#include "blocksparse/Compiler/NumberOption.h"

namespace mlir::blocksparse {

/// Declares the options that select the device a program runs on.
struct DeviceOptions {
  llvm::cl::OptionCategory &category;

  llvm::cl::opt<std::string> device{
      "device", llvm::cl::desc("auto (a GPU where there is one), cpu, cuda or simulated"),
      llvm::cl::init("auto"), llvm::cl::cat(category)};
  NumberOption<uint64_t> simSeed{
      "sim-seed", InRange<uint64_t>{0, UINT64_MAX},
      llvm::cl::desc("Seed of the simulated GPU's orders of warps; 0: the plain order"),
      llvm::cl::init(0), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> simReport{
      "sim-report",
      llvm::cl::desc("Write the counters of each launch on the simulated GPU there, one JSON "
                     "object a line; without a file, on the error stream"),
      llvm::cl::ValueOptional, llvm::cl::value_desc("file"), llvm::cl::cat(category)};

  /// Returns the options of the simulated GPU that the command line gave.
  SimulatorOptions simulator() const;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_DRIVERS_DEVICEOPTIONS_H
