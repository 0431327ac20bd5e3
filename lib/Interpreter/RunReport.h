// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What blocksparse-run says about a call.

#ifndef BLOCKSPARSE_LIB_INTERPRETER_RUNREPORT_H
#define BLOCKSPARSE_LIB_INTERPRETER_RUNREPORT_H

#include "blocksparse/Interpreter/ReferenceInterpreter.h"

namespace mlir::blocksparse {

/// Compares results with the reference, and with the numbers that the attributes
/// `blocksparse.expect` and `blocksparse.expect_argument` of the function's results give; one
/// line each on standard output, PASS or FAIL at the end. Gives the number of FAILs; an
/// attribute that can't be compared is an error.
FailureOr<int> reportComparisons(func::FuncOp function, const FunctionSignature &signature,
                                 ArrayRef<::blocksparse::HostTensor> arguments,
                                 ArrayRef<::blocksparse::HostTensor> results,
                                 ArrayRef<ReferenceResult> references);

/// The result with the reference's numbers where it may hold anything.
::blocksparse::HostTensor withoutUnspecified(const ::blocksparse::HostTensor &result,
                                             const ReferenceResult &reference);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_INTERPRETER_RUNREPORT_H
