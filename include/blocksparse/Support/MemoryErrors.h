// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_SUPPORT_MEMORYERRORS_H
#define BLOCKSPARSE_SUPPORT_MEMORYERRORS_H

#include <functional>
#include <string>

namespace blocksparse {

/// Calls `work`. Returns false and sets `error` if that throws because memory is not enough
/// (std::bad_alloc) or a tensor is too large (std::length_error of HostTensor::zeros). Code that
/// is compiled without exceptions between here and the throw does not free what it holds, so a
/// tool wraps a whole piece of work in one call and reports the error.
bool catchMemoryErrors(const std::function<void()> &work, std::string &error);

} // namespace blocksparse

#endif // BLOCKSPARSE_SUPPORT_MEMORYERRORS_H
