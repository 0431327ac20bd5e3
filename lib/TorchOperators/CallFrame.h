// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The memory of one call of compiled code: the descriptors of its tensors and their addresses.

#ifndef BLOCKSPARSE_LIB_TORCHOPERATORS_CALLFRAME_H
#define BLOCKSPARSE_LIB_TORCHOPERATORS_CALLFRAME_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

extern "C" {

/// Calls compiled code with the addresses of its arguments; returns 0 if it succeeded.
using BlocksparseTorchEntry = int32_t (*)(void **arguments);
}

namespace blocksparse::torch_operators {

class CallFrame {
public:
  /// Makes room for tensors of `ranks` dimensions in all. Descriptors do not move when one is
  /// added.
  CallFrame(size_t numTensors, size_t ranks);

  /// Adds the descriptor of a tensor as compiled code reads it: twice the address, the offset 0,
  /// sizes and strides in elements.
  void add(const void *address, std::span<const int64_t> sizes, std::span<const int64_t> strides);
  /// Adds the descriptor of a contiguous tensor.
  void addContiguous(const void *address, std::span<const int64_t> sizes);

  /// Calls code on the tensors so far, and on a stream unless `stream` is null. Returns whether it
  /// succeeded.
  bool call(BlocksparseTorchEntry code, void **stream) const;

  /// Calls code that computes as many open sizes as `sizes` has. Returns whether it succeeded.
  bool computeSizes(BlocksparseTorchEntry code, std::span<int64_t> sizes) const;

private:
  bool invoke(BlocksparseTorchEntry code, const void *last) const;

  std::vector<int64_t> words;
  std::vector<const int64_t *> descriptors;
};

} // namespace blocksparse::torch_operators

#endif // BLOCKSPARSE_LIB_TORCHOPERATORS_CALLFRAME_H
