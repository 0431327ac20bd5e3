// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Row softmax over stored blocks, its gradient, and attention built on it.

#ifndef BLOCKSPARSE_IR_SOFTMAX_OPS_TD
#define BLOCKSPARSE_IR_SOFTMAX_OPS_TD

include "blocksparse/IR/BlockSparseOpBase.td"

def BlockSparse_SoftmaxOp : BlockSparse_TensorOp<"softmax", [AttrSizedOperandSegments]> {
  let summary = "Row softmax over the stored blocks";
  let description = [{
    y = softmax over each row's stored elements of scale * x + rpe, after the masks. The
    optional second result is the log-sum-exp of each row, [B, H, M] in the accumulation
    type. Shapes: rpe broadcasts to [B, H, M, N]; key_padding_mask to [B, N] (rank 1 or 2);
    attention_mask to [B, H, M, N].

    A mask of mode `add` is added to the scores (-inf forbids); one of mode `mul` forbids
    where it is 0 and keeps anything else unchanged, it is never multiplied. `causal`
    forbids columns beyond the row. A forbidden element has y = 0, whatever x and rpe hold
    there: a mask beats a non-finite bias.

    Preconditions: C4, C21 to C25; no row of a dynamic pattern holds a column twice.
    Postconditions: C26, C27; a row with blocks but nothing allowed has y = 0 and lse =
    -inf, a row without a block lse = -inf. Padding of edge blocks is written as 0; x is
    unchanged.

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
  let arguments = (ins
    BlockSparse_Sparse:$x, Optional<BlockSparse_Dense>:$rpe,
    Optional<BlockSparse_Dense>:$key_padding_mask, Optional<BlockSparse_Dense>:$attention_mask,
    DefaultValuedAttr<F64Attr, "1.0">:$scale, UnitAttr:$causal,
    DefaultValuedAttr<BlockSparse_MaskModeAttr, "::mlir::blocksparse::MaskMode::Add">:$key_padding_mask_mode,
    DefaultValuedAttr<BlockSparse_MaskModeAttr, "::mlir::blocksparse::MaskMode::Add">:$attention_mask_mode,
    OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let results = (outs BlockSparse_Sparse:$y, Optional<BlockSparse_Dense>:$lse);
  let assemblyFormat = [{
    $x (`rpe` `(` $rpe^ `)`)? (`key_padding_mask` `(` $key_padding_mask^ `)`)?
    (`attention_mask` `(` $attention_mask^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let builders = [
    // Without a bias or masks; y has the type of x.
    OpBuilder<(ins "::mlir::Value":$x, CArg<"double", "1.0">:$scale,
                   CArg<"bool", "false">:$causal, CArg<"bool", "false">:$withLse)>,
  ];
}

def BlockSparse_SoftmaxGradOp : BlockSparse_TensorOp<"softmax_grad"> {
  let summary = "Gradient of softmax with respect to x and rpe";
  let description = [{
    With s = y * (dy - sum over the row of y * dy): dx = scale * s. The optional second
    result drpe is s summed over the dimensions in which its type has size 1 (no scale
    factor), 0 outside the stored blocks.

    Preconditions: C4, C21, C22; y is a softmax result. Postconditions: C27; where y is 0,
    as for every forbidden element and every row with nothing allowed, the gradient is 0
    and dy is not used. drpe is written whole.

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
  let arguments = (ins
    BlockSparse_Sparse:$y, BlockSparse_Sparse:$dy,
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let results = (outs BlockSparse_Sparse:$dx, Optional<BlockSparse_Dense>:$drpe);
  let assemblyFormat = [{
    $y `,` $dy attr-dict `:` functional-type(operands, results)
  }];
}

def BlockSparse_AttentionOp : BlockSparse_TensorOp<"attention", [AttrSizedOperandSegments]> {
  let summary = "softmax(scale * q @ k^T + rpe, masked) @ v over the blocks of a layout";
  let description = [{
    q [B, H, M, D], k [B, H, N, D], v [B, H, N, Dv]. Results: out [B, H, M, Dv] and the
    log-sum-exp of each row, [B, H, M]. Masks and bias are those of softmax.

    Preconditions: C3 to C7, C9, C21 to C25, C28. Postconditions: C8, C10, C26; a row
    without a block or with nothing allowed has out = 0 and lse = -inf.

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
  let arguments = (ins
    BlockSparse_Dense:$q, BlockSparse_Dense:$k, BlockSparse_Dense:$v,
    Optional<BlockSparse_Dense>:$rpe, Optional<BlockSparse_Dense>:$key_padding_mask,
    Optional<BlockSparse_Dense>:$attention_mask,
    BlockSparse_LayoutAttrInterface:$layout,
    DefaultValuedAttr<F64Attr, "1.0">:$scale, UnitAttr:$causal,
    DefaultValuedAttr<BlockSparse_MaskModeAttr, "::mlir::blocksparse::MaskMode::Add">:$key_padding_mask_mode,
    DefaultValuedAttr<BlockSparse_MaskModeAttr, "::mlir::blocksparse::MaskMode::Add">:$attention_mask_mode,
    OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let results = (outs BlockSparse_Dense:$out, BlockSparse_Dense:$lse);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`rpe` `(` $rpe^ `)`)? (`key_padding_mask` `(` $key_padding_mask^ `)`)?
    (`attention_mask` `(` $attention_mask^ `)`)? `layout` `(` $layout `)`
    attr-dict `:` functional-type(operands, results)
  }];
  let builders = [
    // Without a bias or masks; out has the element type of q.
    OpBuilder<(ins "::mlir::Value":$q, "::mlir::Value":$k, "::mlir::Value":$v,
                   "LayoutAttrInterface":$layout, CArg<"double", "1.0">:$scale,
                   CArg<"bool", "false">:$causal)>,
  ];
}

def BlockSparse_AttentionGradOp : BlockSparse_TensorOp<"attention_grad", [AttrSizedOperandSegments]> {
  let summary = "Gradients of attention with respect to q, k, v and rpe";
  let description = [{
    Recomputes the scores' softmax from lse. Operands, masks and layout are those of the
    forward op, out and lse its results, dout the gradient of out. Gradients of broadcast
    operands are summed over what they were broadcast to.

    Preconditions: those of attention, C9 of dout too, C26. Postconditions: C10, C29; rows
    with nothing allowed give no gradient. drpe is there only where rpe is.

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
  let arguments = (ins
    BlockSparse_Dense:$q, BlockSparse_Dense:$k, BlockSparse_Dense:$v,
    BlockSparse_Dense:$out, BlockSparse_Dense:$lse, BlockSparse_Dense:$dout,
    Optional<BlockSparse_Dense>:$rpe, Optional<BlockSparse_Dense>:$key_padding_mask,
    Optional<BlockSparse_Dense>:$attention_mask,
    BlockSparse_LayoutAttrInterface:$layout,
    DefaultValuedAttr<F64Attr, "1.0">:$scale, UnitAttr:$causal,
    DefaultValuedAttr<BlockSparse_MaskModeAttr, "::mlir::blocksparse::MaskMode::Add">:$key_padding_mask_mode,
    DefaultValuedAttr<BlockSparse_MaskModeAttr, "::mlir::blocksparse::MaskMode::Add">:$attention_mask_mode,
    OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let results = (outs BlockSparse_Dense:$dq, BlockSparse_Dense:$dk, BlockSparse_Dense:$dv,
                      Optional<BlockSparse_Dense>:$drpe);
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $out `,` $lse `,` $dout (`rpe` `(` $rpe^ `)`)?
    (`key_padding_mask` `(` $key_padding_mask^ `)`)?
    (`attention_mask` `(` $attention_mask^ `)`)? `layout` `(` $layout `)`
    attr-dict `:` functional-type(operands, results)
  }];
}

#endif // BLOCKSPARSE_IR_SOFTMAX_OPS_TD
