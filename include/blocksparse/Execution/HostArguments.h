// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_EXECUTION_HOSTARGUMENTS_H
#define BLOCKSPARSE_EXECUTION_HOSTARGUMENTS_H

#include "blocksparse/Support/HostTensor.h"
#include "blocksparse/Target/FunctionSignature.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::blocksparse {

/// Where tensors lie in memory.
enum class Placement {
  RowMajor,
  /// Every second element of every second row, from an offset: no stride is 1.
  Strided,
  /// Rows are contiguous, but there is a gap between them.
  PaddedRows,
  /// The last two axes are exchanged in memory.
  Transposed
};

/// What a function is called with. The keys of the maps are names of parameters or their
/// numbers. What is not given here is taken from the attributes of the function's arguments
/// (docs/Testing.md), else generated.
struct ArgumentOptions {
  /// .npy files.
  llvm::StringMap<std::string> files;
  /// Fills: a name of fillNames() or a number.
  llvm::StringMap<std::string> fills;
  /// Sizes where the type leaves some open; of a dynamic sparse argument (named like its
  /// values) the sizes that it stands for.
  llvm::StringMap<std::vector<int64_t>> shapes;
  /// Fill of every argument without one of its own; "" for the default.
  std::string fill;
  uint64_t seed = 0;
  /// Share of stored blocks of generated run-time patterns.
  double density = 0.5;
  Placement placement = Placement::RowMajor;
  /// Puts NaN where nothing may be read: the padding of edge blocks.
  bool poison = true;
};

/// "uniform, integers, ...".
std::string fillNames();

/// One tensor for each of signature.arguments (rank 0 for a number). Run-time patterns are
/// valid, or an error; index operands of scatter_mm that are not given are valid, too. A key
/// that names no parameter is an error.
FailureOr<std::vector<::blocksparse::HostTensor>> makeArguments(func::FuncOp function,
                                                                const FunctionSignature &signature,
                                                                const ArgumentOptions &options);

/// A tensor of the same type, shape and elements, placed in new memory as told. Gaps hold NaN.
std::optional<::blocksparse::HostTensor> placeTensor(const ::blocksparse::HostTensor &tensor,
                                                     Placement placement, std::string &error);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_EXECUTION_HOSTARGUMENTS_H
