// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_BLOCKMAP_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_BLOCKMAP_H

#include "../KernelBuilder.h"

namespace mlir::blocksparse::device {

/// A device table [B, heads, block rows, block columns] that says for each block of the grid
/// which row of a look-up table lists it: the lowest, whatever the order of the threads, and
/// how many do.
class BlockMap {
public:
  /// Extents of the grid, index values of the host.
  struct Grid {
    Value batches, heads, rows, cols;
  };
  /// A block's place, index values of a kernel.
  struct Place {
    Value batch, head, row, col;
  };
  using Insert = function_ref<void(ImplicitLocOpBuilder &, const Place &, Value tableRow)>;

  /// Allocates the table and fills it: `visit` runs in a kernel for each of `work` items and
  /// calls its last argument for every table row of the item.
  static BlockMap
  build(ImplicitLocOpBuilder &host, KernelBuilder &kernels, const Grid &grid, ValueRange operands,
        Value work,
        function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, Value item, Insert)> visit);

  /// The two buffers, for a kernel's operands.
  SmallVector<Value> buffers() const { return {first, counts}; }
  void release(ImplicitLocOpBuilder &host) const;

  /// In a kernel: the lowest table row of a block (meaningless without one), and their number.
  Value getFirst(ImplicitLocOpBuilder &b, const IRMapping &mapping, const Place &place) const;
  Value getCount(ImplicitLocOpBuilder &b, const IRMapping &mapping, const Place &place) const;

private:
  BlockMap(Value first, Value counts) : first(first), counts(counts) {}

  Value first, counts;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_OPERANDS_BLOCKMAP_H
