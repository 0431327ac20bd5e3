// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compiles a GPU program to an object in memory, loads it, and calls it on a stream. The executable
// holds a runtime of its own; the other one only allocates and copies.
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

typedef struct {
  char *bytes;
  size_t length;
} Object;

static void onBytes(const char *bytes, size_t length, void *userData) {
  Object *object = (Object *)userData;
  object->bytes = (char *)realloc(object->bytes, object->length + length);
  memcpy(object->bytes + object->length, bytes, length);
  object->length += length;
}

int main(void) {
  BlocksparseProgram program =
      blocksparseProgramParse(source, strlen(source), NULL, NULL, onDiagnostic, NULL);
  BlocksparseCompileOptions options;
  blocksparseCompileOptionsInit(&options, sizeof(options));
  options.target = "cuda:sm_80";
  options.packedEntryPoints = 1;
  Object object = {NULL, 0};
  if (!program || blocksparseProgramEmitToMemory(program, &options, BLOCKSPARSE_FORMAT_OBJECT,
                                                 onBytes, onDiagnostic, &object))
    return 1;
  blocksparseProgramDestroy(program);
  BlocksparseExecutable executable =
      blocksparseExecutableLoad(object.bytes, object.length, onDiagnostic, NULL);
  free(object.bytes);
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
