// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_COMPILER_REGISTRATION_H
#define BLOCKSPARSE_COMPILER_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::blocksparse {

/// Adds this dialect, the upstream dialects and the interface models that every stage of
/// the compiler needs.
void registerAllDialects(DialectRegistry &registry);

/// Registers this project's passes and pipelines and the upstream passes for use by name.
void registerAllPasses();

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_COMPILER_REGISTRATION_H
