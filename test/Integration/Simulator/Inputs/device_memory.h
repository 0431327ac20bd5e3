// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Memory of the simulated GPU for C programs of tests. Each ends the program when the runtime
// fails.
#ifndef BLOCKSPARSE_TEST_INTEGRATION_SIMULATOR_INPUTS_DEVICE_MEMORY_H
#define BLOCKSPARSE_TEST_INTEGRATION_SIMULATOR_INPUTS_DEVICE_MEMORY_H

#include "blocksparse-c/Runtime.h"

#include <stdio.h>
#include <stdlib.h>

static blocksparseRtDevice device;

static void check(int32_t status) {
  if (status == BLOCKSPARSE_RT_SUCCESS)
    return;
  printf("%s\n", blocksparseRtLastError());
  exit(1);
}

/// Returns device memory of `count` floats that are all `value`.
static void *upload(float value, int count) {
  float *host = (float *)malloc(count * sizeof(float));
  void *memory = NULL;
  for (int i = 0; i < count; ++i)
    host[i] = value;
  check(blocksparseRtAlloc(device, count * sizeof(float), NULL, &memory));
  check(blocksparseRtCopyToDevice(device, memory, host, count * sizeof(float), NULL));
  check(blocksparseRtDeviceSynchronize(device));
  free(host);
  return memory;
}

/// Prints the first and the last of `count` floats, at most 256, of device memory.
static void print_ends(const void *memory, int count) {
  float host[256];
  check(blocksparseRtCopyToHost(device, host, memory, count * sizeof(float), NULL));
  check(blocksparseRtDeviceSynchronize(device));
  printf("first %g, last %g\n", host[0], host[count - 1]);
}

#endif
