// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_COMPILER_REGISTRATION_H
#define BLOCKSPARSE_COMPILER_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::blocksparse {

// Another compiler that takes the dialect calls the four functions named registerBlockSparse*: the
// first and the last on its DialectRegistry before it makes a context, the others once a process,
// before it parses its command line. registerAllDialects and registerAllPasses do that for a tool
// that is built around this dialect, and add everything of MLIR.

/// Adds the dialect `blocksparse` with its attributes, operations and bytecode interface.
void registerBlockSparseDialect(DialectRegistry &registry);

/// Registers every pass of this project for use by name.
void registerBlockSparsePasses();

/// Registers the pipelines of the stages for use by name (see Pipelines.h).
void registerBlockSparsePipelines();

/// Adds the models by which `one-shot-bufferize` handles the planned operations and what may stand
/// beside them (see BufferizableOpInterfaceImpl.h), for a compiler that bufferizes planned
/// operations by itself. The pipelines of this project need no models.
void registerBlockSparseBufferizationModels(DialectRegistry &registry);

/// Adds this dialect, the upstream dialects and the interface models that every stage of
/// the compiler needs.
void registerAllDialects(DialectRegistry &registry);

/// Registers this project's passes and pipelines and the upstream passes for use by name.
void registerAllPasses();

/// Makes `--version` of this process print the versions of the project and of LLVM.
void setVersionPrinter();

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_COMPILER_REGISTRATION_H
