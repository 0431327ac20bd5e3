// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reports the comparison of a call's results, for blocksparse-run.

#ifndef BLOCKSPARSE_LIB_INTERPRETER_RUNREPORT_H
#define BLOCKSPARSE_LIB_INTERPRETER_RUNREPORT_H

#include "blocksparse/Interpreter/ReferenceInterpreter.h"

namespace mlir::blocksparse {

/// Counts the verdicts on the results of a call.
struct RunVerdicts {
  /// Comparisons that fail.
  int failures = 0;
  /// Comparisons that pass, but cannot fail, and results that are compared with nothing.
  int inconclusive = 0;
  /// Comparisons, whatever their verdict.
  int comparisons = 0;

  RunVerdicts &operator+=(const RunVerdicts &other);
  /// Returns the last line of a report: PASS, FAIL or INCONCLUSIVE.
  StringRef describe() const;
};

/// Returns true if a result of the function has numbers to be compared with, in the attributes
/// `blocksparse.expect` or `blocksparse.expect_argument`.
bool hasExpectations(func::FuncOp function);

/// Evaluates the reference for a function with expectations, whose error bounds they are compared
/// by. Returns no results, with a remark that says why, if the reference does not support an
/// operation of the function; and, unless `isChecked`, for any other reason.
FailureOr<std::vector<ReferenceResult>>
interpretForExpectations(func::FuncOp function, const FunctionSignature &signature,
                         ArrayRef<::blocksparse::HostTensor> arguments, bool isChecked);

/// Compares results with the reference if `isChecked`, and with the numbers of their expectations
/// in any case. Prints one line for each comparison, and for a result that is compared with
/// nothing, to standard output, with PASS, FAIL or INCONCLUSIVE at its end. `references` is empty
/// where the reference cannot evaluate the program: then expected numbers are compared within the
/// bound of one operation, gamma(16, u) * |expected| and the rounding to the element type. Fails
/// with an error if an attribute cannot be compared.
FailureOr<RunVerdicts> reportComparisons(func::FuncOp function, const FunctionSignature &signature,
                                         ArrayRef<::blocksparse::HostTensor> arguments,
                                         ArrayRef<::blocksparse::HostTensor> results,
                                         ArrayRef<ReferenceResult> references, bool isChecked);

/// Returns the result with the reference's elements in place of those that are unspecified.
::blocksparse::HostTensor withoutUnspecified(const ::blocksparse::HostTensor &result,
                                             const ReferenceResult &reference);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_INTERPRETER_RUNREPORT_H
