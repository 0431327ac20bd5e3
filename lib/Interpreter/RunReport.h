// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reports the comparison of a call's results, for blocksparse-run.

#ifndef BLOCKSPARSE_LIB_INTERPRETER_RUNREPORT_H
#define BLOCKSPARSE_LIB_INTERPRETER_RUNREPORT_H

#include "blocksparse/Interpreter/ReferenceInterpreter.h"

namespace mlir::blocksparse {

/// Compares results with the reference, and with the numbers in the attributes `blocksparse.expect`
/// and `blocksparse.expect_argument` of the function's results. Prints one line for each comparison
/// to standard output, with PASS or FAIL at its end. Returns the number of FAILs. Fails with an
/// error if an attribute cannot be compared.
FailureOr<int> reportComparisons(func::FuncOp function, const FunctionSignature &signature,
                                 ArrayRef<::blocksparse::HostTensor> arguments,
                                 ArrayRef<::blocksparse::HostTensor> results,
                                 ArrayRef<ReferenceResult> references);

/// Returns the result with the reference's elements in place of those that are unspecified.
::blocksparse::HostTensor withoutUnspecified(const ::blocksparse::HostTensor &result,
                                             const ReferenceResult &reference);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_INTERPRETER_RUNREPORT_H
