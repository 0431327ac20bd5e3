// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Evaluates the operations of the dialect on reference values.

#ifndef BLOCKSPARSE_LIB_INTERPRETER_REFERENCEOPS_H
#define BLOCKSPARSE_LIB_INTERPRETER_REFERENCEOPS_H

#include "ReferenceValue.h"
#include "mlir/IR/Operation.h"

namespace mlir::blocksparse {

/// Returns the reference value of an operand.
using ReferenceLookup = llvm::function_ref<const ReferenceValue &(Value)>;

/// Returns the values of the results of `op`, an operation of the blocksparse dialect. Fails with
/// an error at the op.
FailureOr<std::vector<ReferenceValue>> evaluateReference(Operation *op, ReferenceLookup lookup);

// Each function evaluates the ops of one ODS file of the dialect, and returns nullopt for any other
// op.
std::optional<FailureOr<std::vector<ReferenceValue>>> evaluateProduct(Operation *op,
                                                                      ReferenceLookup lookup);
std::optional<FailureOr<std::vector<ReferenceValue>>> evaluateSoftmax(Operation *op,
                                                                      ReferenceLookup lookup);
std::optional<FailureOr<std::vector<ReferenceValue>>> evaluateConversion(Operation *op,
                                                                         ReferenceLookup lookup);

/// Returns a factor that is an attribute or, where `operand` is not null, the element of a tensor
/// of rank 0; the attribute is then 1.
double getFactor(const llvm::APFloat &value, Value operand, ReferenceLookup lookup);

/// Returns the error model of an op whose factors have the element type of `type`.
::blocksparse::ref::ErrorModel getErrorModel(Type type);

/// Returns a reference result [B, H, ...] as the value of `type`: leading extents that the type
/// lacks are dropped, and those that it has in addition are repeated. If the type is sparse,
/// `tensor` holds the values, and the pattern is that of `like` if the type is dynamic. The scale
/// is optional. Fails with an error at `op`.
FailureOr<ReferenceValue> makeResult(Operation *op, Type type,
                                     const ::blocksparse::HostTensor &tensor,
                                     std::optional<::blocksparse::ref::ErrorScale> scale,
                                     ::blocksparse::ref::ErrorModel model,
                                     const ReferenceValue *like = nullptr);

/// Returns a sparse value of `type` without values, with the pattern of the type, or of `like` if
/// the type is dynamic. `rows` and `cols` are set only if they are static.
FailureOr<ReferenceValue> makePattern(Operation *op, Type type, const ReferenceValue *like);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_INTERPRETER_REFERENCEOPS_H
