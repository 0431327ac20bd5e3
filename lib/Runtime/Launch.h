// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_RUNTIME_LAUNCH_H
#define BLOCKSPARSE_LIB_RUNTIME_LAUNCH_H

#include "Module.h"

namespace blocksparse::rt {

struct LaunchOptions {
  /// The kernel waits by itself for the one before it on the stream (griddepcontrol.wait), so that
  /// the driver may launch it before that has ended; a driver or a device that can't launches it
  /// as any other.
  bool startsEarly = false;
  /// All blocks run at the same time (a cooperative launch), or none does.
  bool runsTogether = false;
  /// The driver's own packed form of the arguments, null where `args` is used.
  void **extra = nullptr;
};

/// Implements blocksparseRtLaunch, whose declaration states the contract.
Status launch(Function &function, const blocksparseRtLaunchConfig &config, void **args,
              size_t argCount, const LaunchOptions &options = {});

/// Launches a kernel as launch() does, but requires that the device's context is current already.
Status launchInContext(Function &function, const blocksparseRtLaunchConfig &config, void **args,
                       size_t argCount, const LaunchOptions &options = {});

} // namespace blocksparse::rt

#endif // BLOCKSPARSE_LIB_RUNTIME_LAUNCH_H
