// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Error.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

using namespace blocksparse::rt;

namespace {
// Plain arrays, because a module may be unloaded by a global destructor: the
// main thread's objects with destructors are gone by then.
constexpr size_t textSize = 4096;

struct StickyError {
  Status status;
  char text[textSize];
};

thread_local char lastError[textSize];
thread_local StickyError sticky;
} // namespace

Status blocksparse::rt::fail(Status status, const char *format, ...) {
  // An argument may be the old text itself.
  char text[textSize];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, textSize, format, arguments);
  va_end(arguments);
  memcpy(lastError, text, strlen(text) + 1);
  return status;
}

void blocksparse::rt::recordStickyError(Status status) {
  if (status == BLOCKSPARSE_RT_SUCCESS || hasStickyError())
    return;
  sticky.status = status;
  memcpy(sticky.text, lastError, textSize);
}

bool blocksparse::rt::hasStickyError() { return sticky.status != BLOCKSPARSE_RT_SUCCESS; }

blocksparseRtStatus blocksparseRtTakeError(void) {
  Status status = sticky.status;
  if (status != BLOCKSPARSE_RT_SUCCESS)
    memcpy(lastError, sticky.text, textSize);
  sticky.status = BLOCKSPARSE_RT_SUCCESS;
  return status;
}

const char *blocksparseRtLastError(void) { return lastError; }

const char *blocksparseRtStatusName(int32_t status) {
  switch (status) {
#define CASE(name)                                                                                 \
  case name:                                                                                       \
    return #name;
    CASE(BLOCKSPARSE_RT_SUCCESS)
    CASE(BLOCKSPARSE_RT_INVALID_ARGUMENT)
    CASE(BLOCKSPARSE_RT_DRIVER_NOT_FOUND)
    CASE(BLOCKSPARSE_RT_DRIVER_SYMBOL_MISSING)
    CASE(BLOCKSPARSE_RT_NO_DEVICE)
    CASE(BLOCKSPARSE_RT_DRIVER_ERROR)
    CASE(BLOCKSPARSE_RT_OUT_OF_MEMORY)
    CASE(BLOCKSPARSE_RT_PTX_TOO_NEW)
    CASE(BLOCKSPARSE_RT_COMPILE_FAILED)
    CASE(BLOCKSPARSE_RT_NOT_FOUND)
    CASE(BLOCKSPARSE_RT_LAUNCH_LIMIT)
    CASE(BLOCKSPARSE_RT_SHARED_MEMORY_LIMIT)
    CASE(BLOCKSPARSE_RT_INVALID_ARTIFACT)
    CASE(BLOCKSPARSE_RT_NO_IMAGE)
    CASE(BLOCKSPARSE_RT_UNSUPPORTED)
    CASE(BLOCKSPARSE_RT_NOT_READY)
#undef CASE
  }
  return "unknown status";
}
