// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compiled functions and the calls that they serve, for tensors that DLPack describes.

#ifndef BLOCKSPARSE_LIB_TORCHOPERATORS_SERVEDFUNCTION_H
#define BLOCKSPARSE_LIB_TORCHOPERATORS_SERVEDFUNCTION_H

#include "CallFrame.h"

#include <ATen/dlpack.h>

#include <optional>
#include <vector>

namespace blocksparse::torch_operators {

/// Describes a tensor of a call.
struct TensorPattern {
  bool isPresent = false;
  DLDataType type = {};
  /// The sizes; -1 is open.
  std::vector<int64_t> shape;
};

/// Tells of which tensor of a call an argument of a function is a view.
struct ArgumentSource {
  size_t position = 0;
  /// The sizes that the function sees. Without strides the argument has all elements of the tensor,
  /// and the open sizes (-1) are those of the tensor, counted from behind.
  std::vector<int64_t> shape;
  /// The strides of the argument and those that the tensor must have, and the bytes between their
  /// first elements.
  std::optional<std::vector<int64_t>> strides;
  std::vector<int64_t> wholeStrides;
  int64_t offset = 0;
};

/// Describes a result: the sizes that the function and callers see; -1 is open.
struct ResultShape {
  std::vector<int64_t> inner, outer;
};

struct ServedFunction {
  BlocksparseTorchEntry entry = nullptr, sizeEntry = nullptr;
  DLDevice device = {kDLCPU, 0};
  std::vector<TensorPattern> tensors;
  std::vector<ArgumentSource> arguments;
  std::vector<ResultShape> results;

  /// Returns how many descriptors a call has, how many dimensions these, and how many sizes of
  /// results are open.
  size_t countDescriptors() const { return arguments.size() + results.size(); }
  size_t countRanks() const;
  size_t countOpenSizes() const;

  /// Tells whether tensors have the places, types and shapes of a call that is served. A tensor
  /// that is not there has a null shape and rank -1.
  bool accepts(const std::vector<DLTensor> &found) const;

  /// Adds the descriptors of the arguments. Returns false if one is no view of its tensor.
  bool addArguments(CallFrame &frame, const std::vector<DLTensor> &found) const;
};

/// Returns a shape whose open sizes are those of another one, counted from behind.
std::vector<int64_t> closeShape(std::vector<int64_t> shape, std::span<const int64_t> sizes);

} // namespace blocksparse::torch_operators

#endif // BLOCKSPARSE_LIB_TORCHOPERATORS_SERVEDFUNCTION_H
