// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compiled functions by the operation that they compute, for operators of torch. Tensors are seen
// through torch's stable C interface.

#ifndef BLOCKSPARSE_LIB_TORCHOPERATORS_FUNCTIONS_H
#define BLOCKSPARSE_LIB_TORCHOPERATORS_FUNCTIONS_H

#include "CallFrame.h"

#include <torch/csrc/stable/tensor.h>

#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

extern "C" {

/// Describes a tensor that a function takes or returns.
struct BlocksparseTorchTensor {
  /// The element type as the compiler names it, such as "f32".
  const char *element;
  int32_t rank;
  /// The sizes; -1 is open.
  const int64_t *shape;
};

/// Describes a compiled function of tensors alone. Everything is copied but the code.
struct BlocksparseTorchFunction {
  /// The packed entry point, and that which computes the open sizes of the results (or NULL).
  BlocksparseTorchEntry entry, sizeEntry;
  /// The ordinal of a CUDA device, whose code takes the stream as its last argument; -1 for the
  /// CPU.
  int32_t device;
  int32_t numArguments, numResults;
  /// The arguments and behind them the results.
  const BlocksparseTorchTensor *tensors;
};
}

namespace blocksparse::torch_operators {

using Tensors = std::vector<torch::stable::Tensor>;

struct TensorType {
  int32_t dtype;
  /// The sizes; -1 is open.
  std::vector<int64_t> shape;

  bool operator==(const TensorType &) const = default;
};

/// Holds a compiled function and what its tensors must be.
class Function {
public:
  /// Returns the function of a description, nothing if torch has no such element type.
  static std::optional<Function> create(const BlocksparseTorchFunction &description);

  /// Tells whether tensors have the places, types and shapes of the arguments.
  bool accepts(const Tensors &arguments) const;

  /// Calls the code with tensors that it accepts. Returns new tensors, nothing if the code refuses.
  std::optional<Tensors> call(const Tensors &arguments) const;

  bool operator==(const Function &) const = default;

private:
  BlocksparseTorchEntry entry = nullptr, sizeEntry = nullptr;
  int32_t device = -1;
  std::vector<TensorType> arguments, results;
};

/// Holds the functions of the process. Any thread may call any member.
class Functions {
public:
  void add(int64_t operation, Function function);

  /// Makes an operation known by its text.
  void name(int64_t operation, std::string text);

  /// Forgets all functions and texts, after calls in progress have returned.
  void clear();

  /// Calls the function of an operation that accepts the tensors. Returns nothing if there is none
  /// or if it refuses.
  std::optional<Tensors> call(const std::string &text, const Tensors &arguments) const;

private:
  mutable std::shared_mutex mutex;
  std::unordered_map<int64_t, std::vector<Function>> functions;
  std::unordered_map<std::string, int64_t> operations;
};

/// Returns the functions of the process.
Functions &getFunctions();

} // namespace blocksparse::torch_operators

#endif // BLOCKSPARSE_LIB_TORCHOPERATORS_FUNCTIONS_H
