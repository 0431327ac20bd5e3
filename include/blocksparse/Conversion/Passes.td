// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_CONVERSION_PASSES_TD
#define BLOCKSPARSE_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertBlockSparseToCPUPass : Pass<"convert-blocksparse-to-cpu"> {
  let summary = "Lowers planned operations on memrefs to parallel loops over vector code.";
  let description = [{
    Every planned operation becomes one or more `scf.forall` loops whose bodies use the memref,
    vector, arith and math dialects. Afterwards no `blocksparse` operation is left but
    `blocksparse.refuse`, which ends a call where a check found a fault. An operation
    that cannot be lowered, because it is on tensors or has element types that the CPU kernels do
    not support, is an error that states the reason.

    `vector-bits` is the width of the vectors of a kernel whose operation has no schedule with tile
    sizes.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", /*default=*/"512",
           "Width in bits of the vectors of kernels without a schedule.">,
  ];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
  ];
}

#endif // BLOCKSPARSE_CONVERSION_PASSES_TD
