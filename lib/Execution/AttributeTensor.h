// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Converts constant attributes to host tensors.

#ifndef BLOCKSPARSE_LIB_EXECUTION_ATTRIBUTETENSOR_H
#define BLOCKSPARSE_LIB_EXECUTION_ATTRIBUTETENSOR_H

#include "blocksparse/Support/HostTensor.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <optional>
#include <string>

namespace mlir::blocksparse {

/// Returns the elements of a dense<...> or dense_resource<...> attribute in a tensor of its type.
/// Returns nullopt and sets `error` for other attributes, for element types that host tensors lack,
/// and for a resource that the file does not define.
std::optional<::blocksparse::HostTensor> tensorFromAttribute(Attribute attribute,
                                                             std::string &error);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_EXECUTION_ATTRIBUTETENSOR_H
