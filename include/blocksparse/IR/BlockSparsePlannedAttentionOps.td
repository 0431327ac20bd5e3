// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Attention in the planned form, with its scores in no operand.

#ifndef BLOCKSPARSE_IR_PLANNED_ATTENTION_OPS_TD
#define BLOCKSPARSE_IR_PLANNED_ATTENTION_OPS_TD

include "blocksparse/IR/BlockSparsePlannedOps.td"

def BlockSparse_PlannedAttentionOp
    : BlockSparse_DestinationsOp<"planned_attention", "getOutMutable", [AttrSizedOperandSegments]> {
  let summary = "Attention over a row LUT (tile = block row, dense block = block of keys)";
  let semantics = [{
    The attention of blocksparse.attention with scores at the blocks that the row LUT names, which are
    not stored. A tile of the row LUT is a block row of queries, a dense block the keys of a block
    column. The value blocks of the entries are not used.
  }];
  let constraints = !listconcat([C7, C8, C9, C10, C21, C22, C23, C24, C25, C26, C34, C37, C46, C49],
                                BlockSparse_PositionConstraints, [C53, C54, C56]);
  let atRunTime = ["Tables hold indices inside q and k, and write each block row once."];
  let postconditions = [
    "A row without a block, or with forbidden elements alone, has out = 0 and lse = -inf, or that of its sink.",
    "Every element of the destinations is written.",
  ];
  let example = [{
    ```mlir
    func.func @planned_attention(%q: tensor<32x8xf16>, %k: tensor<32x8xf16>, %v: tensor<32x8xf16>,
                                 %s: tensor<2x5xi32>, %e: tensor<3x2xi32>, %out: tensor<32x8xf16>,
                                 %lse: tensor<32xf32>) -> (tensor<32x8xf16>, tensor<32xf32>) {
      %0:2 = blocksparse.planned_attention %q, %k, %v segments(%s) entries(%e) outs(%out, %lse)
          {block = array<i64: 16, 16>, lut_heads = 1 : i64, scale = 0.5}
          : (tensor<32x8xf16>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<2x5xi32>,
             tensor<3x2xi32>, tensor<32x8xf16>, tensor<32xf32>)
          -> (tensor<32x8xf16>, tensor<32xf32>)
      return %0#0, %0#1 : tensor<32x8xf16>, tensor<32xf32>
    }
    ```
  }];
  let arguments = !con((ins
    Arg<BlockSparse_FloatMatrices, "queries [.., M, D]">:$q,
    Arg<BlockSparse_FloatMatrices, "keys [.., N, D]">:$k,
    Arg<BlockSparse_FloatMatrices, "values [.., N, Dv]">:$v),
    BlockSparse_RowLutOperands, (ins
    Arg<Variadic<BlockSparse_WorkTable>, "tiles, workers and steps, or none">:$lists,
    Arg<Optional<BlockSparse_FloatMatrices>, "bias that is added to the scores">:$rpe,
    Arg<Optional<BlockSparse_ColumnMask>, "mask of keys">:$key_padding_mask,
    Arg<Optional<BlockSparse_Matrices>, "mask of elements">:$attention_mask,
    Arg<Optional<BlockSparse_Lengths>, "keys that are allowed">:$key_lengths,
    Arg<Optional<BlockSparse_Lengths>, "queries that are allowed">:$query_lengths,
    Arg<Optional<BlockSparse_Segments>, "segment of each query">:$query_segments,
    Arg<Optional<BlockSparse_Segments>, "segment of each key">:$key_segments,
    Arg<Optional<BlockSparse_Vector>, "score of the sink of each head, [H]">:$sink,
    Arg<BlockSparse_FloatMatrices, "destination [.., M, Dv]">:$out,
    Arg<BlockSparse_LogSumExp, "destination of the log-sum-exp of each row, [.., M]">:$lse),
    BlockSparse_BlockArg, BlockSparse_LutHeadsArg, BlockSparse_SoftmaxAttrs, (ins
    Arg<OptionalAttr<F64Attr>, "bound of the scaled scores; absent, there is none">:$soft_cap),
    BlockSparse_ScheduleArg);
  let assemblyFormat = !strconcat("$q `,` $k `,` $v `segments` `(` $segments `)` `entries` `(` $entries `)`",
      "(`lists` `(` $lists^ `)`)?", BlockSparse_MaskFormat, BlockSparse_PositionFormat,
      "(`sink` `(` $sink^ `)`)? `outs` `(` $out `,` $lse `)` attr-dict `:` functional-type(operands, results)");
  let declarations = BlockSparse_MayForbid;
}

