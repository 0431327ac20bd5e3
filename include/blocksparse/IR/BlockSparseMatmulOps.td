// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products with a block-sparse operand or result.

#ifndef BLOCKSPARSE_IR_MATMUL_OPS_TD
#define BLOCKSPARSE_IR_MATMUL_OPS_TD

include "blocksparse/IR/BlockSparseOpBase.td"

def BlockSparse_SDDOp : BlockSparse_TensorOp<"sdd"> {
  let summary = "Sparse = dense x dense at the blocks of the result's layout";
  let description = [{
    result = alpha * op(a) @ op(b) at the stored blocks, with op the transpose of the last
    two dimensions where the flag says so. The result's layout describes the result as it
    is stored, with `transpose_out` the transpose of the product. The indices of a dynamic
    result are those of `pattern`, whose values are not read.

    Preconditions: C4 to C7, C9, C11, C12, C17. Postconditions: C8 (a and b are broadcast
    to the leading dimensions of the result), C10; every stored element is written, padding
    of edge blocks as 0. `alpha == 0`: a and b are not read. No stored block: nothing is
    read.

    ```mlir
    #layout = #blocksparse.layout<16x16, grid 2x4, mask "1010/0111">
    #bsr = #blocksparse.bsr<16x16>
    func.func @sdd(%q: tensor<2x4x32x64xf16>, %k: tensor<2x4x64x64xf16>,
                   %a: tensor<32x8xf32>, %b: tensor<8x64xf32>, %p: tensor<32x64xf32, #bsr>)
        -> (tensor<2x4x32x64xf32, #layout>, tensor<32x64xf32, #bsr>) {
      %0 = blocksparse.sdd %q, %k {transpose_b}
          : (tensor<2x4x32x64xf16>, tensor<2x4x64x64xf16>) -> tensor<2x4x32x64xf32, #layout>
      %1 = blocksparse.sdd %a, %b pattern(%p) {alpha = 0.5}
          : (tensor<32x8xf32>, tensor<8x64xf32>, tensor<32x64xf32, #bsr>)
          -> tensor<32x64xf32, #bsr>
      return %0, %1 : tensor<2x4x32x64xf32, #layout>, tensor<32x64xf32, #bsr>
    }
    ```
  }];
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
  let builders = [
    // The result is the product's tensor type with `layout`.
    OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b, "LayoutAttrInterface":$layout,
                   CArg<"bool", "false">:$transpose_a, CArg<"bool", "false">:$transpose_b,
                   CArg<"bool", "false">:$transpose_out, CArg<"double", "1.0">:$alpha)>,
  ];
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
  let description = [{
    result = activation(alpha * op(a) @ op(b) + bias) + residual, stored transposed with
    `transpose_out`. The layout describes `a` as it is stored, before `transpose_a`.

    Preconditions: C4 to C7, C9, C11, C13, C14, C17. Postconditions: C8, C10; every element
    of the result is written, those of a row without a block as activation(bias) +
    residual. Duplicate blocks add up. `alpha == 0`, K == 0 or no stored block: a and b are
    not read.

    ```mlir
    #layout = #blocksparse.layout<16x16, grid 2x4, mask "1010/0111">
    func.func @dsd(%w: tensor<32x64xf16, #layout>, %x: tensor<8x64x100xf16>,
                   %bias: tensor<100xf16>, %r: tensor<8x32x100xf16>) -> tensor<8x32x100xf16> {
      %y = blocksparse.dsd %w, %x bias(%bias) residual(%r)
          {activation = #blocksparse.activation<gelu_erf>}
          : (tensor<32x64xf16, #layout>, tensor<8x64x100xf16>, tensor<100xf16>,
             tensor<8x32x100xf16>) -> tensor<8x32x100xf16>
      return %y : tensor<8x32x100xf16>
    }
    ```
  }];
  let arguments = (ins
    BlockSparse_Sparse:$a, BlockSparse_Dense:$b,
    Optional<BlockSparse_Dense>:$bias, Optional<BlockSparse_Dense>:$residual,
    UnitAttr:$transpose_a, UnitAttr:$transpose_b, UnitAttr:$transpose_out,
    DefaultValuedAttr<F64Attr, "1.0">:$alpha,
    OptionalAttr<BlockSparse_ActivationAttr>:$activation,
    DefaultValuedAttr<BlockSparse_PrecisionAttr, "::mlir::blocksparse::Precision::IEEE">:$precision,
    OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let builders = [
    // Without an epilogue; the result has the factors' element type (i32 for i8).
    OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b,
                   CArg<"bool", "false">:$transpose_a, CArg<"bool", "false">:$transpose_b)>,
  ];
  let assemblyFormat = [{
    $a `,` $b (`bias` `(` $bias^ `)`)? (`residual` `(` $residual^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
}

def BlockSparse_DDSOp : BlockSparse_InferredDenseResultOp<"dds"> {
  let summary = "Dense = dense x sparse";
  let description = [{
    result = activation(alpha * op(a) @ op(b) + bias) + residual, stored transposed with
    `transpose_out`. The layout describes `b` as it is stored, before `transpose_b`.

    Preconditions, postconditions and contract are those of dsd.

    ```mlir
    #layout = #blocksparse.layout<32x64, grid 2x1, mask "1/0">
    func.func @linear(%x: tensor<10x64xf32>, %w: tensor<64x64xf32, #layout>,
                      %bias: tensor<64xf32>) -> tensor<10x64xf32> {
      %y = blocksparse.dds %x, %w bias(%bias)
          {precision = #blocksparse.precision<tf32>, transpose_b}
          : (tensor<10x64xf32>, tensor<64x64xf32, #layout>, tensor<64xf32>)
          -> tensor<10x64xf32>
      return %y : tensor<10x64xf32>
    }
    ```
  }];
  let arguments = (ins
    BlockSparse_Dense:$a, BlockSparse_Sparse:$b,
    Optional<BlockSparse_Dense>:$bias, Optional<BlockSparse_Dense>:$residual,
    UnitAttr:$transpose_a, UnitAttr:$transpose_b, UnitAttr:$transpose_out,
    DefaultValuedAttr<F64Attr, "1.0">:$alpha,
    OptionalAttr<BlockSparse_ActivationAttr>:$activation,
    DefaultValuedAttr<BlockSparse_PrecisionAttr, "::mlir::blocksparse::Precision::IEEE">:$precision,
    OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let builders = [
    // Without an epilogue; the result has the factors' element type (i32 for i8).
    OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b,
                   CArg<"bool", "false">:$transpose_a, CArg<"bool", "false">:$transpose_b)>,
  ];
  let assemblyFormat = [{
    $a `,` $b (`bias` `(` $bias^ `)`)? (`residual` `(` $residual^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
}

def BlockSparse_BsrAddmmOp : BlockSparse_InferredDenseResultOp<"bsr_addmm"> {
  let summary = "beta * input + left_alpha[:, None] * (alpha * (sparse @ dense)) * right_alpha[None, :]";
  let description = [{
    result = activation(left_alpha * (alpha * sparse @ dense) * right_alpha + beta * input +
    bias) + residual, with left_alpha a factor a row and right_alpha a factor a column.

    Preconditions: C4 to C7, C9, C11, C13 to C17. Postconditions: C8, C10; every element of
    the result is written. `beta == 0`: `input` is never read, NaN there cannot leak.
    `alpha == 0`, K == 0 or no stored block: the result is that of `beta * input`; sparse,
    dense, left_alpha and right_alpha have no part in it. Duplicate blocks add up.

    ```mlir
    #bsr = #blocksparse.bsr<16x16, i64>
    func.func @bsr_addmm(%s: tensor<64x64xf32, #bsr>, %d: tensor<64x20xf32>,
                         %input: tensor<64x20xf32>, %left: tensor<64xf32>,
                         %right: tensor<20xf32>) -> tensor<64x20xf32> {
      %0 = blocksparse.bsr_addmm %s, %d input(%input) left_alpha(%left) right_alpha(%right)
          {alpha = 2.0, beta = 0.5}
          : (tensor<64x64xf32, #bsr>, tensor<64x20xf32>, tensor<64x20xf32>, tensor<64xf32>,
             tensor<20xf32>) -> tensor<64x20xf32>
      return %0 : tensor<64x20xf32>
    }
    ```
  }];
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
  let description = [{
    Preconditions: C4 to C7, C9, C11, C17; no row of a dynamic pattern holds a column
    twice. Postconditions: C8 (a and b are broadcast to the leading dimensions of the
    result), C10; the result has the operand's pattern. `beta == 0`: the values of
    `sparse` are never read, its indices are. `alpha == 0`: a and b are not read.

    ```mlir
    #layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
    func.func @sampled_addmm(%s: tensor<32x32xf32, #layout>, %a: tensor<32x7xf32>,
                             %b: tensor<32x7xf32>) -> tensor<32x32xf32, #layout> {
      %0 = blocksparse.sampled_addmm %s, %a, %b {beta = 0.0, transpose_b}
          : (tensor<32x32xf32, #layout>, tensor<32x7xf32>, tensor<32x7xf32>)
          -> tensor<32x32xf32, #layout>
      return %0 : tensor<32x32xf32, #layout>
    }
    ```
  }];
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
  let builders = [
    // Without transposes; the result has the type of `sparse`.
    OpBuilder<(ins "::mlir::Value":$sparse, "::mlir::Value":$a, "::mlir::Value":$b,
                   CArg<"double", "1.0">:$alpha, CArg<"double", "1.0">:$beta)>,
  ];
  let hasFolder = 1;
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

    Preconditions: C9, C11, C18 to C20; run-time indices stay inside their tensors.
    Postconditions: C10; the result is the accumulators with the products added, the
    operand itself is unchanged. A list without an entry leaves its accumulator as it is.

    ```mlir
    func.func @scatter_mm(%blocks: tensor<5x16x16xf32>, %others: tensor<7x16x32xf32>,
                          %acc: tensor<3x16x32xf32>, %offsets: tensor<4xi32>,
                          %pq: tensor<?x2xi32>) -> tensor<3x16x32xf32> {
      %0 = blocksparse.scatter_mm %blocks, %others into %acc indices(%offsets, %pq)
          : (tensor<5x16x16xf32>, tensor<7x16x32xf32>, tensor<3x16x32xf32>, tensor<4xi32>,
             tensor<?x2xi32>) -> tensor<3x16x32xf32>
      return %0 : tensor<3x16x32xf32>
    }
    ```
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
    The epilogue is that of dsd.

    Preconditions: C5 to C7, C9, C11, C13, C14, C17; score and context take rank 4 and no
    transposes. Postconditions: C8, C10. `alpha == 0` or K == 0: a and b are not read.

    ```mlir
    func.func @matmul(%x: tensor<10x64xf16>, %w: tensor<32x64xf16>, %bias: tensor<32xf16>,
                      %q: tensor<2x100x4x64xf32>, %k: tensor<2x90x4x64xf32>)
        -> (tensor<10x32xf16>, tensor<2x4x100x90xf32>) {
      %0 = blocksparse.matmul %x, %w bias(%bias)
          {activation = #blocksparse.activation<relu>, transpose_b}
          : (tensor<10x64xf16>, tensor<32x64xf16>, tensor<32xf16>) -> tensor<10x32xf16>
      %1 = blocksparse.matmul %q, %k {alpha = 0.125, form = #blocksparse.form<score>}
          : (tensor<2x100x4x64xf32>, tensor<2x90x4x64xf32>) -> tensor<2x4x100x90xf32>
      return %0, %1 : tensor<10x32xf16>, tensor<2x4x100x90xf32>
    }
    ```
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
  let builders = [
    // Without an epilogue; the result has the factors' element type (i32 for i8).
    OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b,
                   CArg<"bool", "false">:$transpose_a, CArg<"bool", "false">:$transpose_b)>,
  ];
  let assemblyFormat = [{
    $a `,` $b (`bias` `(` $bias^ `)`)? (`residual` `(` $residual^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
}

#endif // BLOCKSPARSE_IR_MATMUL_OPS_TD
