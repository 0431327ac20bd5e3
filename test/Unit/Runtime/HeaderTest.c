/* This file is licensed under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* A user of the shared library in C99: the header compiles alone, the symbols
   are there, and a machine without a driver gives a status. */

#include "blocksparse-c/Runtime.h"

#include <stdio.h>

int main(void) {
  int32_t count = 0;
  blocksparseRtStatus status = blocksparseRtDeviceCount(&count);
  blocksparseRtArtifact artifact = NULL;
  blocksparseRtTensorMap map;
  printf("%s: %d devices %s\n", blocksparseRtStatusName(status), (int)count,
         blocksparseRtLastError());
  if (status == BLOCKSPARSE_RT_SUCCESS ? count < 1 : *blocksparseRtLastError() == '\0')
    return 1;
  if (blocksparseRtArtifactOpen("?", 1, &artifact) != BLOCKSPARSE_RT_INVALID_ARTIFACT)
    return 2;
  if (blocksparseRtTensorMapEncode(NULL, NULL, &map) != BLOCKSPARSE_RT_INVALID_ARGUMENT)
    return 3;
  return (size_t)&map % 64 == 0 ? 0 : 4;
}
