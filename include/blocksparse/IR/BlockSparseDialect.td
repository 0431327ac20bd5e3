// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Naming rule of every ODS file here: a def is `BlockSparse_<Name><Kind>` where Kind is
// Op, Attr, Type or Interface; its C++ class is `<Name><Kind>` and its mnemonic
// `blocksparse.<snake_case_name>`. Operations of the planned form have the prefix `planned_`.
// Constraints are named by their numbers alone (BlockSparseConstraints.td).

#ifndef BLOCKSPARSE_IR_DIALECT_TD
#define BLOCKSPARSE_IR_DIALECT_TD

include "blocksparse/IR/BlockSparseConstraints.td"
include "mlir/IR/OpBase.td"

def BlockSparse_Dialect : Dialect {
  let name = "blocksparse";
  let cppNamespace = "::mlir::blocksparse";
  let summary = "Block-sparse linear algebra with layouts known at compile time";
  let description = [{
    Operations on tensors whose encoding says which blocks are stored. A static
    pattern (`#blocksparse.layout`) is known to the compiler, which turns it into
    look-up tables and load-balanced segments. A dynamic pattern (`#blocksparse.bsr`)
    comes as run-time index tensors. docs/Dialect/Rationale.md gives the reasons.

    ### Shapes

    A dense operand is a stack of matrices, `[R, C]`, `[H, R, C]` or `[B, H, R, C]`. A
    leading dimension that is missing or statically 1 is broadcast: it serves every index of
    that dimension of the other operands. A dynamic leading dimension is never broadcast.

    A sparse tensor has the shape of the dense tensor that it stands for. M, N and K need not be
    multiples of the block: the storage holds whole blocks, of which the elements outside the shape
    (padding) are never read and are written as 0. Where the type of a dynamic pattern leaves M
    open, `crow_indices` give it in whole blocks: a result with this M (of dsd, bsr_addmm, to_dense,
    sdd, ...) has every row of its last block row.

    A size that a type leaves open (`?`) is compared, when the program runs, with the size that it
    must equal, before anything is computed; if they differ, the call returns an error status with a
    message that names both values.

    ### Indices of run time

    The indices of a dynamic pattern and the index tensors of scatter_mm, 32 or 64 bits wide, are
    addresses. Valid crow_indices start at 0, never decrease and end within the blocks of
    col_indices; a column is from 0 to below the number of block columns; blocks, tiles and offsets
    of scatter_mm lie inside its operands, and no two tiles at r_offsets share an element of the
    accumulators. Code for a CPU checks them by default, and code for a GPU
    where that is asked for, in each case before it uses one and before it makes 32 bits of it: the
    call returns an error status, whose text has the operand, batch, row, position, value and limit.
    Unchecked indices that are invalid read and write memory anywhere, or end the process; where
    tiles at unchecked r_offsets overlap, the elements that they share are unspecified.

    A block column may occur twice in a block row for `dsd`, `dds`, `bsr_addmm`, `to_dense` and
    `transpose`: these are two blocks, whose products or elements are added. For `sdd`,
    `sampled_addmm`, `from_dense`, `softmax` and `softmax_grad` that is an error; unchecked, each of
    the two value blocks is computed as if it were a block of its own. `add` adds value block to
    value block and reads no index. Pairs of scatter_mm that occur twice are added twice.

    ### Epilogues

    Every product with a dense result ends in
    `activation(left_alpha * (alpha * sum) * right_alpha + beta * input + bias) + residual`,
    with the terms that the operation has. Epilogue operands are indexed by the coordinates of the
    result as it is stored, that is, after `transpose_out`. The epilogue element types of a product
    are the type of the factors, the type of the result and the accumulation type.

    ### Contract of every operation

    - Every row of a result is written; a row without a stored block is the epilogue of 0.
    - With `alpha == 0`, K == 0 or no stored block, the product is 0 whatever the factors hold, NaN
      included. With `beta == 0`, `input` is never read.
    - Unsorted columns of a dynamic pattern are accepted; for columns that occur twice see
      [Indices of run time](#indices-of-run-time).
    - i8 products are i32, exact up to the wrap of i32. f32 products are exact f32
      products unless `precision` says otherwise. `precision` is a permission: where
      a target has no tensor-core kernel for it, as on any CPU, the product stays exact f32.
    - Element types, blocks and strides that tensor-core kernels do not support run in scalar
      kernels, which are slower and keep the same contract.
    - Results are bitwise equal from run to run.
    - An attribute that an operation does not have is an error that names the nearest one, so that
      no option is ignored. Attributes with the prefix of another dialect are left alone.
    - `alpha`, `beta` and `scale` are finite numbers of the accumulation type (f32, or f64 for f64),
      and 0 only where they are written so; others are an error.

    ### Constraints

    Each operation and attribute below lists the constraints that its verifier checks and their
    errors. Verifiers and tests refer to them by these numbers. In the form of an error, `<name>`
    stands for a value.
  }] # BlockSparse_ConstraintIndex<BlockSparse_AllConstraints>.text;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
  let extraClassDeclaration = [{
    /// Registers the attributes of the dialect.
    void registerAttributes();
  }];
}

#endif // BLOCKSPARSE_IR_DIALECT_TD
