// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_CONTIGUOUSBLOCKS_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_CONTIGUOUSBLOCKS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse {

/// Values whose blocks are contiguous by type. Where the type of the given memref doesn't say
/// so, a test at run time decides between the memref itself and a copy.
class ContiguousBlocks {
public:
  ContiguousBlocks(ImplicitLocOpBuilder &b, Value values);
  Value memref() const { return contiguous; }
  /// Frees the copy if there is one.
  void release(ImplicitLocOpBuilder &b);

private:
  Value contiguous;
  /// i1, true where `contiguous` is a copy; null: never.
  Value copied;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOCPU_CONTIGUOUSBLOCKS_H
