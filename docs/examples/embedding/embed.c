// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* Compiles the file named by the first argument to the shared library named by the second, prints
   its C header, and calls its function `product` from memory. */

#include "blocksparse-c/Compiler.h"
#include "blocksparse-c/Runtime.h"

#include <stdint.h>
#include <stdio.h>

/* Tensors as the C header declares them. */
typedef struct {
  void *allocated;
  void *data;
  int64_t offset, sizes[3], strides[3];
} Tensor3;
typedef struct {
  void *allocated;
  void *data;
  int64_t offset, sizes[2], strides[2];
} Tensor2;
typedef int32_t (*Product)(const Tensor3 *, const Tensor2 *, Tensor2 *);

static void printText(const char *text, size_t length, void *stream) {
  fwrite(text, 1, length, (FILE *)stream);
}

static void printDiagnostic(const BlocksparseDiagnostic *diagnostic, void *userData) {
  static const char *const names[] = {"note", "remark", "warning", "error"};
  (void)userData;
  fprintf(stderr, "%s:%u:%u: %s: %s\n", diagnostic->file, diagnostic->line, diagnostic->column,
          names[diagnostic->severity], diagnostic->message);
}

/* Multiplies matrices of ones. */
static int callProduct(BlocksparseExecutable executable) {
  static float a[6 * 16 * 16], b[64 * 40], c[64 * 40];
  for (int i = 0; i < 6 * 16 * 16; ++i)
    a[i] = 1;
  for (int i = 0; i < 64 * 40; ++i)
    b[i] = 1;
  Tensor3 values = {0, a, 0, {6, 16, 16}, {256, 16, 1}};
  Tensor2 dense = {0, b, 0, {64, 40}, {40, 1}}, result = {0, c, 0, {64, 40}, {40, 1}};
  void *address = blocksparseExecutableLookup(executable, "product", printDiagnostic, NULL);
  if (!address)
    return 1;
  ((Product)(uintptr_t)address)(&values, &dense, &result);
  printf("rows of blocks: %g, %g, %g, %g\n", c[0], c[16 * 40], c[32 * 40], c[48 * 40]);
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "expects two arguments, but got %d\n", argc - 1);
    return 1;
  }
  printf("compiler %s, runtime %s\n", blocksparseCompilerVersion(), blocksparseRtVersion());
  FILE *file = fopen(argv[1], "rb");
  static char text[1 << 16];
  size_t length = file ? fread(text, 1, sizeof(text), file) : 0;
  if (file)
    fclose(file);
  BlocksparseProgram program =
      blocksparseProgramParse(text, length, argv[1], NULL, printDiagnostic, NULL);
  if (!program)
    return 1;
  BlocksparseCompileOptions options;
  blocksparseCompileOptionsInit(&options, sizeof(options));
  int failed = blocksparseProgramEmit(program, &options, argv[2], printDiagnostic, NULL) ||
               blocksparseProgramEmitHeader(program, &options, "PRODUCT", printText,
                                            printDiagnostic, stdout);
  BlocksparseExecutable executable =
      failed ? NULL : blocksparseProgramLoad(program, &options, printDiagnostic, NULL);
  blocksparseProgramDestroy(program);
  failed = !executable || callProduct(executable);
  blocksparseExecutableDestroy(executable);
  return failed;
}
