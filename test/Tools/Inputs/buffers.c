// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls the entry point of buffers.mlir.
#include "buffers.h"

#include <stdio.h>

int main(void) {
  float values[12], x[12], y[12];
  for (int i = 0; i < 12; ++i) {
    values[i] = 1;
    x[i] = (float)(i / 3);
    y[i] = -1;
  }
  blocksparse_tensor_3 valuesTensor = {0, values, 0, {3, 2, 2}, {4, 2, 1}};
  blocksparse_tensor_2 xTensor = {0, x, 0, {4, 3}, {3, 1}};
  blocksparse_tensor_2 yTensor = {0, y, 0, {4, 3}, {3, 1}};
  product(&valuesTensor, &xTensor, &yTensor);
  int failures = 0;
  for (int i = 0; i < 12; ++i)
    failures += y[i] != (i < 6 ? 1.0f : 6.0f);
  printf(failures ? "FAILED\n" : "all values are right\n");
  return failures != 0;
}
