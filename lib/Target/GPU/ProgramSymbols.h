// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// This file declares names that the passes of this directory share, and copies the bytes of
// constants.

#ifndef BLOCKSPARSE_LIB_TARGET_GPU_PROGRAMSYMBOLS_H
#define BLOCKSPARSE_LIB_TARGET_GPU_PROGRAMSYMBOLS_H

#include "blocksparse/IR/DialectAttributes.h"
#include "blocksparse/Target/ArtifactSlot.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"

namespace mlir::blocksparse {

inline constexpr StringLiteral artifactSymbol = "blocksparse.artifact";
inline constexpr StringLiteral artifactSizeSymbol = "blocksparse.artifact.size";

/// Gives the size of blocksparseRtCall in words of 64 bits.
inline constexpr int64_t callStateWords = 5;

/// Appends the elements row-major as they lie in memory. Returns false for elements that are no
/// numbers of complete bytes.
bool copyElementBytes(ElementsAttr value, SmallVectorImpl<char> &bytes);

/// Returns a name that is derived from the contents, so that equal tables of several targets are
/// one.
std::string makeLutName(ArrayRef<char> bytes);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TARGET_GPU_PROGRAMSYMBOLS_H
