// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products with a block-sparse operand or result.

#ifndef BLOCKSPARSE_IR_MATMUL_OPS_TD
#define BLOCKSPARSE_IR_MATMUL_OPS_TD

include "blocksparse/IR/BlockSparseOpBase.td"

def BlockSparse_SDDOp : BlockSparse_TensorOp<"sdd"> {
  let summary = "Sparse = dense x dense at the blocks of the result's layout";
  let arguments = (ins
    BlockSparse_Dense:$a, BlockSparse_Dense:$b, Optional<BlockSparse_Sparse>:$pattern,
    UnitAttr:$transpose_a, UnitAttr:$transpose_b, UnitAttr:$transpose_out,
    DefaultValuedAttr<F64Attr, "1.0">:$alpha,
    DefaultValuedAttr<BlockSparse_PrecisionAttr, "::mlir::blocksparse::Precision::IEEE">:$precision,
    OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let results = (outs BlockSparse_Sparse:$result);
  let assemblyFormat = [{
    $a `,` $b (`pattern` `(` $pattern^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let hasFolder = 0;
  let hasCanonicalizer = 1;
}

// The dense result of a product passes, in order: alpha, bias, activation, residual.
class BlockSparse_DenseResultOp<string mnemonic, list<Trait> traits = []>
    : BlockSparse_TensorOp<mnemonic, !listconcat(traits, [AttrSizedOperandSegments])> {
  let results = (outs BlockSparse_Dense:$result);
  let hasCanonicalizer = 1;
}

// The result type of a product follows from its operands but for the element type, which
// may be wider than theirs.
class BlockSparse_InferredDenseResultOp<string mnemonic>
    : BlockSparse_DenseResultOp<mnemonic, [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual);
  }];
}

def BlockSparse_DSDOp : BlockSparse_InferredDenseResultOp<"dsd"> {
  let summary = "Dense = sparse x dense";
  let arguments = (ins
    BlockSparse_Sparse:$a, BlockSparse_Dense:$b,
    Optional<BlockSparse_Dense>:$bias, Optional<BlockSparse_Dense>:$residual,
    UnitAttr:$transpose_a, UnitAttr:$transpose_b, UnitAttr:$transpose_out,
    DefaultValuedAttr<F64Attr, "1.0">:$alpha,
    OptionalAttr<BlockSparse_ActivationAttr>:$activation,
    DefaultValuedAttr<BlockSparse_PrecisionAttr, "::mlir::blocksparse::Precision::IEEE">:$precision,
    OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let assemblyFormat = [{
    $a `,` $b (`bias` `(` $bias^ `)`)? (`residual` `(` $residual^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
}

def BlockSparse_DDSOp : BlockSparse_InferredDenseResultOp<"dds"> {
  let summary = "Dense = dense x sparse";
  let arguments = (ins
    BlockSparse_Dense:$a, BlockSparse_Sparse:$b,
    Optional<BlockSparse_Dense>:$bias, Optional<BlockSparse_Dense>:$residual,
    UnitAttr:$transpose_a, UnitAttr:$transpose_b, UnitAttr:$transpose_out,
    DefaultValuedAttr<F64Attr, "1.0">:$alpha,
    OptionalAttr<BlockSparse_ActivationAttr>:$activation,
    DefaultValuedAttr<BlockSparse_PrecisionAttr, "::mlir::blocksparse::Precision::IEEE">:$precision,
    OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let assemblyFormat = [{
    $a `,` $b (`bias` `(` $bias^ `)`)? (`residual` `(` $residual^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
}

def BlockSparse_BsrAddmmOp : BlockSparse_InferredDenseResultOp<"bsr_addmm"> {
  let summary = "beta * input + left_alpha[:, None] * (alpha * (sparse @ dense)) * right_alpha[None, :]";
  let arguments = (ins
    BlockSparse_Sparse:$sparse, BlockSparse_Dense:$dense,
    Optional<BlockSparse_Dense>:$input,
    Optional<BlockSparse_Dense>:$left_alpha, Optional<BlockSparse_Dense>:$right_alpha,
    Optional<BlockSparse_Dense>:$bias, Optional<BlockSparse_Dense>:$residual,
    DefaultValuedAttr<F64Attr, "1.0">:$alpha, DefaultValuedAttr<F64Attr, "1.0">:$beta,
    OptionalAttr<BlockSparse_ActivationAttr>:$activation,
    DefaultValuedAttr<BlockSparse_PrecisionAttr, "::mlir::blocksparse::Precision::IEEE">:$precision,
    OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let assemblyFormat = [{
    $sparse `,` $dense (`input` `(` $input^ `)`)?
    (`left_alpha` `(` $left_alpha^ `)`)? (`right_alpha` `(` $right_alpha^ `)`)?
    (`bias` `(` $bias^ `)`)? (`residual` `(` $residual^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
}

def BlockSparse_SampledAddmmOp : BlockSparse_TensorOp<"sampled_addmm",
    [AllTypesMatch<["sparse", "result"]>]> {
  let summary = "beta * sparse + alpha * (a @ b) at the blocks of the sparse operand";
  let arguments = (ins
    BlockSparse_Sparse:$sparse, BlockSparse_Dense:$a, BlockSparse_Dense:$b,
    UnitAttr:$transpose_a, UnitAttr:$transpose_b,
    DefaultValuedAttr<F64Attr, "1.0">:$alpha, DefaultValuedAttr<F64Attr, "1.0">:$beta,
    DefaultValuedAttr<BlockSparse_PrecisionAttr, "::mlir::blocksparse::Precision::IEEE">:$precision,
    OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let results = (outs BlockSparse_Sparse:$result);
  let assemblyFormat = [{
    $sparse `,` $a `,` $b attr-dict `:` functional-type(operands, results)
  }];
}

def BlockSparse_ScatterMMOp : BlockSparse_TensorOp<"scatter_mm",
    [AllTypesMatch<["accumulators", "result"]>]> {
  let summary = "accumulators[r] += sum of blocks[p] @ others[q] over lists of (p, q)";
  let description = [{
    `indices` by `format`:
    - `scatter_mm`: c_offsets [R + 1], pq [n, 2]; blocks [P, Ms, Ks], others [Q, Ks, Ns],
      accumulators [R, Ms, Ns];
    - `bsr_strided_mm`: c_indices [R + 1], r_offsets [R], p_offsets [n], q_offsets [n];
      others [..., K, N] and accumulators [..., M, N] are addressed by element offsets
      (offset / N, offset % N), tiles are Ms x Ns with Ns = N / split_n;
    - `bsr_strided_mm_compressed`: c_indices [M / Ms + 1], r_offsets [R], q_offsets; the
      list of tile (m, n) is `q_offsets[n * c1 + (split_n - n) * c0 + i]` for
      i = 0 .. c1 - c0 - 1 with c0, c1 = c_indices[m], c_indices[m + 1] and p = c0 + i.
  }];
  let arguments = (ins
    BlockSparse_Dense:$blocks, BlockSparse_Dense:$others, BlockSparse_Dense:$accumulators,
    Variadic<BlockSparse_Index>:$indices,
    DefaultValuedAttr<BlockSparse_ScatterFormatAttr, "::mlir::blocksparse::ScatterFormat::ScatterMM">:$format,
    DefaultValuedAttr<I64Attr, "1">:$split_n,
    DefaultValuedAttr<BlockSparse_PrecisionAttr, "::mlir::blocksparse::Precision::IEEE">:$precision,
    OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let results = (outs BlockSparse_Dense:$result);
  let assemblyFormat = [{
    $blocks `,` $others `into` $accumulators `indices` `(` $indices `)`
    attr-dict `:` functional-type(operands, results)
  }];
}

def BlockSparse_MatmulOp : BlockSparse_InferredDenseResultOp<"matmul"> {
  let summary = "Dense = dense x dense";
  let description = [{
    `form` names the dimension order: `linear` [..., M, K] x [..., K, N]; `score` Q [B, M, H, D] x
    K [B, N, H, D] -> [B, H, M, N]; `context` P [B, H, M, N] x V [B, N, H, D] -> [B, M, H, D].
  }];
  let arguments = (ins
    BlockSparse_Dense:$a, BlockSparse_Dense:$b,
    Optional<BlockSparse_Dense>:$bias, Optional<BlockSparse_Dense>:$residual,
    DefaultValuedAttr<BlockSparse_MatmulFormAttr, "::mlir::blocksparse::MatmulForm::Linear">:$form,
    UnitAttr:$transpose_a, UnitAttr:$transpose_b,
    DefaultValuedAttr<F64Attr, "1.0">:$alpha,
    OptionalAttr<BlockSparse_ActivationAttr>:$activation,
    DefaultValuedAttr<BlockSparse_PrecisionAttr, "::mlir::blocksparse::Precision::IEEE">:$precision,
    OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let assemblyFormat = [{
    $a `,` $b (`bias` `(` $bias^ `)`)? (`residual` `(` $residual^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
}

#endif // BLOCKSPARSE_IR_MATMUL_OPS_TD