def BlockSparse_PlannedAttentionGradOp
    : BlockSparse_DestinationsOp<"planned_attention_grad", "getDqMutable", [AttrSizedOperandSegments]> {
  let summary = "Gradient of attention over the row LUTs of a layout and of its transpose";
  let semantics = [{
    The gradients of blocksparse.attention_grad with respect to q, k and v. A tile of `segments` is a
    block row of queries, a dense block of `entries` the keys of a block column; `column_segments`
    and `column_entries` are the same table with queries and keys exchanged. The value blocks of the
    entries are not used.

    Bias, masks, soft cap and shared heads are those of planned_attention. The tables of a layout of
    several heads have no shared heads.

    The destination `rows` holds what the gradients need of each row: its shift, -log2(e) * lse, or
    -inf where lse is -inf; and its sum, that of out * dout, less dlse.
  }];
  let constraints = !listconcat([C7, C8, C9, C21, C22, C23, C24, C25, C26, C34, C37, C46, C49],
                                BlockSparse_PositionConstraints, [C53, C54, C63]);
  let atRunTime = ["Tables hold indices inside q and k, and write each block row and block column once."];
  let postconditions = [
    "Rows of q, and rows of k and v, that no allowed element belongs to have gradients of 0.",
    "Every element of the destinations is written.",
  ];
  let example = [{
    ```mlir
    func.func @planned_attention_grad(
        %q: tensor<32x8xf16>, %k: tensor<32x8xf16>, %v: tensor<32x8xf16>, %out: tensor<32x8xf16>,
        %lse: tensor<32xf32>, %dout: tensor<32x8xf16>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>,
        %cs: tensor<2x5xi32>, %ce: tensor<3x2xi32>, %dq: tensor<32x8xf16>, %dk: tensor<32x8xf16>,
        %dv: tensor<32x8xf16>, %rows: tensor<2x32xf32>) -> tensor<32x8xf16> {
      %0:4 = blocksparse.planned_attention_grad %q, %k, %v, %out, %lse, %dout
          segments(%s) entries(%e) columns(%cs, %ce) outs(%dq, %dk, %dv, %rows)
          {block = array<i64: 16, 16>, lut_heads = 1 : i64, scale = 0.5}
          : (tensor<32x8xf16>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<32xf32>,
             tensor<32x8xf16>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<2x5xi32>, tensor<3x2xi32>,
             tensor<32x8xf16>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<2x32xf32>)
          -> (tensor<32x8xf16>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<2x32xf32>)
      return %0#0 : tensor<32x8xf16>
    }
    ```
  }];
  let arguments = !con((ins
    Arg<BlockSparse_FloatMatrices, "queries [.., M, D]">:$q,
    Arg<BlockSparse_FloatMatrices, "keys [.., N, D]">:$k,
    Arg<BlockSparse_FloatMatrices, "values [.., N, Dv]">:$v,
    Arg<BlockSparse_FloatMatrices, "result of attention [.., M, Dv]">:$out,
    Arg<BlockSparse_LogSumExp, "log-sum-exp of each row, [.., M]">:$lse,
    Arg<BlockSparse_FloatMatrices, "gradient of out [.., M, Dv]">:$dout),
    BlockSparse_RowLutOperands, (ins
    Arg<BlockSparse_RowSegments, "segments of the row LUT of the transpose">:$column_segments,
    Arg<BlockSparse_RowEntries, "entries of the row LUT of the transpose">:$column_entries,
    Arg<Variadic<BlockSparse_WorkTable>,
        "tiles, workers and steps of keys, then those of queries, or none">:$lists,
    Arg<Optional<BlockSparse_FloatMatrices>, "bias that is added to the scores">:$rpe,
    Arg<Optional<BlockSparse_ColumnMask>, "mask of keys">:$key_padding_mask,
    Arg<Optional<BlockSparse_Matrices>, "mask of elements">:$attention_mask,
    Arg<Optional<BlockSparse_Lengths>, "keys that are allowed">:$key_lengths,
    Arg<Optional<BlockSparse_Lengths>, "queries that are allowed">:$query_lengths,
    Arg<Optional<BlockSparse_Segments>, "segment of each query">:$query_segments,
    Arg<Optional<BlockSparse_Segments>, "segment of each key">:$key_segments,
    Arg<Optional<BlockSparse_LogSumExp>, "gradient of the log-sum-exp of each row">:$dlse,
    Arg<BlockSparse_FloatMatrices, "destination of the gradient of q">:$dq,
    Arg<BlockSparse_FloatMatrices, "destination of the gradient of k">:$dk,
    Arg<BlockSparse_FloatMatrices, "destination of the gradient of v">:$dv,
    Arg<BlockSparse_FloatMatrices,
        "destination of the shifts and sums of the rows, [.., 2, M], in the accumulation type">:$rows),
    BlockSparse_BlockArg, BlockSparse_LutHeadsArg, BlockSparse_SoftmaxAttrs, (ins
    Arg<OptionalAttr<F64Attr>, "bound of the scaled scores; absent, there is none">:$soft_cap),
    BlockSparse_ScheduleArg);
  let assemblyFormat = !strconcat([{
    $q `,` $k `,` $v `,` $out `,` $lse `,` $dout `segments` `(` $segments `)`
    `entries` `(` $entries `)` `columns` `(` $column_segments `,` $column_entries `)`
    (`lists` `(` $lists^ `)`)?
  }], BlockSparse_MaskFormat, BlockSparse_PositionFormat, [{
    (`dlse` `(` $dlse^ `)`)? `outs` `(` $dq `,` $dk `,` $dv `,` $rows `)` attr-dict
    `:` functional-type(operands, results)
  }]);
  let declarations = BlockSparse_MayForbid;
}

#endif // BLOCKSPARSE_IR_PLANNED_ATTENTION_OPS_TD
