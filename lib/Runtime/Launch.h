// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_RUNTIME_LAUNCH_H
#define BLOCKSPARSE_LIB_RUNTIME_LAUNCH_H

#include "Module.h"

namespace blocksparse::rt {

/// The body of blocksparseRtLaunch; see there. `extra` is the driver's own
/// packed form of the arguments, null where `args` is used.
Status launch(Function &function, const blocksparseRtLaunchConfig &config, void **args,
              size_t argCount, void **extra = nullptr);

/// The same where the device's context is current already.
Status launchInContext(Function &function, const blocksparseRtLaunchConfig &config, void **args,
                       size_t argCount);

} // namespace blocksparse::rt

#endif // BLOCKSPARSE_LIB_RUNTIME_LAUNCH_H
