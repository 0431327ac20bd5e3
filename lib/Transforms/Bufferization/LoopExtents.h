// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_TRANSFORMS_BUFFERIZATION_LOOPEXTENTS_H
#define BLOCKSPARSE_LIB_TRANSFORMS_BUFFERIZATION_LOOPEXTENTS_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace mlir::blocksparse {

/// Describes a tensor that a loop carries: what it is before the loop, in an iteration, and in the
/// next one. `initial` is null where it is not known.
struct CarriedTensor {
  Value initial, current, next;
};

/// Returns true if the extent of `axis` provably stays the same. By induction it is that of
/// `initial` in every iteration if that of `next` equals it or that of `current`.
bool keepsExtent(const CarriedTensor &tensor, int64_t axis);

/// Returns what the loop with the result, or with the argument of its body, `value` carries there;
/// nothing if `value` is none of scf.for, or of a scf.while that passes on what it tests.
std::optional<CarriedTensor> getCarriedTensor(Value value);

/// Makes `size` that of the tensor with which a loop starts, where the size of what the loop
/// carries provably stays the same. Returns true if it has changed `size`.
bool resolveLoopSize(tensor::DimOp size);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TRANSFORMS_BUFFERIZATION_LOOPEXTENTS_H
