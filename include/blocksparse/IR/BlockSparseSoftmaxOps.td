// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Row softmax over stored blocks, its gradient, and attention built on it.

#ifndef BLOCKSPARSE_IR_SOFTMAX_OPS_TD
#define BLOCKSPARSE_IR_SOFTMAX_OPS_TD

include "blocksparse/IR/BlockSparseOpBase.td"

// The bias and the masks of a softmax over scores [B, H, M, N].
defvar BlockSparse_SoftmaxOperands = (ins
  Arg<Optional<BlockSparse_Dense<"rpe">>, "bias that is added to the scores, broadcast to [B, H, M, N]">:$rpe,
  Arg<Optional<BlockSparse_Mask<"key_padding_mask">>, "mask of columns, [N], [1, N] or [B, N]">:$key_padding_mask,
  Arg<Optional<BlockSparse_Mask<"attention_mask">>, "mask of elements, broadcast to [B, H, M, N]">:$attention_mask);

// The factors of attention and the layout of its scores.
defvar BlockSparse_AttentionFactors = (ins
  Arg<BlockSparse_Dense<"q">, "queries [B, H, M, D]">:$q, Arg<BlockSparse_Dense<"k">, "keys [B, H, N, D]">:$k,
  Arg<BlockSparse_Dense<"v">, "values [B, H, N, Dv]">:$v);
defvar BlockSparse_AttentionAttrs = !con((ins
  Arg<BlockSparse_LayoutAttrInterface, "static layout of the scores">:$layout),
  BlockSparse_SoftmaxAttrs, BlockSparse_ScheduleArg);

defvar BlockSparse_AttentionConstraints = [C3, C4, C5, C6, C7, C8, C9, C10, C21, C22, C23, C24, C25,
                                           C26, C28];

