// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compiled functions by the operation that they compute, for operators of torch. Tensors are seen
// through torch's stable C interface.

#ifndef BLOCKSPARSE_LIB_TORCHOPERATORS_FUNCTIONS_H
#define BLOCKSPARSE_LIB_TORCHOPERATORS_FUNCTIONS_H

#include <torch/csrc/stable/tensor.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

extern "C" {

/// Calls compiled code with the addresses of its arguments; returns 0 if it succeeded.
typedef int32_t (*BlocksparseTorchEntry)(void **arguments);

/// Describes a tensor that a function takes or returns.
struct BlocksparseTorchTensor {
  /// The element type as the compiler names it, such as "f32".
  const char *element;
  int32_t rank;
  /// The sizes; -1 is open.
  const int64_t *shape;
  /// The shape of the tensor that callers have, of which the function's is a view: dimensions in
  /// front may be joined, and may be added with the size 1. Open sizes are the same from behind.
  int32_t outerRank;
  const int64_t *outerShape;
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
  /// The shapes that the function and its callers see.
  std::vector<int64_t> shape, outer;

  bool operator==(const TensorType &) const = default;
};

/// Holds a compiled function and what its tensors must be.
class Function {
public:
  /// Returns the function of a description, nothing if torch has no such element type.
  static std::optional<Function> create(const BlocksparseTorchFunction &description);

  /// Tells whether tensors have the places, types and shapes of the arguments.
  bool accepts(const Tensors &arguments) const;

  /// Calls the code with tensors that it accepts. Returns new tensors, nothing if the code refuses
  /// or if a tensor has no view of the shape that it takes.
  std::optional<Tensors> call(const Tensors &arguments) const;

  bool operator==(const Function &) const = default;

private:
  BlocksparseTorchEntry entry = nullptr, sizeEntry = nullptr;
  int32_t device = -1;
  std::vector<TensorType> arguments, results;
};

/// Holds the indices of a BSR matrix in memory of the host, of any integer type.
struct Indices {
  std::vector<char> crow, col;

  /// Copies the indices of tensors; nothing if they are not contiguous tensors on the CPU.
  static std::optional<Indices> get(const torch::stable::Tensor &crow,
                                    const torch::stable::Tensor &col);
  bool operator==(const Indices &) const = default;
};

/// Holds what is known of the patterns with which one operation on BSR matrices was called.
class Patterns {
public:
  /// Says what is to be done with a pattern: called with a function of its own, called with one for
  /// any pattern, or shown to the caller, who may compile a function.
  enum class Choice { Own, Any, Show };

  /// Chooses for the matrix of a call. A pattern without functions is shown when it has been seen
  /// before. `functions` is set for Choice::Own.
  Choice choose(const torch::stable::Tensor &crow, const torch::stable::Tensor &col,
                const std::vector<Function> *&functions);
  /// Remembers that the pattern was seen.
  void see(const Indices &indices);
  /// Adds a function for a pattern; without one, the pattern stays with those for any pattern.
  void add(Indices indices, std::optional<Function> function);

private:
  struct Known {
    Indices indices;
    std::vector<Function> functions;
  };
  /// The patterns that come again, the latest at the end. Are changed under the lock of Functions.
  std::vector<Known> known;
  /// Hashes of patterns that were seen, in a ring.
  std::mutex mutex;
  std::array<uint64_t, 64> seen = {};
  size_t next = 0;
};

/// Holds the functions of the process. Any thread may call any member.
class Functions {
public:
  void add(int64_t operation, Function function);

  /// Makes the patterns of BSR matrices count in calls of an operation, and says that one was seen.
  void seePattern(int64_t operation, const Indices &indices);
  /// Adds a function for one pattern, or says that none is to come.
  void addPattern(int64_t operation, Indices indices, std::optional<Function> function);

  /// Calls an operation on the arrays crow_indices, col_indices and values of a BSR matrix and
  /// others, with a function for the pattern, which takes no indices, or for any pattern.
  std::optional<Tensors> callBsr(int64_t operation, const Tensors &arguments);

  /// Makes an operation known by its text.
  void name(int64_t operation, std::string text);

  /// Forgets all functions and texts, after calls in progress have returned.
  void clear();

  /// Calls the function of an operation that accepts the tensors. Returns nothing if there is none
  /// or if it refuses.
  std::optional<Tensors> call(int64_t operation, const Tensors &arguments) const;
  std::optional<Tensors> call(const std::string &text, const Tensors &arguments) const;

private:
  std::optional<Tensors> callAny(int64_t operation, const Tensors &arguments) const;

  mutable std::shared_mutex mutex;
  std::unordered_map<int64_t, std::vector<Function>> functions;
  std::unordered_map<int64_t, std::unique_ptr<Patterns>> patterns;
  std::unordered_map<std::string, int64_t> operations;
};

/// Returns the functions of the process.
Functions &getFunctions();

} // namespace blocksparse::torch_operators

#endif // BLOCKSPARSE_LIB_TORCHOPERATORS_FUNCTIONS_H
