// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// "write FILE" compiles a GPU program to an object in memory and writes it. "call FILE" loads it in
// a process that has compiled nothing, and calls it on a stream. The executable holds a runtime of
// its own; the other one only allocates and copies.
#include "blocksparse-c/Compiler.h"
#include "blocksparse-c/Runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  void *allocated, *data;
  int64_t offset, sizes[2], strides[2];
} Tensor;
typedef int32_t (*Entry)(const Tensor *, Tensor *, void *);

static const char *const source = "func.func @copy(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {\n"
                                  "  %y = arith.negf %x : tensor<4x?xf32>\n"
                                  "  return %y : tensor<4x?xf32>\n"
                                  "}\n";

static void check(int status) {
  if (status == 0)
    return;
  printf("failed: %s\n", blocksparseRtLastError());
  exit(1);
}

static void onDiagnostic(const BlocksparseDiagnostic *diagnostic, void *userData) {
  (void)userData;
  printf("%s\n", diagnostic->message);
}

static void onBytes(const char *bytes, size_t length, void *file) {
  fwrite(bytes, 1, length, (FILE *)file);
}

static int writeObject(const char *path) {
  BlocksparseProgram program =
      blocksparseProgramParse(source, strlen(source), NULL, NULL, onDiagnostic, NULL);
  BlocksparseCompileOptions options;
  blocksparseCompileOptionsInit(&options, sizeof(options));
  options.target = "cuda:sm_80";
  options.packedEntryPoints = 1;
  FILE *file = fopen(path, "wb");
  int failed = !program || !file ||
               blocksparseProgramEmitToMemory(program, &options, BLOCKSPARSE_FORMAT_OBJECT, onBytes,
                                              onDiagnostic, file);
  blocksparseProgramDestroy(program);
  return failed || fclose(file) != 0;
}

static BlocksparseExecutable readObject(const char *path) {
  static char bytes[1 << 20];
  FILE *file = fopen(path, "rb");
  size_t length = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
  if (file)
    fclose(file);
  return blocksparseExecutableLoad(bytes, length, onDiagnostic, NULL);
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "write") == 0)
    return writeObject(argv[2]);
  BlocksparseExecutable executable = readObject(argv[argc - 1]);
  if (!executable)
    return 1;
  Entry copy = (Entry)(uintptr_t)blocksparseExecutableLookup(executable, "copy_on_stream",
                                                             onDiagnostic, NULL);

  float host[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  void *x = NULL, *y = NULL;
  blocksparseRtDevice device = NULL;
  blocksparseRtStream stream = NULL;
  check(blocksparseRtDeviceGet(0, &device));
  check(blocksparseRtStreamCreate(device, &stream));
  check(blocksparseRtAlloc(device, sizeof(host), stream, &x));
  check(blocksparseRtAlloc(device, sizeof(host), stream, &y));
  check(blocksparseRtCopyToDevice(device, x, host, sizeof(host), stream));
  Tensor from = {0, x, 0, {4, 2}, {2, 1}}, to = {0, y, 0, {4, 2}, {2, 1}};
  int32_t status = copy(&from, &to, stream);
  if (status != 0)
    printf("refused: %s\n", blocksparseExecutableLastError());
  check(blocksparseRtCopyToHost(device, host, y, sizeof(host), stream));
  check(blocksparseRtStreamSynchronize(device, stream));
  printf("first %g, last %g\n", host[0], host[7]);

  // Tensors in host memory are an error, whose text the executable has.
  Tensor wrong = {0, host, 0, {4, 2}, {2, 1}};
  status = copy(&wrong, &to, stream);
  printf("status %d: %s\n", (int)status, blocksparseExecutableLastError());
  printf("the other runtime: '%s'\n", blocksparseRtLastError());
  blocksparseExecutableDestroy(executable);
  return 0;
}
