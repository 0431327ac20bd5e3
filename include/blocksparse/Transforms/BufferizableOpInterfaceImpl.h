// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Bufferization of the planned operations and of what stands beside them.

#ifndef BLOCKSPARSE_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define BLOCKSPARSE_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::blocksparse {

/// Registers the interface by which one-shot bufferization handles the planned operations and the
/// bsr_* table builders. Each op reads its inputs and writes every element of its inits;
/// planned_scatter_mm also reads its init. planned_softmax and planned_softmax_grad may write y
/// (dx) into the same buffer as x (y or dy).
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

/// Registers the interfaces by which passes of MLIR inline, resolve the sizes of, and bufferize
/// what may stand beside the operations of this dialect. No dialect is added. Passes of this
/// project that run before such passes depend on these models, so that a context which another
/// compiler made need not have them.
void registerNeighbourModels(DialectRegistry &registry);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
