// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_BENCH_USEFULWORK_H
#define BLOCKSPARSE_BENCH_USEFULWORK_H

#include "blocksparse/Support/HostTensor.h"
#include "blocksparse/Target/FunctionSignature.h"

#include <optional>

namespace mlir::blocksparse {

/// Number of multiplications and additions that the products of a function ask for: two for
/// each element of a stored block and of the other factor's free dimension; nothing for what
/// is not stored, for padding by whole blocks as for any element, and for softmax, epilogues and
/// conversions. attention counts its two products, attention_grad five. Patterns of
/// arguments come from `arguments`. Empty where a size can't be told without running the
/// program.
std::optional<double> countUsefulOperations(func::FuncOp function,
                                            const FunctionSignature &signature,
                                            ArrayRef<::blocksparse::HostTensor> arguments);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_BENCH_USEFULWORK_H
