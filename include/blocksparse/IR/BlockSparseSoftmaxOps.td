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
}

def BlockSparse_SoftmaxGradOp : BlockSparse_TensorOp<"softmax_grad"> {
  let summary = "Gradient of softmax with respect to x and rpe";
  let description = [{
    With s = y * (dy - sum over the row of y * dy): dx = scale * s. The optional second
    result drpe is s summed over the dimensions in which its type has size 1 (no scale
    factor), 0 outside the stored blocks.
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
    log-sum-exp of each row, [B, H, M].
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
}

def BlockSparse_AttentionGradOp : BlockSparse_TensorOp<"attention_grad", [AttrSizedOperandSegments]> {
  let summary = "Gradients of attention with respect to q, k, v and rpe";
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
