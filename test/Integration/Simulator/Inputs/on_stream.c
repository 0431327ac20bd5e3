// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls an entry point on a stream, on one that does not exist, and with tensors of other sizes.
#include "chained.h"
#include "device_memory.h"

static void print_status(int32_t status) {
  printf("status %d: %s\n", (int)status, blocksparseRtLastError());
}

int main(void) {
  blocksparseRtStream stream = NULL, current = NULL;
  check(blocksparseRtDeviceGet(0, &device));
  check(blocksparseRtStreamCreate(device, &stream));
  blocksparse_tensor_3 w = {0, upload(1, 3 * 16 * 16), 0, {3, 16, 16}, {256, 16, 1}};
  blocksparse_tensor_2 x = {0, upload(1, 32 * 8), 0, {32, 8}, {8, 1}};
  blocksparse_tensor_2 y = {0, upload(7, 32 * 8), 0, {32, 8}, {8, 1}};
  check(n_chained_on_stream(&w, &x, &y, stream));
  check(blocksparseRtStreamSynchronize(device, stream));
  print_ends(y.data, 32 * 8);

  // A stream that is none of the driver's is refused, and the thread's own stream stays.
  int32_t status = n_chained_on_stream(&w, &x, &y, (void *)&status);
  printf("%s\n", status == BLOCKSPARSE_RT_SUCCESS ? "accepted" : "refused");
  check(blocksparseRtGetStream(&current));
  printf("%s\n", current ? "another stream" : "the default stream");
  check(n_chained(&w, &x, &y));

  blocksparse_tensor_2 narrow = {0, y.data, 0, {32, 6}, {6, 1}};
  print_status(n_open_on_stream(&w, &x, &x, &narrow, stream));
  blocksparse_tensor_2 negative = {0, x.data, 0, {32, -5}, {8, 1}};
  print_status(n_open_on_stream(&w, &negative, &negative, &negative, stream));

  // Sizes that the program knows. What was refused has not run, and the next call is served.
  blocksparse_tensor_2 few = {0, x.data, 0, {31, 8}, {8, 1}},
                       short_result = {0, y.data, 0, {16, 8}, {8, 1}};
  blocksparse_tensor_3 missing = {0, w.data, 0, {2, 16, 16}, {256, 16, 1}};
  print_status(n_chained_on_stream(&w, &few, &y, stream));
  print_status(n_chained(&missing, &x, &y));
  print_status(n_chained_on_stream(&w, &x, &short_result, stream));
  check(n_chained(&w, &x, &y));
  check(blocksparseRtDeviceSynchronize(device));
  printf("served\n");
  return 0;
}
