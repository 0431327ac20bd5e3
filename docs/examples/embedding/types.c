// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* Makes a layout, a sparse tensor type and a schedule with MLIR's C API. */

#include "blocksparse-c/Dialect.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdio.h>

static void printText(MlirStringRef text, void *stream) {
  fwrite(text.data, 1, text.length, (FILE *)stream);
}

int main(void) {
  MlirContext context = mlirContextCreate();
  MlirDialectHandle handle = mlirGetDialectHandle__blocksparse__();
  mlirDialectHandleRegisterDialect(handle, context);
  mlirDialectHandleLoadDialect(handle, context);

  const int32_t offsets[] = {0, 1, 3};
  const int32_t columns[] = {0, 0, 1};
  BlocksparseLayoutShape shape = {16, 16, 1, 2, 2};
  MlirAttribute layout =
      blocksparseLayoutGetFromCsr(context, shape, 3, offsets, 3, columns, printText, stderr);
  int64_t sizes[] = {32, 32};
  MlirType type = mlirRankedTensorTypeGet(2, sizes, mlirF32TypeGet(context), layout);
  mlirTypePrint(blocksparseSparseTensorGetValuesType(type), printText, stdout);
  printf("\n");

  MlirAttribute schedule = blocksparseScheduleGet(
      context, mlirStringRefCreateFromCString("cuda.wgmma, tile = 128x256, stages = 4"), printText,
      stderr);
  for (intptr_t i = 0; i < blocksparseScheduleGetNumParameters(schedule); ++i) {
    BlocksparseScheduleParameter parameter = blocksparseScheduleGetParameter(schedule, i);
    printf("%.*s: %d %d\n", (int)parameter.name.length, parameter.name.data, (int)parameter.value,
           (int)parameter.columns);
  }
  mlirContextDestroy(context);
  return 0;
}
