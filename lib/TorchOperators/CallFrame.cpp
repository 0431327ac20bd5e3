// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CallFrame.h"

#include <algorithm>

using namespace blocksparse::torch_operators;

CallFrame::CallFrame(size_t numTensors, size_t ranks) {
  words.reserve(3 * numTensors + 2 * ranks);
  descriptors.reserve(numTensors);
}

void CallFrame::add(const void *address, std::span<const int64_t> sizes,
                    std::span<const int64_t> strides) {
  descriptors.push_back(words.data() + words.size());
  int64_t begin = reinterpret_cast<int64_t>(address);
  words.insert(words.end(), {begin, begin, 0});
  words.insert(words.end(), sizes.begin(), sizes.end());
  words.insert(words.end(), strides.begin(), strides.end());
}

void CallFrame::addContiguous(const void *address, std::span<const int64_t> sizes) {
  add(address, sizes, sizes);
  // The strides stand where the sizes were put twice.
  int64_t stride = 1;
  for (size_t back = 1; back <= sizes.size(); ++back) {
    words[words.size() - back] = stride;
    stride *= std::max<int64_t>(sizes[sizes.size() - back], 1);
  }
}

bool CallFrame::invoke(BlocksparseTorchEntry code, const void *last) const {
  std::vector<const void *> addresses(descriptors.size() + 1);
  for (size_t i = 0; i < descriptors.size(); ++i)
    addresses[i] = &descriptors[i];
  addresses[descriptors.size()] = last;
  return code(const_cast<void **>(addresses.data())) == 0;
}

bool CallFrame::call(BlocksparseTorchEntry code, void **stream) const {
  return invoke(code, stream);
}

bool CallFrame::computeSizes(BlocksparseTorchEntry code, std::span<int64_t> sizes) const {
  int64_t address = reinterpret_cast<int64_t>(sizes.data());
  int64_t descriptor[] = {address, address, 0, static_cast<int64_t>(sizes.size()), 1};
  const int64_t *pointer = descriptor;
  return invoke(code, &pointer);
}
