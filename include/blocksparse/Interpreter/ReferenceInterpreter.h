// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_INTERPRETER_REFERENCEINTERPRETER_H
#define BLOCKSPARSE_INTERPRETER_REFERENCEINTERPRETER_H

#include "blocksparse/Reference/ErrorBound.h"
#include "blocksparse/Support/HostTensor.h"
#include "blocksparse/Target/FunctionSignature.h"

#include <vector>

namespace mlir::blocksparse {

/// What a result of a compiled function is compared with, by compareToReference.
struct ReferenceResult {
  ::blocksparse::HostTensor tensor;
  ::blocksparse::ref::ErrorScale scale;
  ::blocksparse::ref::ErrorModel model;
  /// Not 0 (i8, of the tensor's shape) where the compiled function may leave anything; absent:
  /// nowhere.
  std::optional<::blocksparse::HostTensor> unspecified;
};

/// Computes the results of a function as it stands in the source, operation by operation, with
/// ::blocksparse::ref in f64. Knows the operations of the dialect, constant tensors
/// and calls; any other operation, and data that the
/// reference rejects (indices out of range, duplicate blocks where they are forbidden),
/// is an error at the operation.
///
/// How far the compiled program may be from each result is carried through the function. An
/// operation's own rounding is the reference's scale for it. To that comes the error
/// of its operands:
/// - products are linear in each operand, so that an error d of x changes them by at most
///   F(|x| + d) - F(|x|), where F is the product with |alpha|, |beta| and no activation;
///   an activation enlarges an error by its Lipschitz constant (below 1.13 for GELU and SiLU);
/// - a row softmax whose scores are known to D changes by at most P (exp(2 D) - 1), its
///   log-sum-exp by D; its gradient is a product of three factors, bounded like
///   products; attention is the two products and the softmax in a row.
///
/// `arguments` are the tensors of signature.arguments, `results` those of signature.results.
FailureOr<std::vector<ReferenceResult>>
interpretWithReference(func::FuncOp function, const FunctionSignature &signature,
                       ArrayRef<::blocksparse::HostTensor> arguments);

/// The same for a function that returns what each of its operations computes (returnEveryResult),
/// after a call that gave `results`: each operation starts from what the compiled program made of
/// its operands, so that its reference allows for its own rounding alone.
FailureOr<std::vector<ReferenceResult>>
interpretEachWithReference(func::FuncOp function, const FunctionSignature &signature,
                           ArrayRef<::blocksparse::HostTensor> arguments,
                           ArrayRef<::blocksparse::HostTensor> results);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_INTERPRETER_REFERENCEINTERPRETER_H
