// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TARGET_ARTIFACTSLOT_H
#define BLOCKSPARSE_TARGET_ARTIFACTSLOT_H

#include "llvm/ADT/StringRef.h"

namespace mlir::blocksparse {

/// Names the variable of a GPU program that holds its open artefact, null before the first call
/// (blocksparseRtArtifactOpenOnce). A program in memory exports it, so that its owner can close the
/// artefact.
inline constexpr llvm::StringLiteral artifactSlotSymbol = "blocksparse.artifact.slot";

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TARGET_ARTIFACTSLOT_H
