// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Counts the useful work of a function: the operations of its stored blocks.

#ifndef BLOCKSPARSE_BENCH_USEFULWORK_H
#define BLOCKSPARSE_BENCH_USEFULWORK_H

#include "blocksparse/Support/HostTensor.h"
#include "blocksparse/Target/FunctionSignature.h"

#include <optional>

namespace mlir::blocksparse {

/// Returns the number of multiplications and additions that the products of a function require: two
/// for each element of a stored block and of the other factor's free dimension. The elements of
/// stored blocks count even if they are padding; blocks that are not stored, softmax, epilogues and
/// conversions count nothing. attention counts its two products, attention_grad five. The run-time
/// patterns of arguments are read from `arguments`. Returns nullopt if a size is unknown without
/// running the program.
std::optional<double> countUsefulOperations(func::FuncOp function,
                                            const FunctionSignature &signature,
                                            ArrayRef<::blocksparse::HostTensor> arguments);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_BENCH_USEFULWORK_H
