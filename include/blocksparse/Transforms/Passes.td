// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TRANSFORMS_PASSES_TD
#define BLOCKSPARSE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def MaterializeLutsPass : Pass<"blocksparse-materialize-luts", "::mlir::ModuleOp"> {
  let summary = "Rewrite operations on sparse tensors to the planned form with look-up tables";
  let description = [{
    After it no sparse tensor type is left: a static one has become its values, a dynamic one
    (crow_indices, col_indices, values), in this order, also in the signatures of functions and
    in scf operations. Each operation has become its planned form, which writes into
    `tensor.empty`. Tables of static layouts are constants (`dense_resource` above 1024
    elements), checked against the layout; those of dynamic patterns are made at run time by
    bsr_row_lut, bsr_coordinate_lut and bsr_transpose_indices.

    Every block row has a segment, so each result is written whole. With `alpha` = 0 the tables are
    empty (or the inner dimension is 0), and with `beta` = 0 there is no `input`: what the
    contract says must not be read can't be.

    Attention must have been decomposed; a dynamic size that no operand tells is an error.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // BLOCKSPARSE_TRANSFORMS_PASSES_TD
