// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_TRANSFORMS_BUFFERIZATION_ELEMENTWISEMAP_H
#define BLOCKSPARSE_LIB_TRANSFORMS_BUFFERIZATION_ELEMENTWISEMAP_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::blocksparse {

/// Creates a linalg.generic that writes body(x) for each element x of the tensor `source` to the
/// tensor `init` of the same shape. Returns its result.
inline Value createElementwiseMap(OpBuilder &builder, Location loc, Value source, Value init,
                                  llvm::function_ref<Value(OpBuilder &, Value)> body) {
  int64_t rank = cast<RankedTensorType>(init.getType()).getRank();
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto map = linalg::GenericOp::create(
      builder, loc, TypeRange{init.getType()}, ValueRange{source}, ValueRange{init}, maps, loops,
      [&](OpBuilder &inside, Location, ValueRange elements) {
        linalg::YieldOp::create(inside, loc, body(inside, elements[0]));
      });
  return map.getResult(0);
}

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TRANSFORMS_BUFFERIZATION_ELEMENTWISEMAP_H
