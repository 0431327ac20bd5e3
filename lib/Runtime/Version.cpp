// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Support/Version.h"
#include "blocksparse-c/Runtime.h"

const char *blocksparseRtVersion(void) { return blocksparse::getVersion(); }
