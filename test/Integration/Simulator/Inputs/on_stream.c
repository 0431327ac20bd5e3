// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls an entry point on a stream, on one that does not exist, and with a result of another size.
#include "chained.h"
#include "device_memory.h"

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
  status = n_open_on_stream(&w, &x, &x, &narrow, stream);
  printf("status %d: %s\n", (int)status, blocksparseRtLastError());
  return 0;
}
