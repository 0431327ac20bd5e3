// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_IR_UPSTREAMBSR_H
#define BLOCKSPARSE_IR_UPSTREAMBSR_H

#include "blocksparse/Layout/BlockLayout.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace mlir::blocksparse {

/// Describes an encoding of upstream's sparse_tensor dialect that stores a matrix in the BSR
/// format.
struct UpstreamBsr {
  ::blocksparse::BlockShape block;
  /// The width of i32 or i64 indices that hold its positions and coordinates.
  unsigned indexWidth = 64;
};

/// Returns the BSR format of a matrix whose encoding has the map
/// (i, j) -> (i floordiv bm : dense, j floordiv bn : compressed, i mod bm : dense, j mod bn :
/// dense); nothing for any other type.
std::optional<UpstreamBsr> getUpstreamBsr(Type type);

/// Returns the type of this dialect, with a run-time pattern, for a matrix in that format, and any
/// other type as it is.
Type replaceUpstreamBsr(Type type);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_IR_UPSTREAMBSR_H
