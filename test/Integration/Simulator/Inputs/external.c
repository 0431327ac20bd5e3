/* This file is licensed under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* The functions that external.mlir declares. On the simulated GPU they use the driver that the
 * process has loaded, whose file SIMULATED_DRIVER names. */

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
  void *allocated;
  void *data;
  int64_t offset;
  int64_t sizes[2];
  int64_t strides[2];
} blocksparse_tensor_2;

typedef struct {
  void *allocated;
  void *data;
  int64_t offset;
} blocksparse_tensor_0;

static int64_t at(const blocksparse_tensor_2 *tensor, int64_t i, int64_t j) {
  return tensor->offset + i * tensor->strides[0] + j * tensor->strides[1];
}

/* result = 2 * weight * x */
int32_t weighted(const blocksparse_tensor_2 *x, float weight, blocksparse_tensor_2 *result) {
  for (int64_t i = 0; i < x->sizes[0]; ++i)
    for (int64_t j = 0; j < x->sizes[1]; ++j)
      ((float *)result->data)[at(result, i, j)] =
          2 * weight * ((const float *)x->data)[at(x, i, j)];
  return 0;
}

int32_t fails_with(int32_t status, blocksparse_tensor_0 *result) {
  (void)result;
  return status;
}

typedef int (*ToHost)(void *, uint64_t, size_t, void *);
typedef int (*ToDevice)(uint64_t, const void *, size_t, void *);
typedef int (*Synchronize)(void *);

/* Computes the same on the host: copies elements one by one, in the order of the stream. */
int32_t weighted_on_stream(const blocksparse_tensor_2 *x, float weight,
                           blocksparse_tensor_2 *result, void *stream) {
  void *driver = dlopen(getenv("SIMULATED_DRIVER"), RTLD_NOW | RTLD_NOLOAD);
  if (!driver)
    return 1;
  ToHost toHost;
  ToDevice toDevice;
  Synchronize synchronize;
  *(void **)&toHost = dlsym(driver, "cuMemcpyDtoHAsync_v2");
  *(void **)&toDevice = dlsym(driver, "cuMemcpyHtoDAsync_v2");
  *(void **)&synchronize = dlsym(driver, "cuStreamSynchronize");
  if (!toHost || !toDevice || !synchronize)
    return 2;
  for (int64_t i = 0; i < x->sizes[0]; ++i)
    for (int64_t j = 0; j < x->sizes[1]; ++j) {
      float value;
      if (toHost(&value, (uint64_t)((float *)x->data + at(x, i, j)), sizeof value, stream) ||
          synchronize(stream))
        return 3;
      value *= 2 * weight;
      if (toDevice((uint64_t)((float *)result->data + at(result, i, j)), &value, sizeof value,
                   stream) ||
          synchronize(stream))
        return 4;
    }
  return 0;
}
