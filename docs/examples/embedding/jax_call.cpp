// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A target of JAX's foreign function interface that calls any compiled program of dense tensors on
// the CPU. The attribute `entry` is the address of the program's packed entry point
// (blocksparse-c/Compiler.h); docs/examples/python/jax_attention.py shows its use. The headers are
// those of the package jax, in the folder that jax.ffi.include_dir() names.

#include "xla/ffi/api/ffi.h"

#include <cstdint>
#include <vector>

namespace ffi = xla::ffi;

namespace {

/// Is the packed form of an entry point: it takes the addresses of its arguments.
using PackedEntry = int32_t (*)(void **arguments);

/// Holds the descriptors of tensors: address, address, offset, sizes and strides of each.
class Descriptors {
public:
  explicit Descriptors(size_t count) { descriptors.reserve(count); }

  void add(const ffi::AnyBuffer &buffer) {
    const auto address = reinterpret_cast<int64_t>(buffer.untyped_data());
    std::vector<int64_t> words = {address, address, 0};
    const auto sizes = buffer.dimensions();
    words.insert(words.end(), sizes.begin(), sizes.end());
    // XLA's buffers are in row-major order.
    words.resize(words.size() + sizes.size());
    int64_t stride = 1;
    for (size_t dim = sizes.size(); dim-- > 0; stride *= sizes[dim])
      words[3 + sizes.size() + dim] = stride;
    descriptors.push_back(std::move(words));
  }

  int32_t call(PackedEntry entry) {
    std::vector<void *> addresses, arguments;
    for (std::vector<int64_t> &words : descriptors)
      addresses.push_back(words.data());
    for (void *&address : addresses)
      arguments.push_back(&address);
    return entry(arguments.data());
  }

private:
  std::vector<std::vector<int64_t>> descriptors;
};

ffi::Error callProgram(int64_t entry, ffi::RemainingArgs arguments, ffi::RemainingRets results) {
  Descriptors descriptors(arguments.size() + results.size());
  for (size_t index = 0; index < arguments.size(); ++index)
    descriptors.add(*arguments.get<ffi::AnyBuffer>(index));
  for (size_t index = 0; index < results.size(); ++index)
    descriptors.add(**results.get<ffi::AnyBuffer>(index));
  if (descriptors.call(reinterpret_cast<PackedEntry>(entry)) != 0)
    return ffi::Error::Internal("the program refused the call");
  return ffi::Error::Success();
}

} // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    blocksparseJaxCall, callProgram,
    ffi::Ffi::Bind().Attr<int64_t>("entry").RemainingArgs().RemainingRets());
