// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products with a block-sparse operand or result.

#ifndef BLOCKSPARSE_IR_MATMUL_OPS_TD
#define BLOCKSPARSE_IR_MATMUL_OPS_TD

include "blocksparse/IR/BlockSparseOpBase.td"

// The constraints of every product's factors and result.
defvar BlockSparse_ProductConstraints = [C5, C6, C7, C8, C9, C10, C11];
// The constraints of the epilogue `activation(alpha * t + bias) + residual`.
defvar BlockSparse_EpilogueConstraints = [C13, C14, C17, C44, C62];

// The operands and attributes of that epilogue. A dense result passes, in this order, alpha, bias,
// activation and residual.
defvar BlockSparse_EpilogueOperands = !con((ins
  Arg<Optional<BlockSparse_Dense<"bias">>, "vector that is added to each row of the result">:$bias,
  Arg<Optional<BlockSparse_Dense<"residual">>, "tensor that is added after the activation">:$residual),
  BlockSparse_DynamicAlphaOperand);
defvar BlockSparse_EpilogueAttrs = !con(BlockSparse_AlphaArg, BlockSparse_ActivationArg,
                                        BlockSparse_PrecisionArg, BlockSparse_ScheduleArg);

def BlockSparse_SDDOp : BlockSparse_TensorOp<"sdd", [AttrSizedOperandSegments]> {
  let summary = "Sparse = dense x dense at the blocks of the result's layout";
  let semantics = [{
    result = alpha * op(a) @ op(b) at the stored blocks, with op the transpose of the last two
    dimensions where the flag says so. The layout of the result describes the result as it is
    stored: with `transpose_out` that is the transpose of the product.
  }];
  let constraints = !listconcat([C4], BlockSparse_ProductConstraints, [C12, C17, C62]);
  let postconditions = [
    "a and b are broadcast to the leading dimensions of the result.",
    "Every stored element is written. The padding of edge blocks is written as 0.",
    "With `alpha == 0`, a and b are not read. Without a stored block nothing is read.",
    "With a `dynamic_alpha` of 0, the product is 0, whatever a and b hold.",
  ];
  let example = [{
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
  let arguments = !con((ins
    Arg<BlockSparse_Dense<"a">, "left factor [..., M, K]">:$a,
    Arg<BlockSparse_Dense<"b">, "right factor [..., K, N]">:$b,
    Arg<Optional<BlockSparse_Sparse<"pattern">>,
        "tensor whose indices a dynamic result takes; its values are not read">:$pattern),
    BlockSparse_DynamicAlphaOperand, BlockSparse_TransposeArgs, BlockSparse_TransposeOutArg, BlockSparse_AlphaArg,
    BlockSparse_PrecisionArg, BlockSparse_ScheduleArg);
  let results = (outs Res<BlockSparse_Sparse<"result">, "[..., M, N], or [..., N, M] with `transpose_out`">:$result);
  let assemblyFormat = !strconcat("$a `,` $b (`pattern` `(` $pattern^ `)`)? ", BlockSparse_AlphaFormat,
                                  " attr-dict `:` functional-type(operands, results)");
  let builders = [
    // The result has the shape and element type of the product and the encoding `layout`.
    OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b, "LayoutAttrInterface":$layout,
                   CArg<"bool", "false">:$transpose_a, CArg<"bool", "false">:$transpose_b,
                   CArg<"bool", "false">:$transpose_out, CArg<"double", "1.0">:$alpha)>,
  ];
  let useCustomPropertiesEncoding = 1;
  let hasCanonicalizer = 1;
}

// A product whose result is dense and passes an epilogue. The shape of the result follows from the
// operands; its element type may be wider than theirs.
class BlockSparse_DenseResultOp<string mnemonic>
    : BlockSparse_TensorOp<mnemonic, [DeclareOpInterfaceMethods<InferTypeOpInterface>,
                                      AttrSizedOperandSegments]> {
  let results = (outs Res<BlockSparse_Dense<"result">, "product after the epilogue">:$result);
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual);
  }];
}

