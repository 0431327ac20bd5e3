// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Operators of torch that call compiled functions, and the C functions by which the Python package
// makes the functions known. torch's stable interface makes one build serve torch 2.10 and later.

#include "Functions.h"

#include <torch/csrc/stable/library.h>

using namespace blocksparse::torch_operators;

namespace {

/// Calls an operation by its text. Where no function fits, the operator `call_uncached` of the
/// Python package compiles one.
Tensors call(const std::string &operation, const Tensors &arrays) {
  if (std::optional<Tensors> results = getFunctions().call(operation, arrays))
    return std::move(*results);
  StableIValue stack[] = {torch::stable::detail::from(operation),
                          torch::stable::detail::from(arrays)};
  STABLE_TORCH_ERROR_CODE_CHECK(
      torch_call_dispatcher("blocksparse::call_uncached", "", stack, TORCH_ABI_VERSION));
  return torch::stable::detail::to<Tensors>(stack[0]);
}

} // namespace

STABLE_TORCH_LIBRARY(blocksparse, library) {
  library.def("call(str operation, Tensor[] arrays) -> Tensor[]");
}

STABLE_TORCH_LIBRARY_IMPL(blocksparse, CPU, library) { library.impl("call", TORCH_BOX(&call)); }

STABLE_TORCH_LIBRARY_IMPL(blocksparse, CUDA, library) { library.impl("call", TORCH_BOX(&call)); }

extern "C" {

__attribute__((visibility("default"))) int
blocksparseTorchAdd(int64_t operation, const BlocksparseTorchFunction *description) {
  std::optional<Function> function = Function::create(*description);
  if (!function)
    return 1;
  getFunctions().add(operation, std::move(*function));
  return 0;
}

__attribute__((visibility("default"))) void blocksparseTorchName(int64_t operation,
                                                                 const char *text, size_t length) {
  getFunctions().name(operation, std::string(text, length));
}

__attribute__((visibility("default"))) void blocksparseTorchClear() { getFunctions().clear(); }
}
