// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Operators of torch that call compiled functions, and the C functions by which the Python package
// makes the functions known. torch's stable interface makes one build serve torch 2.10 and later.

#include "Functions.h"

#include <torch/csrc/stable/library.h>

using namespace blocksparse::torch_operators;
using torch::stable::Tensor;

namespace {

/// Calls an operation by its number. Returns no tensor where no function fits: the caller then
/// takes the way that checks the arguments, compiles and tells errors.
Tensors run(int64_t operation, const Tensors &arrays) {
  return getFunctions().call(operation, arrays).value_or(Tensors());
}

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

/// Returns what an operator of torch without further arguments gives for a tensor.
Tensor callUnary(const char *name, const Tensor &tensor) {
  StableIValue stack[] = {torch::stable::detail::from(tensor)};
  STABLE_TORCH_ERROR_CODE_CHECK(torch_call_dispatcher(name, "", stack, TORCH_ABI_VERSION));
  return torch::stable::detail::to<Tensor>(stack[0]);
}

/// Returns a sparse_bsr tensor of the size and the indices of another one.
Tensor makeBsr(const Tensor &like, const Tensor &crow, const Tensor &col, const Tensor &values) {
  int64_t *sizes = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_sizes(like.get(), &sizes));
  std::vector<int64_t> size(sizes, sizes + like.dim());
  using torch::stable::detail::from;
  StableIValue stack[] = {from(crow),
                          from(col),
                          from(values),
                          from(size),
                          from(std::optional(like.scalar_type())),
                          from(std::optional(torch::headeronly::Layout::SparseBsr)),
                          from(std::optional(like.device())),
                          from(std::nullopt)};
  // The indices are those of a tensor that exists, and need no check.
  STABLE_TORCH_ERROR_CODE_CHECK(
      torch_call_dispatcher("aten::_sparse_bsr_tensor_unsafe", "", stack, TORCH_ABI_VERSION));
  return torch::stable::detail::to<Tensor>(stack[0]);
}

/// Calls an operation on a sparse_bsr tensor and others by its number, as `run` does. With
/// `isMatrix`, its first result are the values of the matrix that is returned.
Tensors runBsr(int64_t operation, const Tensor &matrix, const Tensors &arrays, bool isMatrix) {
  Tensors tensors;
  tensors.reserve(3 + arrays.size());
  for (const char *part : {"aten::crow_indices", "aten::col_indices", "aten::values"})
    tensors.push_back(callUnary(part, matrix));
  tensors.insert(tensors.end(), arrays.begin(), arrays.end());
  std::optional<Tensors> results = getFunctions().callBsr(operation, tensors);
  if (!results)
    return {};
  if (!isMatrix)
    return std::move(*results);
  return {makeBsr(matrix, tensors[0], tensors[1], results->front())};
}

} // namespace

STABLE_TORCH_LIBRARY(blocksparse, library) {
  library.def("run(int operation, Tensor[] arrays) -> Tensor[]");
  library.def("run_bsr(int operation, Tensor matrix, Tensor[] arrays, bool is_matrix) -> Tensor[]");
  library.def("call(str operation, Tensor[] arrays) -> Tensor[]");
}

STABLE_TORCH_LIBRARY_IMPL(blocksparse, CPU, library) {
  library.impl("run", TORCH_BOX(&run));
  library.impl("call", TORCH_BOX(&call));
}

STABLE_TORCH_LIBRARY_IMPL(blocksparse, CUDA, library) {
  library.impl("run", TORCH_BOX(&run));
  library.impl("call", TORCH_BOX(&call));
}

STABLE_TORCH_LIBRARY_IMPL(blocksparse, SparseCsrCPU, library) {
  library.impl("run_bsr", TORCH_BOX(&runBsr));
}

STABLE_TORCH_LIBRARY_IMPL(blocksparse, SparseCsrCUDA, library) {
  library.impl("run_bsr", TORCH_BOX(&runBsr));
}

extern "C" {

__attribute__((visibility("default"))) int
blocksparseTorchAdd(int64_t operation, const BlocksparseTorchFunction *description) {
  std::optional<Function> function = Function::create(*description);
  if (!function)
    return 1;
  getFunctions().add(operation, std::move(*function));
  return 0;
}

/// Says that an operation, whose patterns count from now on, was called with one.
__attribute__((visibility("default"))) void
blocksparseTorchSeePattern(int64_t operation, const char *crow, size_t crowBytes, const char *col,
                           size_t colBytes) {
  getFunctions().seePattern(operation, {{crow, crow + crowBytes}, {col, col + colBytes}});
}

/// Adds a function of an operation for one pattern, which takes no indices. Without a description
/// the pattern stays with the functions for any pattern.
__attribute__((visibility("default"))) int
blocksparseTorchAddPattern(int64_t operation, const char *crow, size_t crowBytes, const char *col,
                           size_t colBytes, const BlocksparseTorchFunction *description) {
  std::optional<Function> function;
  if (description && !(function = Function::create(*description)))
    return 1;
  getFunctions().addPattern(operation, {{crow, crow + crowBytes}, {col, col + colBytes}},
                            std::move(function));
  return 0;
}

__attribute__((visibility("default"))) void blocksparseTorchName(int64_t operation,
                                                                 const char *text, size_t length) {
  getFunctions().name(operation, std::string(text, length));
}

__attribute__((visibility("default"))) void blocksparseTorchClear() { getFunctions().clear(); }
}
