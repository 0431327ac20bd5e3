// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The header must compile as C, not only as C++.
#include "blocksparse-c/Dialect.h"
#include "blocksparse-c/Layout.h"

MlirAttribute makeDiagonalLayout(MlirContext context) {
  const int32_t offsets[] = {0, 1, 2};
  const int32_t columns[] = {0, 1};
  BlocksparseLayoutShape shape = {16, 32, 1, 2, 2};
  return blocksparseLayoutGetFromCsr(context, shape, 3, offsets, 2, columns, NULL, NULL);
}
