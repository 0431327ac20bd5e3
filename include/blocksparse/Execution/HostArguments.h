// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Makes the arguments of a call: reads them from files, or generates them.

#ifndef BLOCKSPARSE_EXECUTION_HOSTARGUMENTS_H
#define BLOCKSPARSE_EXECUTION_HOSTARGUMENTS_H

#include "blocksparse/Support/HostTensor.h"
#include "blocksparse/Target/FunctionSignature.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::blocksparse {

/// Selects the layout of a tensor in memory.
enum class Placement {
  RowMajor,
  /// Every second element of every second row, with an offset: no stride is 1.
  Strided,
  /// Rows are contiguous, with a gap between them.
  PaddedRows,
  /// The last two axes are exchanged in memory.
  Transposed
};

/// Describes the arguments of a call. The keys of the maps are names or indices of parameters.
/// Arguments that the maps do not mention are specified by the attributes of the function's
/// arguments (docs/Testing.md), or else generated.
struct ArgumentOptions {
  /// Paths of .npy files.
  llvm::StringMap<std::string> files;
  /// Fills: a name of fillNames() or a number.
  llvm::StringMap<std::string> fills;
  /// Extents, if the type of the argument has dynamic ones. For a dynamic sparse argument, which is
  /// named like its values, the shape of the tensor that it represents.
  llvm::StringMap<std::vector<int64_t>> shapes;
  /// Fill of all arguments without a fill of their own; "" selects the default.
  std::string fill;
  uint64_t seed = 0;
  /// Probability, 0 to 1, that a block of a generated run-time pattern is stored.
  double density = 0.5;
  Placement placement = Placement::RowMajor;
  /// True to write NaN where programs must not read: in the padding of edge blocks.
  bool poison = true;
};

/// Returns the names of all fills: "uniform, integers, ...".
std::string fillNames();

/// Returns one tensor for each of signature.arguments (of rank 0 for a number). Generated run-time
/// patterns and generated index operands of scatter_mm are valid. Fails with an error if a given
/// pattern is invalid, or if a key names no parameter.
FailureOr<std::vector<::blocksparse::HostTensor>> makeArguments(func::FuncOp function,
                                                                const FunctionSignature &signature,
                                                                const ArgumentOptions &options);

/// Returns a tensor of the same type, shape and elements in new memory with the layout `placement`.
/// Gaps are filled with NaN. Returns nullopt and sets `error` on failure.
std::optional<::blocksparse::HostTensor> placeTensor(const ::blocksparse::HostTensor &tensor,
                                                     Placement placement, std::string &error);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_EXECUTION_HOSTARGUMENTS_H
