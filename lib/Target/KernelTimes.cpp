// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fits to measurements (docs/Developer/LabNotes/schedules.md).

#include "blocksparse/Target/KernelTimes.h"

using namespace blocksparse;

namespace {

constexpr KernelTimes h100{.loads = 1.2,
                           .stores = 0.76,
                           .tileSeconds = 1.0e-6,
                           .launchSeconds = 3.5e-6,
                           .wgmmaStage = 50e-9,
                           .streamWgmmaStage = 60e-9,
                           .stream32Stage = 70e-9,
                           .stream16Stage = 60e-9,
                           .extraLaunch = 2e-6,
                           .epilogueOperand = 26e-12,
                           .mma = {.stepSeconds = 12.6e-9,
                                   .launchSeconds = 5.1e-6,
                                   .loads = 97.0 / 62,
                                   .flops = 10.2 / 5.8,
                                   .stores = 18.7 / 33,
                                   .stepLatency = 250e-9,
                                   .fullWarps = 8,
                                   .epilogueOperand = 280e-12}};

} // namespace

const KernelTimes &blocksparse::getKernelTimes() { return h100; }
