// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls the entry points of product.mlir as any C program would.
#include "product.h"

#include <stdio.h>
#include <stdlib.h>

static int failures = 0;

static void expect(const char *what, double got, double expected) {
  if (got == expected)
    return;
  printf("%s: expected %g, but got %g\n", what, expected, got);
  ++failures;
}

static float *ones(int count) {
  float *data = (float *)malloc(count * sizeof(float));
  for (int i = 0; i < count; ++i)
    data[i] = 1;
  return data;
}

static void testStatic(void) {
  float *w = ones(6 * 4 * 8), *x = ones(32 * 5), *y = ones(16 * 5);
  blocksparse_tensor_3 wTensor = {0, w, 0, {6, 4, 8}, {32, 8, 1}};
  blocksparse_tensor_2 xTensor = {0, x, 0, {32, 5}, {5, 1}};
  blocksparse_tensor_2 yTensor = {0, y, 0, {16, 5}, {5, 1}};
  expect("the status of product", product(&wTensor, &xTensor, &yTensor), 0);
  static const double blocks[] = {1, 2, 0, 3};
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 5; ++j)
      expect("product", y[5 * i + j], 8 * blocks[i / 4]);
  free(w);
  free(x);
  free(y);
}

/* Run-time indices, a transposed operand and a result whose size the program tells. */
static void testOpen(void) {
  int32_t crow[] = {0, 1, 1, 3, 3}, col[] = {2, 0, 3};
  float *s = ones(3 * 4 * 8), *x = ones(7 * 32);
  int64_t sizes[1] = {-1};
  blocksparse_tensor_1 crowTensor = {0, crow, 0, {5}, {1}};
  blocksparse_tensor_1 colTensor = {0, col, 0, {3}, {1}};
  blocksparse_tensor_3 sTensor = {0, s, 0, {3, 4, 8}, {32, 8, 1}};
  blocksparse_tensor_2 xTensor = {0, x, 0, {32, 7}, {1, 32}};
  blocksparse_tensor_1 sizesTensor = {0, sizes, 0, {1}, {1}};
  for (int j = 0; j < 7; ++j)
    for (int k = 0; k < 32; ++k)
      x[32 * j + k] = j;
  int32_t status = open_result_sizes(&crowTensor, &colTensor, &sTensor, &xTensor, &sizesTensor);
  expect("the status of open_result_sizes", status, 0);
  expect("open_result_sizes", sizes[0], 7);
  float *y = ones(16 * 7);
  blocksparse_tensor_2 yTensor = {0, y, 0, {16, 7}, {7, 1}};
  status = open(&crowTensor, &colTensor, &sTensor, &xTensor, &yTensor);
  expect("the status of open", status, 0);
  static const double blocks[] = {1, 0, 2, 0};
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 7; ++j)
      expect("open", y[7 * i + j], 8 * blocks[i / 4] * j);

  /* A result of another size than that of the program: the call ends before it writes anything. */
  yTensor.sizes[1] = 6;
  y[0] = -1;
  status = open(&crowTensor, &colTensor, &sTensor, &xTensor, &yTensor);
  expect("the status of open with a small result", status, 1);
  expect("open with a small result", y[0], -1);
  yTensor.sizes[1] = 7;

  /* Indices that make no pattern: the call ends before it reads or writes anything through them. */
  int32_t wrong[][5] = {{0, 1, 1, 4, 4}, {0, 1000000000, 1000000000, 3, 3}, {0, -1, 1, 3, 3}};
  for (int i = 0; i < 3; ++i) {
    crowTensor.data = wrong[i];
    status = open(&crowTensor, &colTensor, &sTensor, &xTensor, &yTensor);
    expect("the status of open with wrong offsets", status, 1);
  }
  crowTensor.data = crow;
  col[1] = -1;
  status = open(&crowTensor, &colTensor, &sTensor, &xTensor, &yTensor);
  expect("the status of open with a wrong column", status, 1);
  free(s);
  free(x);
  free(y);
}

int main(void) {
  testStatic();
  testOpen();
  printf(failures ? "FAILED\n" : "all values are right\n");
  return failures != 0;
}
