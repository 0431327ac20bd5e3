// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SimulatedDevice.h"

#include "blocksparse/Target/CPU/InstalledLibrary.h"

#include "llvm/Support/FileSystem.h"

#include <cstdlib>

using namespace mlir;
using namespace mlir::blocksparse;

static constexpr const char *driverVariable = "BLOCKSPARSE_CUDA_DRIVER";

LogicalResult mlir::blocksparse::selectSimulatedDevice(const SimulatorOptions &options,
                                                       EmitErrorFn emitError) {
  const char *given = std::getenv(driverVariable);
  const std::string path =
      given && *given ? given : findInstalledLibrary("libblocksparse_simgpu.so");
  if (path.empty())
    return emitError() << "expects libblocksparse_simgpu.so beside the program, in the folder lib "
                          "beside that, or named by "
                       << driverVariable << ", but got none";
  if (!llvm::sys::fs::exists(path))
    return emitError() << "expects the simulated GPU's library, but got no file '" << path << "'";
  setenv(driverVariable, path.c_str(), /*overwrite=*/1);
  if (options.seed)
    setenv("BLOCKSPARSE_SIM_SEED", std::to_string(*options.seed).c_str(), /*overwrite=*/1);
  if (options.report)
    setenv("BLOCKSPARSE_SIM_REPORT", options.report->c_str(), /*overwrite=*/1);
  return success();
}

void mlir::blocksparse::selectSimulatedChip(const std::string &chip) {
  setenv("BLOCKSPARSE_SIM_CHIP", chip.c_str(), /*overwrite=*/0);
}
