// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Declares the pass convert-blocksparse-to-cpu (docs/Passes/Conversion.md).

#ifndef BLOCKSPARSE_CONVERSION_PASSES_H
#define BLOCKSPARSE_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::arith {
class ArithDialect;
} // namespace mlir::arith
namespace mlir::cf {
class ControlFlowDialect;
} // namespace mlir::cf
namespace mlir::math {
class MathDialect;
} // namespace mlir::math
namespace mlir::memref {
class MemRefDialect;
} // namespace mlir::memref
namespace mlir::scf {
class SCFDialect;
} // namespace mlir::scf
namespace mlir::vector {
class VectorDialect;
} // namespace mlir::vector

namespace mlir::blocksparse {

#define GEN_PASS_DECL
#include "blocksparse/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "blocksparse/Conversion/Passes.h.inc"

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_CONVERSION_PASSES_H
