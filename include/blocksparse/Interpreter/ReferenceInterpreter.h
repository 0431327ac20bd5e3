// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Interprets a source function with the reference implementation, and bounds the error of the
// compiled program. This is the oracle of blocksparse-run --check.

#ifndef BLOCKSPARSE_INTERPRETER_REFERENCEINTERPRETER_H
#define BLOCKSPARSE_INTERPRETER_REFERENCEINTERPRETER_H

#include "blocksparse/Reference/ErrorBound.h"
#include "blocksparse/Support/HostTensor.h"
#include "blocksparse/Target/FunctionSignature.h"

#include <vector>

namespace mlir::blocksparse {

/// Holds what a result of a compiled function is compared with by compareToReference.
struct ReferenceResult {
  ::blocksparse::HostTensor tensor;
  ::blocksparse::ref::ErrorScale scale;
  ::blocksparse::ref::ErrorModel model;
  /// Marks (i8, in the tensor's shape, not 0) elements that the compiled function may leave
  /// undefined; absent if there are none.
  std::optional<::blocksparse::HostTensor> unspecified;
};

/// Returns the first operation of a function, or of one that it calls, that the reference cannot
/// evaluate whatever its operands are; null if there is none.
Operation *findUnknownOperation(func::FuncOp function);

/// Computes the results of a source function, operation by operation, with ::blocksparse::ref in
/// f64. Supports the operations of the dialect, elementwise operations of arith and math on
/// tensors, constants and what is computed from them, loops and branches by such numbers, and
/// calls. Any other operation, and data that the reference rejects (indices out of range, forbidden
/// duplicate blocks), is an error at the operation.
///
/// The interpreter also computes an error bound for each result. The rounding of an operation
/// itself is bounded by the reference's scale for it. The propagated error of its operands is
/// added:
/// - products are linear in each operand, so an error d of x changes them by at most F(|x| + d) -
///   F(|x|), where F is the product with |alpha|, |beta| and no activation; an activation
///   multiplies an error by at most its Lipschitz constant (below 1.13 for GELU and SiLU);
/// - a row softmax whose scores are known to within D changes by at most P (exp(2 D) - 1), its
///   log-sum-exp by D; its gradient is a product of three factors, bounded like products; attention
///   is the two products and the softmax in sequence.
///
/// `arguments` are the tensors of signature.arguments; the results are in the order of
/// signature.results.
FailureOr<std::vector<ReferenceResult>>
interpretWithReference(func::FuncOp function, const FunctionSignature &signature,
                       ArrayRef<::blocksparse::HostTensor> arguments);

/// Computes the results of a function that returns the result of each of its operations
/// (returnEveryResult), after a call that returned `results`. Each operation starts from the
/// operands that the compiled program computed, so that its error bound covers only its own
/// rounding.
FailureOr<std::vector<ReferenceResult>>
interpretEachWithReference(func::FuncOp function, const FunctionSignature &signature,
                           ArrayRef<::blocksparse::HostTensor> arguments,
                           ArrayRef<::blocksparse::HostTensor> results);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_INTERPRETER_REFERENCEINTERPRETER_H
