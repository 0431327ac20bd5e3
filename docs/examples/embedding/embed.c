// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* Compiles the file named by the first argument to the shared library named by the second. */

#include "blocksparse-c/Compiler.h"
#include "blocksparse-c/Runtime.h"

#include <stdio.h>
#include <stdlib.h>

static void printText(const char *text, size_t length, void *stream) {
  fwrite(text, 1, length, (FILE *)stream);
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
  BlocksparseProgram program = blocksparseProgramParse(text, length, argv[1], printText, stderr);
  if (!program)
    return 1;
  BlocksparseCompileOptions options = {0};
  int failed =
      blocksparseProgramEmit(program, &options, argv[2], printText, stderr) ||
      blocksparseProgramEmitHeader(program, &options, "PRODUCT", printText, printText, stdout);
  blocksparseProgramDestroy(program);
  return failed;
}
