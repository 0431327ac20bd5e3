// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_RUNTIME_ERROR_H
#define BLOCKSPARSE_LIB_RUNTIME_ERROR_H

#include "blocksparse-c/Runtime.h"

namespace blocksparse::rt {

using Status = blocksparseRtStatus;

/// Writes this thread's error text and returns `status`.
Status fail(Status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// Records a failure of an entry point that cannot return it. The first one of
/// a thread stays until blocksparseRtTakeError; `status` success is ignored.
void recordStickyError(Status status);

/// Returns true if this thread has a sticky failure.
bool hasStickyError();

} // namespace blocksparse::rt

/// Leaves the function with the status of `expr` unless it succeeded.
#define BLOCKSPARSE_RT_TRY(expr)                                                                   \
  do {                                                                                             \
    if (blocksparseRtStatus tried = (expr); tried != BLOCKSPARSE_RT_SUCCESS)                       \
      return tried;                                                                                \
  } while (false)

#endif // BLOCKSPARSE_LIB_RUNTIME_ERROR_H
