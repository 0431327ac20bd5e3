// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_BLOCKMAP_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_BLOCKMAP_H

#include "../KernelBuilder.h"

namespace mlir::blocksparse::device {

/// Describes a device table [B, heads, block rows, block columns] that holds, for each block of the
/// grid, the lowest row of a look-up table that lists the block, whatever the order of the threads,
/// and the number of rows that do.
class BlockMap {
public:
  /// Holds the extents of the grid, index values of the host.
  struct Grid {
    Value batches, heads, rows, cols;
  };
  /// Holds the coordinates of a block, index values of a kernel.
  struct Coord {
    Value batch, head, row, col;
  };
  using Insert = function_ref<void(ImplicitLocOpBuilder &, const Coord &, Value tableRow)>;

  /// Emits host code that allocates the table, and kernels that fill it: `visit` runs in a kernel
  /// for each of `work` items and calls its last argument for every table row of the item.
  static BlockMap
  build(ImplicitLocOpBuilder &host, KernelBuilder &kernels, const Grid &grid, ValueRange operands,
        Value work,
        function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, Value item, Insert)> visit);

  /// Returns the two buffers, which the kernels that read the table need as operands.
  SmallVector<Value> buffers() const { return {first, counts}; }
  void release(ImplicitLocOpBuilder &host) const;

  /// Each returns, in a kernel, the lowest table row that lists a block (meaningless if none does),
  /// and the number of rows that list it.
  Value getFirst(ImplicitLocOpBuilder &b, const IRMapping &mapping, const Coord &coord) const;
  Value getCount(ImplicitLocOpBuilder &b, const IRMapping &mapping, const Coord &coord) const;

private:
  BlockMap(Value first, Value counts) : first(first), counts(counts) {}

  Value first, counts;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_BLOCKMAP_H