def BlockSparse_SoftmaxOp : BlockSparse_TensorOp<"softmax", [AttrSizedOperandSegments]> {
  let summary = "Row softmax over the stored blocks";
  let semantics = [{
    y = softmax over the stored elements of each row of scale * x + rpe, after the masks.

    A mask of mode `add` is added to the scores, so that -inf forbids an element. A mask of mode
    `mul` forbids an element where it is 0 and keeps it unchanged elsewhere; it is never multiplied.
    A mask of i1 is of mode `mul`: true keeps, false forbids. It is passed as one byte for each
    element, of which any but 0 is true.
    `causal` forbids the columns beyond the row. A forbidden element has y = 0, whatever x and rpe
    hold there: a mask takes precedence over a bias that is not finite. An allowed NaN or +inf makes
    the allowed elements and lse of its row NaN, and nothing else.

    With `known_lse`, y = exp(score - known_lse) at allowed elements: the part of a softmax whose
    rows have further columns elsewhere. The result lse is then known_lse itself.
  }];
  let constraints = [C4, C21, C22, C23, C24, C25, C26, C27];
  let atRunTime = ["No row of a dynamic pattern holds a column twice."];
  let postconditions = [
    "A row whose blocks hold forbidden elements alone has y = 0 and lse = -inf.",
    "A row without a block has lse = -inf.",
    "A row of known_lse = -inf has y = 0 at every element of a finite score.",
    "The padding of edge blocks is written as 0, and x is unchanged.",
  ];
  let example = [{
    ```mlir
    #layout = #blocksparse.layout<16x16, grid 64x64, causal>
    func.func @softmax(%x: tensor<2x4x1024x1024xf32, #layout>, %rpe: tensor<4x1024x1024xf32>,
                       %pad: tensor<2x1024xf32>)
        -> (tensor<2x4x1024x1024xf32, #layout>, tensor<2x4x1024xf32>) {
      %y, %lse = blocksparse.softmax %x rpe(%rpe) key_padding_mask(%pad)
          {causal, key_padding_mask_mode = #blocksparse.mask_mode<mul>, scale = 0.125}
          : (tensor<2x4x1024x1024xf32, #layout>, tensor<4x1024x1024xf32>, tensor<2x1024xf32>)
          -> (tensor<2x4x1024x1024xf32, #layout>, tensor<2x4x1024xf32>)
      return %y, %lse : tensor<2x4x1024x1024xf32, #layout>, tensor<2x4x1024xf32>
    }
    ```
  }];
  let arguments = !con((ins Arg<BlockSparse_Sparse<"x">, "scores [B, H, M, N]">:$x),
    BlockSparse_SoftmaxOperands, (ins
    Arg<Optional<BlockSparse_Dense<"known_lse">>,
        "log-sum-exp of each row that normalises it, [B, H, M], in the accumulation type">:$known_lse),
    BlockSparse_SoftmaxAttrs, BlockSparse_ScheduleArg);
  let results = (outs Res<BlockSparse_Sparse<"y">, "softmax of the scores">:$y,
    Res<Optional<BlockSparse_Dense<"lse">>, "log-sum-exp of each row, [B, H, M], in the accumulation type">:$lse);
  let assemblyFormat = [{
    $x (`rpe` `(` $rpe^ `)`)? (`key_padding_mask` `(` $key_padding_mask^ `)`)?
    (`attention_mask` `(` $attention_mask^ `)`)? (`known_lse` `(` $known_lse^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
  let builders = [
    // Builds a softmax without a bias or masks. The result y has the type of x.
    OpBuilder<(ins "::mlir::Value":$x, CArg<"double", "1.0">:$scale,
                   CArg<"bool", "false">:$causal, CArg<"bool", "false">:$withLse)>,
  ];
}

def BlockSparse_SoftmaxGradOp : BlockSparse_TensorOp<"softmax_grad", [AttrSizedOperandSegments]> {
  let summary = "Gradient of softmax with respect to x and rpe";
  let semantics = [{
    With s = y * (dy - sum over the row of y * dy), dx = scale * s. The optional second result drpe
    is s, without the factor `scale`, summed over the dimensions in which the type of drpe has size
    1; it is 0 outside the stored blocks.

    With `out` and `dout`, the sum over the row of y * dy is replaced by the sum of out * dout over
    the row of these. For the softmax and the result of attention both are equal, but the second is
    also right where y is the part of a softmax whose rows have further columns elsewhere.
  }];
  let constraints = [C4, C8, C21, C22, C27, C47];
  let atRunTime = ["y is the result of a softmax."];
  let postconditions = [
    "Where y is 0, as at forbidden elements, the gradient is 0 and dy is not used.",
    "drpe is written whole.",
  ];
  let example = [{
    ```mlir
    #layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
    func.func @softmax_grad(%y: tensor<4x32x32xf32, #layout>, %dy: tensor<4x32x32xf32, #layout>)
        -> (tensor<4x32x32xf32, #layout>, tensor<1x32x32xf32>) {
      %dx, %drpe = blocksparse.softmax_grad %y, %dy {scale = 0.125}
          : (tensor<4x32x32xf32, #layout>, tensor<4x32x32xf32, #layout>)
          -> (tensor<4x32x32xf32, #layout>, tensor<1x32x32xf32>)
      return %dx, %drpe : tensor<4x32x32xf32, #layout>, tensor<1x32x32xf32>
    }
    ```
  }];
  let arguments = !con((ins Arg<BlockSparse_Sparse<"y">, "result of softmax">:$y,
    Arg<BlockSparse_Sparse<"dy">, "gradient of y">:$dy,
    Arg<Optional<BlockSparse_Dense<"out">>, "result of attention, [B, H, M, Dv]">:$out,
    Arg<Optional<BlockSparse_Dense<"dout">>, "gradient of out, [B, H, M, Dv]">:$dout,
    Arg<DefaultValuedAttr<F64Attr, "1.0">, "factor of the scores">:$scale),
    BlockSparse_ScheduleArg);
  let results = (outs Res<BlockSparse_Sparse<"dx">, "gradient of x">:$dx,
    Res<Optional<BlockSparse_Dense<"drpe">>, "gradient of rpe">:$drpe);
  let assemblyFormat = [{
    $y `,` $dy (`attention` `(` $out^ `,` $dout `)`)? attr-dict `:` functional-type(operands, results)
  }];
}

def BlockSparse_AttentionOp : BlockSparse_TensorOp<"attention", [AttrSizedOperandSegments]> {
  let summary = "softmax(scale * q @ k^T + rpe, masked) @ v over the blocks of a layout";
  let semantics = [{
    out = softmax(scale * q @ k^T + rpe, masked) @ v, with scores at the stored blocks of `layout`.
    Masks and bias act as in blocksparse.softmax.

    What is forbidden is not used: NaN or infinity in row j of k or v reaches row i of out and lse
    only where element (i, j) of the scores is stored and allowed, and NaN in row i of q reaches row
    i alone. A weight that is allowed but so small that it is stored as 0 does not use its row of v
    either, in attention with a mask.
  }];
  let constraints = BlockSparse_AttentionConstraints;
  let postconditions = ["A row without a block, or with forbidden elements alone, has out = 0 and lse = -inf."];
  let example = [{
    ```mlir
    #pattern = #blocksparse.layout<64x64, grid 12x16x16, bigbird(num_random_blocks = 1)>
    func.func @attention(%q: tensor<2x12x1024x64xf16>, %k: tensor<2x12x1024x64xf16>,
                         %v: tensor<2x12x1024x64xf16>)
        -> (tensor<2x12x1024x64xf16>, tensor<2x12x1024xf32>) {
      %out, %lse = blocksparse.attention %q, %k, %v layout(#pattern) {causal, scale = 0.125}
          : (tensor<2x12x1024x64xf16>, tensor<2x12x1024x64xf16>, tensor<2x12x1024x64xf16>)
          -> (tensor<2x12x1024x64xf16>, tensor<2x12x1024xf32>)
      return %out, %lse : tensor<2x12x1024x64xf16>, tensor<2x12x1024xf32>
    }
    ```
  }];
  let arguments = !con(BlockSparse_AttentionFactors, BlockSparse_SoftmaxOperands,
                       BlockSparse_AttentionAttrs);
  let results = (outs Res<BlockSparse_Dense<"out">, "[B, H, M, Dv]">:$out,
    Res<BlockSparse_Dense<"lse">, "log-sum-exp of each row, [B, H, M], in the accumulation type">:$lse);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`rpe` `(` $rpe^ `)`)? (`key_padding_mask` `(` $key_padding_mask^ `)`)?
    (`attention_mask` `(` $attention_mask^ `)`)? `layout` `(` $layout `)`
    attr-dict `:` functional-type(operands, results)
  }];
  let builders = [
    // Builds attention without a bias or masks. The result out has the element type of q.
    OpBuilder<(ins "::mlir::Value":$q, "::mlir::Value":$k, "::mlir::Value":$v,
                   "LayoutAttrInterface":$layout, CArg<"double", "1.0">:$scale,
                   CArg<"bool", "false">:$causal)>,
  ];
}

