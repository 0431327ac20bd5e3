// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Elementwise loops: a linalg.generic on memrefs each of whose iterations computes the elements of
// its results from elements of its inputs. Both backends lower them from here.

#ifndef BLOCKSPARSE_LIB_CONVERSION_ELEMENTWISEBODY_H
#define BLOCKSPARSE_LIB_CONVERSION_ELEMENTWISEBODY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <functional>
#include <string>

namespace mlir::blocksparse {

/// Returns why a kernel cannot compute each element of the results of `op` by itself, as "expects
/// X, but got Y"; empty if it can. Results are written at the indices of the parallel loops, inputs
/// are read at some of the indices, and operations of the body are scalar. `supports` says whether
/// the backend has an operation of the body. If `readsAnywhere` is true, inputs may be read at any
/// affine function of the indices, and the body may use the indices and load elements of memrefs.
std::string findStructuredFault(linalg::GenericOp op,
                                llvm::function_ref<bool(Operation *)> supports,
                                bool readsAnywhere = false);

/// Returns the same for an elementwise loop, all of whose loops are parallel.
std::string findElementwiseFault(linalg::GenericOp op,
                                 llvm::function_ref<bool(Operation *)> supports);

/// Holds what differs between the backends.
struct ElementwiseTarget {
  /// Converts a scalar or vector to another floating-point element type.
  std::function<Value(ImplicitLocOpBuilder &, Value, Type)> convert;
  /// Emits an operation of the body on operands of its compute types and returns its result, or
  /// null for the operation itself.
  std::function<Value(ImplicitLocOpBuilder &, Operation *, ValueRange)> emit;
};

/// Emits the body of an elementwise loop and returns the elements that it yields. `elements` are
/// those of all operands of `op`, scalars or vectors of `width` lanes (0: scalars). `outside` maps
/// values of outside the body; constants are created again. Operations on floating-point types of
/// less than 32 bits are computed in f32 and rounded once, like those of the dialect.
SmallVector<Value> emitElementwiseBody(ImplicitLocOpBuilder &b, linalg::GenericOp op,
                                       ValueRange elements, int64_t width, const IRMapping &outside,
                                       const ElementwiseTarget &target);

/// Returns the values that the body of `op` uses from outside, without constants.
SmallVector<Value> getOutsideValues(linalg::GenericOp op);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_CONVERSION_ELEMENTWISEBODY_H
