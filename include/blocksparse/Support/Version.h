// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_SUPPORT_VERSION_H
#define BLOCKSPARSE_SUPPORT_VERSION_H

namespace blocksparse {

/// Returns the version of the project, "MAJOR.MINOR.PATCH", as CMakeLists.txt states it.
const char *getVersion();

} // namespace blocksparse

#endif // BLOCKSPARSE_SUPPORT_VERSION_H