def BlockSparse_AttentionGradOp : BlockSparse_TensorOp<"attention_grad", [AttrSizedOperandSegments]> {
  let summary = "Gradients of attention with respect to q, k, v and rpe";
  let semantics = [{
    Recomputes the softmax p = exp(score - lse) from lse, and the sum over a row of p * dp as that of
    out * dout. Operands, masks and layout are those of the forward operation. The gradient of a
    broadcast operand is summed over the dimensions in which it was broadcast.

    out and lse may be those of an attention over more keys, of which k, v and the layout hold a
    part: the gradients are then those of the part, and dq is its share of the sum.

    What is forbidden is not used, as in the forward operation: NaN or infinity in row i of q, out
    or dout, or in row j of k or v, adds nothing to a gradient where element (i, j) is forbidden.
  }];
  let constraints = !listconcat(BlockSparse_AttentionConstraints, [C29]);
  let atRunTime = ["out and lse are results of blocksparse.attention with the same q and all keys."];
  let postconditions = ["A row without a block, or with forbidden elements alone, adds nothing to a gradient."];
  let example = [{
    ```mlir
    #pattern = #blocksparse.layout<32x32, grid 4x4, causal>
    func.func @attention_grad(%q: tensor<4x128x64xf32>, %k: tensor<4x128x64xf32>,
                              %v: tensor<4x128x64xf32>, %out: tensor<4x128x64xf32>,
                              %lse: tensor<4x128xf32>, %dout: tensor<4x128x64xf32>)
        -> (tensor<4x128x64xf32>, tensor<4x128x64xf32>, tensor<4x128x64xf32>) {
      %dq, %dk, %dv = blocksparse.attention_grad %q, %k, %v, %out, %lse, %dout
          layout(#pattern) {causal, scale = 0.125}
          : (tensor<4x128x64xf32>, tensor<4x128x64xf32>, tensor<4x128x64xf32>,
             tensor<4x128x64xf32>, tensor<4x128xf32>, tensor<4x128x64xf32>)
          -> (tensor<4x128x64xf32>, tensor<4x128x64xf32>, tensor<4x128x64xf32>)
      return %dq, %dk, %dv : tensor<4x128x64xf32>, tensor<4x128x64xf32>, tensor<4x128x64xf32>
    }
    ```
  }];
  let arguments = !con(BlockSparse_AttentionFactors, (ins
    Arg<BlockSparse_Dense<"out">, "result of attention, [B, H, M, Dv]">:$out,
    Arg<BlockSparse_Dense<"lse">, "log-sum-exp of attention, [B, H, M]">:$lse,
    Arg<BlockSparse_Dense<"dout">, "gradient of out">:$dout),
    BlockSparse_SoftmaxOperands, BlockSparse_AttentionAttrs);
  let results = (outs Res<BlockSparse_Dense<"dq">, "gradient of q">:$dq,
    Res<BlockSparse_Dense<"dk">, "gradient of k">:$dk, Res<BlockSparse_Dense<"dv">, "gradient of v">:$dv,
    Res<Optional<BlockSparse_Dense<"drpe">>, "gradient of rpe">:$drpe);
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $out `,` $lse `,` $dout (`rpe` `(` $rpe^ `)`)?
    (`key_padding_mask` `(` $key_padding_mask^ `)`)?
    (`attention_mask` `(` $attention_mask^ `)`)? `layout` `(` $layout `)`
    attr-dict `:` functional-type(operands, results)
  }];
}

#endif // BLOCKSPARSE_IR_SOFTMAX_OPS_TD
