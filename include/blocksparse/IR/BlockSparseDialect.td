// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Naming rule of every ODS file here: a def is `BlockSparse_<Name><Kind>` where Kind is
// Op, Attr, Type or Interface; its C++ class is `<Name><Kind>` and its mnemonic
// `blocksparse.<snake_case_name>`. Ops of the planned form carry the prefix `planned_`.

#ifndef BLOCKSPARSE_IR_DIALECT_TD
#define BLOCKSPARSE_IR_DIALECT_TD

include "mlir/IR/OpBase.td"

def BlockSparse_Dialect : Dialect {
  let name = "blocksparse";
  let cppNamespace = "::mlir::blocksparse";
  let summary = "Block-sparse linear algebra with layouts known at compile time";
  let description = [{
    Operations on tensors whose encoding says which blocks are stored. A static
    pattern (`#blocksparse.layout`) is known to the compiler, which turns it into
    look-up tables and load-balanced segments; a dynamic one (`#blocksparse.bsr`)
    comes as run-time index tensors. See docs/Dialect/Rationale.md.

    ### Shapes

    A dense operand is a stack of matrices, `[R, C]`, `[H, R, C]` or `[B, H, R, C]`. A
    leading dimension that is missing or 1 serves every index of the others' (it is
    broadcast); a dynamic leading dimension is never broadcast. A sparse tensor has the
    shape it stands for. M, N and K need not be multiples of the block: the storage holds
    whole blocks, and what lies outside the shape is never read and written as 0. Where the
    type of a dynamic pattern leaves M open, `crow_indices` tell it in whole blocks: a result
    of that M (of dsd, bsr_addmm, to_dense, sdd, ...) has every row of its last blocks.

    Sizes that types leave open must fit each other when the program runs. Code for a CPU
    checks them and stops with both values; on a GPU the caller sees to it.

    ### Epilogues

    Every product with a dense result ends in
    `activation(left_alpha * (alpha * sum) * right_alpha + beta * input + bias) + residual`,
    with the terms that the operation has. Epilogue operands mean the result as it is
    stored, that is after `transpose_out`.

    ### Contract of every operation

    - Rows without a stored block are results like any other: the epilogue of 0.
    - `alpha == 0`, K == 0 or no stored block: the product is 0, whatever (NaN too) the
      factors hold. `beta == 0`: `input` is never read.
    - Duplicate block columns in one row of a dynamic pattern: products add them up,
      softmax and sampled_addmm reject them. Unsorted columns are accepted.
    - i8 products are i32, exact up to the wrap of i32. f32 products are exact f32
      products unless `precision` says otherwise. `precision` permits and does not order: where
      a target has no tensor-core kernel for it (any CPU), the product stays exact f32.
    - What tensor-core kernels can't take (element types, blocks, strides that do not fit them)
      runs in scalar kernels, slower and by the same contract.
    - Results are bitwise equal from run to run.

    ### Constraints

    Verifiers, their comments and the tests refer to these numbers.

    | constraint | of |
    |---|---|
    | C1: rank 2 to 4 | sparse tensors |
    | C2: rows and columns are static and the grid covers them exactly | static layouts |
    | C3: the layout has one head or those of the tensor | static layouts |
    | C4: the layout's contents can be had and are a pattern | static layouts |
    | C5: dense operands have rank 2 to 4 | products |
    | C6: leading dimensions are missing, 1 or equal | products |
    | C7: inner sizes are equal | products |
    | C8: the result has the shape that follows from the operands | all |
    | C9: the factors have one element type, floating-point or i8 | products |
    | C10: the result has the factors' element type or that of the accumulation; i32 alone for i8; f16 or bf16 too for f8 | products |
    | C11: a precision other than ieee comes with f32 factors | products |
    | C12: a `pattern` operand is there for a dynamic result alone and has its type | sdd, from_dense |
    | C13: `bias` is a vector along the result's last dimension | dense results |
    | C14: `residual` and `input` broadcast to the result | dense results |
    | C15: `left_alpha` is a vector along the result's rows, `right_alpha` along its columns | bsr_addmm |
    | C16: an `input` is there unless beta is 0 | bsr_addmm |
    | C17: i8 factors: integral alpha and beta, activation none or relu | products |
    | C18: number, rank and type of the index tensors follow from the format | scatter_mm |
    | C19: blocks, others and accumulators fit each other | scatter_mm |
    | C20: `split_n` divides the columns | scatter_mm |
    | C21: elements are floating-point | softmax, attention |
    | C22: `rpe` and `drpe` broadcast to the scores | softmax, attention |
    | C23: `key_padding_mask` is `[N]` or `[B, N]` | softmax, attention |
    | C24: `attention_mask` broadcasts to the scores | softmax, attention |
    | C25: an additive mask is floating-point | softmax, attention |
    | C26: `lse` has a number a row, in the accumulation type | softmax, attention |
    | C27: x, y and their gradients have one shape and pattern | softmax |
    | C28: the grid covers the rows of q and of k, which are static | attention |
    | C29: a gradient has the shape of what it belongs to | attention_grad |
    | C30: shape and element type are kept | conversions |
    | C31: the result's pattern is the transpose of the source's | transpose |
    | C32: values and indices have the types that the sparse type asks for | assemble, disassemble |
    | C33: indices are there for a dynamic pattern alone | assemble, disassemble |
    | C34: `block` is two positive sizes | planned form |
    | C35: values have rank 3 or 4 and end in the block | planned form |
    | C36: tables hold i32, have their number of columns, and at most a batch in front | planned form |
    | C37: `lut_heads` is 1 or the number of heads | planned form |
    | C38: the number of destinations | planned form |
    | C39: slots and the combine table come together | planned_dsd |
    | C40: `shape` is two sizes | planned softmax |
    | C41: row offsets and columns are lists of one integer type | bsr tables |
    | C42: `stages` are none or tiles, workers, records, rows and order, i32 without a batch | planned_dsd |
    | C43: `packed` has the type of the values and comes with stages | planned_dsd |
    | C44: `tiles` are none or tiles, workers and, for blocks of fewer than 64 rows or columns, places; i32 without a batch | planned_sdd |

    Epilogue tensors have the element type of the factors, the result or the accumulation.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
  let extraClassDeclaration = [{
    /// Registers the attributes (BlockSparseAttrs.cpp).
    void registerAttributes();
  }];
}

#endif // BLOCKSPARSE_IR_DIALECT_TD
