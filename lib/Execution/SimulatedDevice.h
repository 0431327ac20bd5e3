// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Selects the simulated GPU as the device of this process (docs/Developer/Simulator.md).

#ifndef BLOCKSPARSE_LIB_EXECUTION_SIMULATEDDEVICE_H
#define BLOCKSPARSE_LIB_EXECUTION_SIMULATEDDEVICE_H

#include "mlir/Support/LLVM.h"

#include "blocksparse/Target/CPU/Machine.h"

#include <optional>
#include <string>

namespace mlir::blocksparse {

/// Holds the options of the simulated GPU.
struct SimulatorOptions {
  /// Selects the order of warps and the times of asynchronous copies; 0 is the plain order.
  std::optional<uint64_t> seed;
  /// Where each launch's counters are written: "-" is the error stream, anything else a file of one
  /// JSON object a line.
  std::optional<std::string> report;
};

/// Makes the runtime load the simulated GPU when it first needs a driver: the library that
/// BLOCKSPARSE_CUDA_DRIVER names, else libblocksparse_simgpu.so beside the tool. Fails with an
/// error if there is no such file. Must be called before any other call of the runtime.
LogicalResult selectSimulatedDevice(const SimulatorOptions &options, EmitErrorFn emitError);

/// Makes the simulated GPU one that runs code for `chip` ("sm_90a"), unless BLOCKSPARSE_SIM_CHIP
/// names one already. Has no effect after the runtime's first call.
void selectSimulatedChip(const std::string &chip);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_EXECUTION_SIMULATEDDEVICE_H
