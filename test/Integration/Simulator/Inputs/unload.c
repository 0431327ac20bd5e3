// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loads a library, calls it and unloads it, then loads it again and ends. The function that the
// library calls when it is unloaded is found here first, and passes the call on to the runtime.
#define _GNU_SOURCE
#include "chained.h"
#include "device_memory.h"

#include <dlfcn.h>

/// Returns the symbol `name` as a pointer to a function, which C has no conversion for.
#define SYMBOL(type, handle, name) (*(type *)(void *[]){dlsym(handle, name)})

void blocksparseRtArtifactCloseSlot(blocksparseRtArtifact *slot) {
  typedef void (*close)(blocksparseRtArtifact *);
  printf("unloads %s artefact\n", *slot ? "an open" : "no");
  SYMBOL(close, RTLD_NEXT, "blocksparseRtArtifactCloseSlot")(slot);
  printf("%s\n", *slot ? "kept" : "closed");
  fflush(stdout);
}

static void *load(const char *path) {
  typedef int32_t (*call)(blocksparse_tensor_3 *, blocksparse_tensor_2 *, blocksparse_tensor_2 *);
  void *library = dlopen(path, RTLD_NOW);
  if (!library) {
    printf("%s\n", dlerror());
    exit(1);
  }
  blocksparse_tensor_3 w = {0, upload(1, 3 * 16 * 16), 0, {3, 16, 16}, {256, 16, 1}};
  blocksparse_tensor_2 x = {0, upload(1, 32 * 8), 0, {32, 8}, {8, 1}};
  blocksparse_tensor_2 y = {0, upload(7, 32 * 8), 0, {32, 8}, {8, 1}};
  check(SYMBOL(call, library, "chained")(&w, &x, &y));
  print_ends(y.data, 32 * 8);
  return library;
}

int main(int argc, char **argv) {
  (void)argc;
  check(blocksparseRtDeviceGet(0, &device));
  dlclose(load(argv[1]));
  load(argv[1]);
  printf("ends\n");
  return 0;
}
