// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrix Market text, and the blocks that its matrix is cut into.

#include "Check.h"
#include "blocksparse/Layout/MatrixMarket.h"

#include <cstdint>

using namespace blocksparse;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // The first two bytes are the block.
  if (size < 2)
    return -1;
  BlockShape block{data[0] % 17, data[1] % 17};
  std::string_view text(reinterpret_cast<const char *>(data) + 2, size - 2);
  std::string error;
  std::optional<CooMatrix> matrix = parseMatrixMarket(text, error);
  checkError(matrix.has_value(), error);
  // A grid of many rows is right, but its offsets would be all that the target fills.
  if (!matrix || matrix->rows > 1 << 20)
    return 0;
  std::optional<BsrMatrix> bsr = toBsr(*matrix, block, error);
  checkError(bsr.has_value(), error);
  if (bsr)
    check(static_cast<int64_t>(bsr->values.size()) == bsr->layout.nnz() * block.rows * block.cols,
          "a stored block has its values");
  return 0;
}
