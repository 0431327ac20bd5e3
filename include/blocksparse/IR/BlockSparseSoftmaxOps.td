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

// The masks of a softmax that are functions of the position and are given as small vectors.
defvar BlockSparse_PositionOperands = (ins
  Arg<Optional<BlockSparse_Integers<"key_lengths">>,
      "number of columns of each batch that are allowed, [1] or [B]">:$key_lengths,
  Arg<Optional<BlockSparse_Integers<"query_lengths">>,
      "number of rows of each batch that are allowed, [1] or [B]">:$query_lengths,
  Arg<Optional<BlockSparse_Integers<"query_segments">>,
      "segment of each row, [M], [1, M] or [B, M]">:$query_segments,
  Arg<Optional<BlockSparse_Integers<"key_segments">>,
      "segment of each column, [N], [1, N] or [B, N]">:$key_segments);

// The bias and the masks of an operation as text, and those of the position.
defvar BlockSparse_MaskFormat = [{
    (`rpe` `(` $rpe^ `)`)? (`key_padding_mask` `(` $key_padding_mask^ `)`)?
    (`attention_mask` `(` $attention_mask^ `)`)?
}];
defvar BlockSparse_PositionFormat = [{
    (`key_lengths` `(` $key_lengths^ `)`)? (`query_lengths` `(` $query_lengths^ `)`)?
    (`segment_ids` `(` $query_segments^ `,` $key_segments `)`)?
}];

// The factors of attention and the layout of its scores.
defvar BlockSparse_AttentionFactors = (ins
  Arg<BlockSparse_Dense<"q">, "queries [B, H, M, D]">:$q, Arg<BlockSparse_Dense<"k">, "keys [B, H, N, D]">:$k,
  Arg<BlockSparse_Dense<"v">, "values [B, H, N, Dv]">:$v);
defvar BlockSparse_AttentionAttrs = !con((ins
  Arg<BlockSparse_LayoutAttrInterface, "static layout of the scores">:$layout),
  BlockSparse_SoftmaxAttrs, (ins
  Arg<OptionalAttr<F64Attr>, "bound of the scaled scores; absent, there is none">:$soft_cap,
  Arg<OptionalAttr<TypeAttr>,
      "element type of scores where they are stored; absent, the accumulation type">:$score_element),
  BlockSparse_ScheduleArg);

defvar BlockSparse_PositionConstraints = [C50, C51, C52, C58];
defvar BlockSparse_AttentionConstraints = !listconcat(
    [C3, C4, C5, C6, C7, C8, C9, C10, C21, C22, C23, C24, C25, C26, C28],
    BlockSparse_PositionConstraints, [C53, C54, C55, C62]);

// Declares mayForbid(), which an operation with masks has.
defvar BlockSparse_MayForbid = [{
    /// Returns true if a stored element of the scores may be forbidden.
    bool mayForbid() {
      return getCausal() || getWindow() || getKeyPaddingMask() || getAttentionMask() ||
             getKeyLengths() || getQueryLengths() || getQuerySegments();
    }
}];

def BlockSparse_SoftmaxOp : BlockSparse_TensorOp<"softmax", [AttrSizedOperandSegments]> {
  let summary = "Row softmax over the stored blocks";
  let semantics = [{
    y = softmax over the stored elements of each row of scale * x + rpe, after the masks.

    A mask of mode `add` is added to the scores, so that -inf forbids an element. A mask of mode
    `mul` forbids an element where it is 0 and keeps it unchanged elsewhere; it is never multiplied.
    A mask of i1 is of mode `mul`: true keeps, false forbids. It is passed as one byte for each
    element, of which any but 0 is true.
    A forbidden element has y = 0, whatever x and rpe hold there: a mask takes precedence over a
    bias that is not finite. An allowed NaN or +inf makes the allowed elements and lse of its row
    NaN, and nothing else.

    Masks that are functions of the position are not tensors of M x N. The diagonal of row i is
    column d = i + causal_offset; an offset of N - M puts its end in the last row and column.
    `causal` forbids the columns j > d. `window = [left, right]` allows d - left <= j <= d + right,
    where -1 stands for no bound. `key_lengths` forbids the columns from key_lengths[b] on, and
    `query_lengths` the rows from query_lengths[b] on. Segments forbid the elements of which the row
    and the column have different segments.

    With `known_lse`, y = exp(score - known_lse) at allowed elements: the part of a softmax whose
    rows have further columns elsewhere. The result lse is then known_lse itself.
  }];
  let constraints = !listconcat([C4, C21, C22, C23, C24, C25, C26, C27],
                                BlockSparse_PositionConstraints, [C62]);
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
    BlockSparse_PositionOperands, BlockSparse_DynamicScaleOperand, BlockSparse_SoftmaxAttrs,
    BlockSparse_ScheduleArg);
  let results = (outs Res<BlockSparse_Sparse<"y">, "softmax of the scores">:$y,
    Res<Optional<BlockSparse_Dense<"lse">>, "log-sum-exp of each row, [B, H, M], in the accumulation type">:$lse);
  let assemblyFormat = !strconcat("$x ", BlockSparse_ScaleFormat,
      BlockSparse_MaskFormat,
      "(`known_lse` `(` $known_lse^ `)`)?",
      BlockSparse_PositionFormat,
      "attr-dict `:` functional-type(operands, results)");
  let extraClassDeclaration = BlockSparse_MayForbid;
  let useCustomPropertiesEncoding = 1;
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

    With `dlse`, the gradient of the log-sum-exp of each row, s = y * (dy - sum + dlse).
  }];
  let constraints = [C4, C8, C21, C22, C26, C27, C47, C62];
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
    Arg<Optional<BlockSparse_Dense<"dlse">>,
        "gradient of the log-sum-exp, [B, H, M], in the accumulation type">:$dlse),
    BlockSparse_DynamicScaleOperand, (ins
    Arg<DefaultValuedAttr<F64Attr, "1.0">, "factor of the scores">:$scale),
    BlockSparse_ScheduleArg);
  let results = (outs Res<BlockSparse_Sparse<"dx">, "gradient of x">:$dx,
    Res<Optional<BlockSparse_Dense<"drpe">>, "gradient of rpe">:$drpe);
  let assemblyFormat = !strconcat("$y `,` $dy ", BlockSparse_ScaleFormat, [{
    (`attention` `(` $out^ `,` $dout `)`)? (`dlse` `(` $dlse^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }]);
}

