// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DeviceOptions.h"

using namespace mlir;
using namespace mlir::blocksparse;

SimulatorOptions DeviceOptions::simulator() const {
  SimulatorOptions options;
  if (simSeed.getNumOccurrences())
    options.seed = simSeed.getValue();
  if (simReport.getNumOccurrences())
    options.report = simReport.empty() ? "-" : simReport.getValue();
  return options;
}