// A product of two factors `a` and `b` with the plain epilogue.
class BlockSparse_PlainProductOp<string mnemonic> : BlockSparse_DenseResultOp<mnemonic> {
  let builders = [
    // Builds a product without an epilogue. The result has the element type of the factors, or i32
    // for i8 factors.
    OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b,
                   CArg<"bool", "false">:$transpose_a, CArg<"bool", "false">:$transpose_b)>,
  ];
  let assemblyFormat = !strconcat("$a `,` $b ", BlockSparse_AlphaFormat, [{
    (`bias` `(` $bias^ `)`)? (`residual` `(` $residual^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }]);
}

// A product with one sparse factor.
class BlockSparse_SparseFactorOp<string mnemonic> : BlockSparse_PlainProductOp<mnemonic> {
  let constraints = !listconcat([C4], BlockSparse_ProductConstraints, BlockSparse_EpilogueConstraints);
  let postconditions = [
    "Every element of the result is written; a row without a block is activation(bias) + residual.",
    "Duplicate blocks of a dynamic pattern add up.",
    "With `alpha == 0`, K == 0 or no stored block, a and b are not read.",
    "With a `dynamic_alpha` of 0, the product is 0, whatever a and b hold.",
  ];
}

def BlockSparse_DSDOp : BlockSparse_SparseFactorOp<"dsd"> {
  let summary = "Dense = sparse x dense";
  let semantics = [{
    result = activation(alpha * op(a) @ op(b) + bias) + residual, stored transposed with
    `transpose_out`. The layout describes `a` as it is stored, before `transpose_a`.

    An element 0 of a stored block is a factor like any other: its product with NaN or infinity is
    NaN. With `skip_zeros` it adds nothing, whatever b holds.
  }];
  let example = [{
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
  let arguments = !con((ins
    Arg<BlockSparse_Sparse<"a">, "left factor [..., M, K]">:$a,
    Arg<BlockSparse_Dense<"b">, "right factor [..., K, N]">:$b),
    BlockSparse_EpilogueOperands, BlockSparse_TransposeArgs, BlockSparse_TransposeOutArg,
    BlockSparse_SkipZerosArg, BlockSparse_EpilogueAttrs);
}

def BlockSparse_DDSOp : BlockSparse_SparseFactorOp<"dds"> {
  let summary = "Dense = dense x sparse";
  let semantics = [{
    result = activation(alpha * op(a) @ op(b) + bias) + residual, stored transposed with
    `transpose_out`. The layout describes `b` as it is stored, before `transpose_b`.
  }];
  let example = [{
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
  let arguments = !con((ins
    Arg<BlockSparse_Dense<"a">, "left factor [..., M, K]">:$a,
    Arg<BlockSparse_Sparse<"b">, "right factor [..., K, N]">:$b),
    BlockSparse_EpilogueOperands, BlockSparse_TransposeArgs, BlockSparse_TransposeOutArg,
    BlockSparse_EpilogueAttrs);
}

def BlockSparse_BsrAddmmOp : BlockSparse_DenseResultOp<"bsr_addmm"> {
  let summary = "beta * input + left_alpha[:, None] * (alpha * (sparse @ dense)) * right_alpha[None, :]";
  let semantics = [{
    result = activation(left_alpha * (alpha * sparse @ dense) * right_alpha + beta * input +
    bias) + residual, with left_alpha a factor of each row and right_alpha a factor of each column.
  }];
  let constraints = !listconcat([C4], BlockSparse_ProductConstraints, BlockSparse_EpilogueConstraints,
                                [C15, C16]);
  let postconditions = [
    "Every element of the result is written. Duplicate blocks of a dynamic pattern add up.",
    "With `beta == 0`, `input` is never read: a NaN there has no effect.",
    "A term whose factor is an operand of 0 is 0, whatever the term holds.",
    "With `alpha == 0`, K == 0 or no stored block, `input` is all that is read besides bias and residual.",
  ];
  let example = [{
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
  let arguments = !con((ins
    Arg<BlockSparse_Sparse<"sparse">, "left factor [..., M, K]">:$sparse,
    Arg<BlockSparse_Dense<"dense">, "right factor [..., K, N]">:$dense,
    Arg<Optional<BlockSparse_Dense<"input">>, "tensor that is added with the factor `beta`">:$input,
    Arg<Optional<BlockSparse_Dense<"left_alpha">>, "factor of each row of the product, [M]">:$left_alpha,
    Arg<Optional<BlockSparse_Dense<"right_alpha">>, "factor of each column of the product, [N]">:$right_alpha),
    BlockSparse_EpilogueOperands, BlockSparse_DynamicBetaOperand, BlockSparse_AlphaArg, (ins
    Arg<DefaultValuedAttr<F64Attr, "1.0">, "factor of `input`">:$beta),
    BlockSparse_ActivationArg, BlockSparse_PrecisionArg, BlockSparse_ScheduleArg);
  let assemblyFormat = !strconcat("$sparse `,` $dense (`input` `(` $input^ `)`)?",
    BlockSparse_AlphaFormat, BlockSparse_BetaFormat, [{
    (`left_alpha` `(` $left_alpha^ `)`)? (`right_alpha` `(` $right_alpha^ `)`)?
    (`bias` `(` $bias^ `)`)? (`residual` `(` $residual^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }]);
}

def BlockSparse_SampledAddmmOp : BlockSparse_TensorOp<"sampled_addmm",
    [AllTypesMatch<["sparse", "result"]>, AttrSizedOperandSegments]> {
  let summary = "beta * sparse + alpha * (a @ b) at the blocks of the sparse operand";
  let semantics = [{
    result = beta * sparse + alpha * op(a) @ op(b) at the stored blocks of `sparse`.
  }];
  let constraints = !listconcat([C4], BlockSparse_ProductConstraints, [C17, C62]);
  let atRunTime = ["No row of a dynamic pattern holds a column twice."];
  let postconditions = [
    "a and b are broadcast to the leading dimensions of the result.",
    "The result has the pattern of `sparse`.",
    "With `beta == 0`, the values of `sparse` are never read; its indices are.",
    "With `alpha == 0`, a and b are not read.",
    "A term whose factor is an operand of 0 is 0, whatever the term holds.",
  ];
  let example = [{
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
  let arguments = !con((ins
    Arg<BlockSparse_Sparse<"sparse">, "tensor that is added and whose blocks are computed, [..., M, N]">:$sparse,
    Arg<BlockSparse_Dense<"a">, "left factor [..., M, K]">:$a,
    Arg<BlockSparse_Dense<"b">, "right factor [..., K, N]">:$b),
    BlockSparse_DynamicAlphaOperand, BlockSparse_DynamicBetaOperand, BlockSparse_TransposeArgs, BlockSparse_AlphaArg, (ins
    Arg<DefaultValuedAttr<F64Attr, "1.0">, "factor of `sparse`">:$beta),
    BlockSparse_PrecisionArg, BlockSparse_ScheduleArg);
  let results = (outs Res<BlockSparse_Sparse<"result">, "the sum, of the type of `sparse`">:$result);
  let assemblyFormat = !strconcat("$sparse `,` $a `,` $b ", BlockSparse_AlphaFormat,
      BlockSparse_BetaFormat, "attr-dict `:` functional-type(operands, results)");
  let useCustomPropertiesEncoding = 1;
  let builders = [
    // Builds the operation without transposes. The result has the type of `sparse`.
    OpBuilder<(ins "::mlir::Value":$sparse, "::mlir::Value":$a, "::mlir::Value":$b,
                   CArg<"double", "1.0">:$alpha, CArg<"double", "1.0">:$beta)>,
  ];
  let hasFolder = 1;
}

// The formats of scatter_mm and how it and its planned form name them.
defvar BlockSparse_ScatterAttrs = !con((ins
  Arg<DefaultValuedAttr<BlockSparse_ScatterFormatAttr, "::mlir::blocksparse::ScatterFormat::ScatterMM">,
      "what the index tensors hold">:$format,
  Arg<DefaultValuedAttr<I64Attr, "1">, "number of tiles across the columns">:$split_n),
  BlockSparse_PrecisionArg, BlockSparse_ScheduleArg);

def BlockSparse_ScatterMMOp : BlockSparse_TensorOp<"scatter_mm",
    [AllTypesMatch<["accumulators", "result"]>]> {
  let summary = "accumulators[r] += sum of blocks[p] @ others[q] over lists of (p, q)";
  let semantics = [{
    `format` says what `indices` hold:
    - `scatter_mm`: c_offsets [R + 1], pq [n, 2]; blocks [P, Ms, Ks], others [Q, Ks, Ns],
      accumulators [R, Ms, Ns];
    - `bsr_strided_mm`: c_indices [R + 1], r_offsets [R], p_offsets [n], q_offsets [n];
      others [..., K, N] and accumulators [..., M, N] are addressed by element offsets
      (offset / N, offset % N), tiles are Ms x Ns with Ns = N / split_n;
    - `bsr_strided_mm_compressed`: c_indices [M / Ms + 1], r_offsets [R], q_offsets; the
      list of tile (m, n) is `q_offsets[n * c1 + (split_n - n) * c0 + i]` for
      i = 0 .. c1 - c0 - 1 with c0, c1 = c_indices[m], c_indices[m + 1] and p = c0 + i.
  }];
  let constraints = [C5, C9, C10, C11, C18, C19, C20];
  let atRunTime = [
    "Indices stay inside the tensors that they point into.",
    "Tiles at r_offsets share no element of the accumulators.",
  ];
  let postconditions = [
    "The result is the accumulators with the products added; the operand itself is unchanged.",
    "A list without an entry leaves its accumulator as it is.",
  ];
  let example = [{
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
  let arguments = !con((ins
    Arg<BlockSparse_DenseTiles<"blocks">, "left factors [P, Ms, Ks]">:$blocks,
    Arg<BlockSparse_Dense<"others">, "right factors, tiles or matrices by `format`">:$others,
    Arg<BlockSparse_Dense<"accumulators">, "tensor to which the products are added">:$accumulators,
    Arg<Variadic<BlockSparse_Index<"indices">>, "index tensors of `format`">:$indices),
    BlockSparse_ScatterAttrs);
  let results = (outs Res<BlockSparse_Dense<"result">, "the sums, of the type of `accumulators`">:$result);
  let assemblyFormat = [{
    $blocks `,` $others `into` $accumulators `indices` `(` $indices `)`
    attr-dict `:` functional-type(operands, results)
  }];
}

// The dimension order of a dense matmul.
defvar BlockSparse_FormArg = (ins
  Arg<DefaultValuedAttr<BlockSparse_MatmulFormAttr, "::mlir::blocksparse::MatmulForm::Linear">,
      "order of the dimensions">:$form);

def BlockSparse_MatmulOp : BlockSparse_PlainProductOp<"matmul"> {
  let summary = "Dense = dense x dense";
  let semantics = [{
    result = activation(alpha * op(a) @ op(b) + bias) + residual. `form` names the order of the
    dimensions: `linear` is [..., M, K] x [..., K, N]; `score` is Q [B, M, H, D] x K [B, N, H, D]
    -> [B, H, M, N]; `context` is P [B, H, M, N] x V [B, N, H, D] -> [B, M, H, D].
  }];
  let constraints = !listconcat(BlockSparse_ProductConstraints, [C36], BlockSparse_EpilogueConstraints);
  let postconditions = [
    "With `alpha == 0` or K == 0, a and b are not read.",
    "With a `dynamic_alpha` of 0, the product is 0, whatever a and b hold.",
  ];
  let example = [{
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
  let arguments = !con((ins
    Arg<BlockSparse_Dense<"a">, "left factor">:$a, Arg<BlockSparse_Dense<"b">, "right factor">:$b),
    BlockSparse_EpilogueOperands, BlockSparse_FormArg, BlockSparse_TransposeArgs,
    BlockSparse_EpilogueAttrs);
}

#endif // BLOCKSPARSE_IR_MATMUL_OPS_TD