def BlockSparse_AttentionOp : BlockSparse_TensorOp<"attention", [AttrSizedOperandSegments]> {
  let summary = "softmax(scale * q @ k^T + rpe, masked) @ v over the blocks of a layout";
  let semantics = [{
    out = softmax(scale * q @ k^T + rpe, masked) @ v, with scores at the stored blocks of `layout`.
    Masks and bias act as in blocksparse.softmax. A layout, masks and bias of several heads have
    those of q.

    Heads of queries may share heads of keys and values: where q has g times the heads of k, head h
    of q meets head h / g of k. The same holds for v.

    With `soft_cap` = c, c * tanh(scale * q @ k^T / c) stands in place of scale * q @ k^T. With
    `sink`, each row has one more allowed element, of the score sink[head] and the value 0: its power
    is a term of the sum of the row and of lse.

    What is forbidden is not used: NaN or infinity in row j of k or v reaches row i of out and lse
    only where element (i, j) of the scores is stored and allowed, and NaN in row i of q reaches row
    i alone. A weight that is allowed but so small that it is stored as 0 does not use its row of v
    either, in attention with a mask.
  }];
  let constraints = !listconcat(BlockSparse_AttentionConstraints, [C56]);
  let postconditions = [
    "A row without a block, or with forbidden elements alone, has out = 0 and lse = -inf, or that of its sink.",
  ];
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
                       BlockSparse_PositionOperands, (ins
    Arg<Optional<BlockSparse_Dense<"sink">>,
        "score of the sink of each head, [H], in the accumulation type">:$sink),
    BlockSparse_DynamicScaleOperand, BlockSparse_AttentionAttrs);
  let results = (outs Res<BlockSparse_Dense<"out">, "[B, H, M, Dv]">:$out,
    Res<BlockSparse_Dense<"lse">, "log-sum-exp of each row, [B, H, M], in the accumulation type">:$lse);
  let assemblyFormat = !strconcat("$q `,` $k `,` $v ", BlockSparse_ScaleFormat,
      BlockSparse_MaskFormat,
      BlockSparse_PositionFormat,
      "(`sink` `(` $sink^ `)`)? `layout` `(` $layout `)` attr-dict `:` functional-type(operands, results)");
  let extraClassDeclaration = BlockSparse_MayForbid;
  let useCustomPropertiesEncoding = 1;
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
    part: the gradients are then those of the part, and dq is its share of the sum. If the forward
    operation has a sink, lse has its term, and the gradients need nothing else of it;
    blocksparse.attention_sink_grad is the gradient of the sink itself.

    With `dlse`, the gradient of lse, the gradients are those of out and of lse together.

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
    BlockSparse_SoftmaxOperands, BlockSparse_PositionOperands, (ins
    Arg<Optional<BlockSparse_Dense<"dlse">>,
        "gradient of lse, [B, H, M], in the accumulation type">:$dlse),
    BlockSparse_DynamicScaleOperand, BlockSparse_AttentionAttrs);
  let results = (outs Res<BlockSparse_Dense<"dq">, "gradient of q">:$dq,
    Res<BlockSparse_Dense<"dk">, "gradient of k">:$dk, Res<BlockSparse_Dense<"dv">, "gradient of v">:$dv,
    Res<Optional<BlockSparse_Dense<"drpe">>, "gradient of rpe">:$drpe);
  let assemblyFormat = !strconcat("$q `,` $k `,` $v `,` $out `,` $lse `,` $dout ",
      BlockSparse_ScaleFormat,
      BlockSparse_MaskFormat,
      BlockSparse_PositionFormat,
      "(`dlse` `(` $dlse^ `)`)? `layout` `(` $layout `)`",
      "attr-dict `:` functional-type(operands, results)");
  let extraClassDeclaration = BlockSparse_MayForbid;
  let useCustomPropertiesEncoding = 1;
}

