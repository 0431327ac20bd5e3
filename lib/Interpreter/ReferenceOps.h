// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The operations of the dialect on reference values.

#ifndef BLOCKSPARSE_LIB_INTERPRETER_REFERENCEOPS_H
#define BLOCKSPARSE_LIB_INTERPRETER_REFERENCEOPS_H

#include "ReferenceValue.h"
#include "mlir/IR/Operation.h"

namespace mlir::blocksparse {

using ReferenceLookup = llvm::function_ref<const ReferenceValue &(Value)>;

/// The values of the results of `op`, an operation of the blocksparse dialect. An error is
/// reported at the op.
FailureOr<std::vector<ReferenceValue>> evaluateReference(Operation *op, ReferenceLookup lookup);

// Each for the ops of one file of the dialect; null for any other op.
std::optional<FailureOr<std::vector<ReferenceValue>>> evaluateProduct(Operation *op,
                                                                      ReferenceLookup lookup);
std::optional<FailureOr<std::vector<ReferenceValue>>> evaluateSoftmax(Operation *op,
                                                                      ReferenceLookup lookup);
std::optional<FailureOr<std::vector<ReferenceValue>>> evaluateConversion(Operation *op,
                                                                         ReferenceLookup lookup);

/// The arithmetic of an op whose factors have `type`'s element type.
::blocksparse::ref::ErrorModel getErrorModel(Type type);

/// A reference result [B, H, ...] as the value of `type`: leading extents that the type lacks
/// dropped, those that it has more of repeated. Of a sparse type `tensor` is the values; its
/// pattern is that of `like` where the type is dynamic. The scale is optional.
FailureOr<ReferenceValue> makeResult(Operation *op, Type type,
                                     const ::blocksparse::HostTensor &tensor,
                                     std::optional<::blocksparse::ref::ErrorScale> scale,
                                     ::blocksparse::ref::ErrorModel model,
                                     const ReferenceValue *like = nullptr);

/// A sparse value of a static type without values; rows and cols only where they are static.
FailureOr<ReferenceValue> makePattern(Operation *op, Type type, const ReferenceValue *like);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_INTERPRETER_REFERENCEOPS_H
