/* This file is licensed under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls the program of several-targets.mlir with tensors in host memory. */
#include "blocksparse-c/Runtime.h"
#include "program.h"

#include <stdio.h>

int main(void) {
  static float a[2 * 256], b[32 * 8], c[32 * 8];
  for (int i = 0; i < 512; ++i)
    a[i] = 1;
  for (int i = 0; i < 256; ++i)
    b[i] = i % 8;
  blocksparse_tensor_3 values = {a, a, 0, {2, 16, 16}, {256, 16, 1}};
  blocksparse_tensor_2 dense = {b, b, 0, {32, 8}, {8, 1}}, result = {c, c, 0, {32, 8}, {8, 1}};
  int64_t extent = 0;
  blocksparse_tensor_1 sizes = {&extent, &extent, 0, {1}, {1}};
  int32_t status = f_result_sizes(&values, &dense, &sizes);
  printf("sizes %d: %lld\n", (int)status, (long long)extent);
  status = f(&values, &dense, &result);
  printf("call %s: %g\n", blocksparseRtStatusName(status), c[3]);
  if (status)
    printf("%s\n", blocksparseRtLastError());
  return 0;
}