def BlockSparse_AttentionSinkGradOp : BlockSparse_TensorOp<"attention_sink_grad"> {
  let summary = "Gradient of attention with respect to its sink";
  let semantics = [{
    dsink[h] = - sum over the batches and rows of exp(sink[h] - lse) * (sum of out * dout - dlse).
    Without `dlse` it counts as 0.
  }];
  let constraints = [C5, C8, C21, C26, C56];
  let atRunTime = ["out and lse are results of blocksparse.attention with the same sink."];
  let example = [{
    ```mlir
    func.func @attention_sink_grad(%sink: tensor<4xf32>, %out: tensor<2x4x128x64xf16>,
                                   %lse: tensor<2x4x128xf32>, %dout: tensor<2x4x128x64xf16>)
        -> tensor<4xf32> {
      %dsink = blocksparse.attention_sink_grad %sink, %out, %lse, %dout
          : (tensor<4xf32>, tensor<2x4x128x64xf16>, tensor<2x4x128xf32>, tensor<2x4x128x64xf16>)
          -> tensor<4xf32>
      return %dsink : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins
    Arg<BlockSparse_Dense<"sink">, "score of the sink of each head, [H]">:$sink,
    Arg<BlockSparse_Dense<"out">, "result of attention, [B, H, M, Dv]">:$out,
    Arg<BlockSparse_Dense<"lse">, "log-sum-exp of attention, [B, H, M]">:$lse,
    Arg<BlockSparse_Dense<"dout">, "gradient of out">:$dout,
    Arg<Optional<BlockSparse_Dense<"dlse">>, "gradient of lse">:$dlse);
  let results = (outs Res<BlockSparse_Dense<"dsink">, "gradient of sink">:$dsink);
  let assemblyFormat = [{
    $sink `,` $out `,` $lse `,` $dout (`dlse` `(` $dlse^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
}

def BlockSparse_AttentionMergeOp
    : BlockSparse_TensorOp<"attention_merge", [AttrSizedOperandSegments]> {
  let summary = "Attention over all keys from attentions over parts of them";
  let semantics = [{
    lse = log(sum over the parts of exp(lses)), and out = sum over the parts of exp(lses - lse) *
    parts: the result of an attention whose keys are those of all parts. A part of lse = -inf in a
    row adds nothing to it, whatever it holds there. The parts are added in their order.
  }];
  let constraints = [C5, C8, C21, C26, C57];
  let postconditions = ["A row of which every part has lse = -inf has out = 0 and lse = -inf."];
  let example = [{
    ```mlir
    func.func @attention_merge(%out0: tensor<4x128x64xf16>, %out1: tensor<4x128x64xf16>,
                               %lse0: tensor<4x128xf32>, %lse1: tensor<4x128xf32>)
        -> (tensor<4x128x64xf16>, tensor<4x128xf32>) {
      %out, %lse = blocksparse.attention_merge %out0, %out1 lses(%lse0, %lse1)
          : (tensor<4x128x64xf16>, tensor<4x128x64xf16>, tensor<4x128xf32>, tensor<4x128xf32>)
          -> (tensor<4x128x64xf16>, tensor<4x128xf32>)
      return %out, %lse : tensor<4x128x64xf16>, tensor<4x128xf32>
    }
    ```
  }];
  let arguments = (ins
    Arg<Variadic<BlockSparse_Dense<"parts">>, "results of attention, [B, H, M, Dv] each">:$parts,
    Arg<Variadic<BlockSparse_Dense<"lses">>,
        "log-sum-exp of each part, [B, H, M], in the accumulation type">:$lses);
  let results = (outs Res<BlockSparse_Dense<"out">, "[B, H, M, Dv]">:$out,
    Res<BlockSparse_Dense<"lse">, "log-sum-exp of each row, [B, H, M]">:$lse);
  let assemblyFormat = [{
    $parts `lses` `(` $lses `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // BLOCKSPARSE_IR_SOFTMAX_OPS_TD
