// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The planned form: the operations that the planning passes make and both backends lower. It has no
// sparse tensors. Values are plain tensors [S, bm, bn] or [B, S, bm, bn], the pattern is a set of i32
// look-up tables, and every operation writes into its destinations (destination-passing style), which
// are tensors before bufferization and memrefs after it.
//
// Tables. blocksparse/Plan/Tables.h has the row of each table and the names of its words. A table may
// have a batch dimension in front, where the pattern differs from batch to batch.
//   row LUT:        segments [s, 5] = (tile, head, first, count, slot)
//                   entries  [e, 2] = (dense block index, value block index)
//     A segment is a run `entries[first .. first + count)` of the reduction of one output tile. A
//     segment of slot -1 owns its tile and runs the epilogue. Any other writes its partial sums to
//     the slot `slot`, and the `combine` table [c, 4] = (tile, head, first slot, slot count) adds the
//     slots of each split tile in ascending order.
//   coordinate LUT: lut [nnz, 4] = (head, block row, block column, value block)
//                   segments [s, 2] = (first, count), a run of rows of the LUT for one worker
//   tiles: two or three tables that describe the same product to kernels which walk compile-time
//          lists; they exist for static patterns and shapes only (blocksparse/Plan/SampledTiles.h).
//                   tiles   [t, 24]
//                   workers [w + 1]: worker i takes tiles[workers[i] .. workers[i + 1])
//                   places  [p, n] = value block of each block of a tile, -1 for none; the table
//                   exists for blocks of fewer than 64 rows or columns
//   stages: five or six tables that describe the same product to kernels which walk compile-time
//          lists; they exist for static patterns and shapes only (blocksparse/Plan/Stages.h has the
//          records of each kernel).
//                   tiles   [t, 8] = (row group, column tile, first record, records, batch, head, 0, 0)
//                   workers [w + 1]: worker i takes tiles[workers[i] .. workers[i + 1])
//                   records [r, n] = what one stage of the reduction of a tile loads
//                   rows    [g, slabs of a group] = the slabs of each row group, -1 for none
//                   order   [p] = value block of each block of the packed values
//                   granules [q, n] = what each planned block is made of (blocksparse/Plan/Reblock.h);
//                   the table exists if the schedule names a block, and then order has its rows
//   lists: three or four tables that describe an attention in the same way (Plan/AttentionPlan.h).
//                   tiles [t, 8], workers [w + 1], steps [s, 8], slices [s, 20]: see Plan/Tables.h
//          Its gradient has six: those of keys and those of queries (Plan/AttentionGradPlan.h).
// `packed` holds the values in that order. `lut_heads` is the number of heads that the tables were
// made for: either the H of the tensor, or 1 for a pattern that all heads share. In that case head h
// uses the value block v + h * nnz.

#ifndef BLOCKSPARSE_IR_PLANNED_OPS_TD
#define BLOCKSPARSE_IR_PLANNED_OPS_TD

include "blocksparse/IR/BlockSparseMatmulOps.td"
include "blocksparse/IR/BlockSparsePlannedTypes.td"
include "blocksparse/IR/BlockSparseSoftmaxOps.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

class BlockSparse_PlannedOp<string mnemonic, list<Trait> traits = []>
    : BlockSparse_Op<mnemonic, !listconcat(traits, [
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>])> {
  let results = (outs Res<Variadic<AnyRankedTensor>,
                          "the destinations that are tensors, as they are afterwards">:$outputs);
  let hasVerifier = 1;
}

// An operation with one destination, `init`.
class BlockSparse_SingleDestinationOp<string mnemonic, list<Trait> traits = []>
    : BlockSparse_PlannedOp<mnemonic, traits> {
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
}

// An operation whose destinations are its last operands; `firstDestination` accesses the first one.
class BlockSparse_DestinationsOp<string mnemonic, string firstDestination, list<Trait> traits = []>
    : BlockSparse_PlannedOp<mnemonic, traits> {
  string declarations = ""; // beside the accessor of the destinations
  let extraClassDeclaration = [{
    /// Returns the destinations in the order of the results.
    ::mlir::OperandRange getInits() { return getDpsInitsMutable(); }
    MutableOperandRange getDpsInitsMutable() {
      unsigned first = }] # firstDestination # [{().getOperandNumber();
      return MutableOperandRange(getOperation(), first, getOperation()->getNumOperands() - first);
    }
  }] # declarations;
}

// The block shape of the values and the heads that the tables were made for.
defvar BlockSparse_BlockArg = (ins
  Arg<DenseI64ArrayAttr, "rows and columns of a value block">:$block);
defvar BlockSparse_LutHeadsArg = (ins
  Arg<I64Attr, "number of heads that the tables were made for">:$lut_heads);
defvar BlockSparse_ShapeArg = (ins
  Arg<DenseI64ArrayAttr, "M and N, the rows and columns of the scores">:$shape);
defvar BlockSparse_RowLutOperands = (ins
  Arg<BlockSparse_RowSegments, "segments of the row LUT">:$segments,
  Arg<BlockSparse_RowEntries, "entries of the row LUT">:$entries);
defvar BlockSparse_IndexOperands = (ins
  Arg<BlockSparse_Indices, "row offsets [rows + 1] or [B, rows + 1]">:$crow_indices,
  Arg<BlockSparse_Indices, "block columns [nnz] or [B, nnz]">:$col_indices);
defvar BlockSparse_BetaArg = (ins
  Arg<DefaultValuedAttr<F64Attr, "0.0">, "factor of `input`">:$beta);

// The factors that are operands. They multiply beside the attributes, which are then 1.
defvar BlockSparse_PlannedDynamicAlpha = (ins
  Arg<Optional<BlockSparse_FactorBuffer>, "factor of the product">:$dynamic_alpha);
defvar BlockSparse_PlannedDynamicBeta = (ins
  Arg<Optional<BlockSparse_FactorBuffer>, "factor of `input`">:$dynamic_beta);
defvar BlockSparse_PlannedDynamicScale = (ins
  Arg<Optional<BlockSparse_FactorBuffer>, "factor of the scores">:$dynamic_scale);

// The constraints of the block shape, of the values and of the heads of the tables.
defvar BlockSparse_StorageConstraints = [C34, C35, C37];

def BlockSparse_PlannedDSDOp
    : BlockSparse_SingleDestinationOp<"planned_dsd", [AttrSizedOperandSegments]> {
  let summary = "Dense = sparse x dense over look-up tables (dsd, dds and bsr_addmm)";
  let semantics = [{
    With t = sum over the entries of a tile of V[value] @ B[dense block]:
    out = act(left_alpha * (alpha * t) * right_alpha + beta * input + bias) + residual. alpha and beta
    are the attributes times the operands of these names. V is a
    value block, transposed with `transpose_values`. B is [..., K, N], or [..., N, K] with
    `transpose_b`. The result is [..., M, N], or [..., N, M] with `transpose_out`. left_alpha,
    right_alpha, bias, input and residual are indexed by the coordinates of the result as it
    is stored: left_alpha by its rows, right_alpha and bias by its columns.
  }];
  let constraints = !listconcat([C8, C9, C10, C11, C13, C14, C15, C16, C17],
                                BlockSparse_StorageConstraints, [C39, C42, C43, C44, C62]);
  let atRunTime = ["Tables hold indices inside the values and the dense operand, and write each tile once."];
  let postconditions = ["Every element of the destination is written."];
  let example = [{
    ```mlir
    func.func @planned_dsd(%v: tensor<3x16x16xf32>, %d: tensor<32x20xf32>, %s: tensor<2x5xi32>,
                           %e: tensor<3x2xi32>, %init: tensor<32x20xf32>) -> tensor<32x20xf32> {
      %0 = blocksparse.planned_dsd %v, %d segments(%s) entries(%e) outs(%init)
          {block = array<i64: 16, 16>, lut_heads = 1 : i64}
          : (tensor<3x16x16xf32>, tensor<32x20xf32>, tensor<2x5xi32>, tensor<3x2xi32>,
             tensor<32x20xf32>) -> tensor<32x20xf32>
      return %0 : tensor<32x20xf32>
    }
    ```
  }];
  let arguments = !con((ins
    Arg<BlockSparse_Values, "value blocks of the sparse factor">:$values,
    Arg<BlockSparse_Matrices, "dense factor">:$dense),
    BlockSparse_RowLutOperands, (ins
    Arg<Optional<BlockSparse_CombineTable>, "slots that are added to each split tile">:$combine,
    Arg<Optional<BlockSparse_Matrices>, "tensor that is added with the factor `beta`">:$input,
    Arg<Optional<BlockSparse_Vector>, "factor of each row">:$left_alpha,
    Arg<Optional<BlockSparse_Vector>, "factor of each column">:$right_alpha,
    Arg<Optional<BlockSparse_Vector>, "vector that is added to each row">:$bias,
    Arg<Optional<BlockSparse_Matrices>, "tensor that is added after the activation">:$residual),
    BlockSparse_PlannedDynamicAlpha, BlockSparse_PlannedDynamicBeta, (ins
    Arg<Variadic<BlockSparse_WorkTable>, "tiles, workers, records, rows, order and perhaps granules, or none">:$stages,
    Arg<Optional<BlockSparse_Values>, "values in the order in which the stages load them">:$packed,
    Arg<BlockSparse_Matrices, "destination">:$init),
    BlockSparse_BlockArg, BlockSparse_LutHeadsArg, (ins
    Arg<DefaultValuedAttr<I64Attr, "0">, "number of reduction slots of split tiles">:$slots,
    Arg<UnitAttr, "each value block is transposed before the product">:$transpose_values,
    Arg<UnitAttr, "`dense` is transposed before the product">:$transpose_b),
    BlockSparse_SkipZerosArg, BlockSparse_TransposeOutArg, BlockSparse_AlphaArg, BlockSparse_BetaArg,
    BlockSparse_ActivationArg, BlockSparse_PrecisionArg, BlockSparse_ScheduleArg);
  let assemblyFormat = !strconcat([{
    $values `,` $dense `segments` `(` $segments `)` `entries` `(` $entries `)`
    (`combine` `(` $combine^ `)`)? (`input` `(` $input^ `)`)?
  }], BlockSparse_AlphaFormat, BlockSparse_BetaFormat, [{
    (`left_alpha` `(` $left_alpha^ `)`)? (`right_alpha` `(` $right_alpha^ `)`)?
    (`bias` `(` $bias^ `)`)? (`residual` `(` $residual^ `)`)? (`stages` `(` $stages^ `)`)?
    (`packed` `(` $packed^ `)`)? `outs` `(` $init `)` attr-dict `:` functional-type(operands, results)
  }]);
}

def BlockSparse_PlannedSDDOp
    : BlockSparse_SingleDestinationOp<"planned_sdd", [AttrSizedOperandSegments]> {
  let summary = "Sparse = dense x dense over look-up tables (sdd and sampled_addmm)";
  let semantics = [{
    out[value] = alpha * (A @ B)[block row, block column] + beta * input[value] for every row of
    the coordinate LUT. A is [..., M, K], or [..., K, M] with `transpose_a`. B is [..., K, N], or
    [..., N, K] with `transpose_b`.
  }];
  let constraints = !listconcat([C6, C7, C8, C9, C10, C11, C16, C17],
                                BlockSparse_StorageConstraints, [C38, C45, C62]);
  let atRunTime = ["Tables hold indices inside the destination, and each value block occurs once."];
  let postconditions = ["The elements of edge blocks outside M x N are written as 0."];
  let example = [{
    ```mlir
    func.func @planned_sdd(%a: memref<32x8xf32>, %b: memref<8x32xf32>, %lut: memref<3x4xi32>,
                           %s: memref<2x2xi32>, %init: memref<3x16x16xf32>) {
      blocksparse.planned_sdd %a, %b lut(%lut) segments(%s) outs(%init)
          {block = array<i64: 16, 16>, lut_heads = 1 : i64}
          : (memref<32x8xf32>, memref<8x32xf32>, memref<3x4xi32>, memref<2x2xi32>,
             memref<3x16x16xf32>) -> ()
      return
    }
    ```
  }];
  let arguments = !con((ins
    Arg<BlockSparse_Matrices, "left factor">:$a, Arg<BlockSparse_Matrices, "right factor">:$b,
    Arg<BlockSparse_CoordinateLut, "coordinate LUT of the stored blocks">:$lut,
    Arg<BlockSparse_CoordinateSegments, "segments of the coordinate LUT">:$segments,
    Arg<Optional<BlockSparse_Values>, "value blocks that are added with the factor `beta`">:$input),
    BlockSparse_PlannedDynamicAlpha, BlockSparse_PlannedDynamicBeta, (ins
    Arg<Variadic<BlockSparse_WorkTable>, "tiles, workers and places of work lists, or none">:$tiles,
    Arg<BlockSparse_Values, "destination">:$init),
    BlockSparse_BlockArg, BlockSparse_LutHeadsArg, BlockSparse_TransposeArgs, BlockSparse_AlphaArg,
    BlockSparse_BetaArg, BlockSparse_PrecisionArg, BlockSparse_ScheduleArg);
  let assemblyFormat = !strconcat([{
    $a `,` $b `lut` `(` $lut `)` `segments` `(` $segments `)` (`input` `(` $input^ `)`)?
  }], BlockSparse_AlphaFormat, BlockSparse_BetaFormat, [{
    (`tiles` `(` $tiles^ `)`)? `outs` `(` $init `)` attr-dict `:` functional-type(operands, results)
  }]);
}

def BlockSparse_PlannedSoftmaxOp
    : BlockSparse_DestinationsOp<"planned_softmax", "getYMutable", [AttrSizedOperandSegments]> {
  let summary = "Row softmax over a row LUT (tile = block row, dense block = block column)";
  let semantics = [{
    The softmax of blocksparse.softmax over value blocks. A tile of the row LUT is a block row, a
    dense block a block column.
  }];
  let constraints = !listconcat([C8, C22, C23, C24, C25, C26], BlockSparse_StorageConstraints,
                                [C40, C46], BlockSparse_PositionConstraints, [C62]);
  let atRunTime = ["Tables hold indices inside the values, and write each block row once."];
  let postconditions = ["The elements of y outside M x N are written as 0."];
  let example = [{
    ```mlir
    func.func @planned_softmax(%x: tensor<3x16x16xf32>, %s: tensor<2x5xi32>, %e: tensor<3x2xi32>,
                               %y: tensor<3x16x16xf32>, %l: tensor<30xf32>)
        -> (tensor<3x16x16xf32>, tensor<30xf32>) {
      %0:2 = blocksparse.planned_softmax %x segments(%s) entries(%e) outs(%y, %l)
          {block = array<i64: 16, 16>, lut_heads = 1 : i64, shape = array<i64: 30, 32>}
          : (tensor<3x16x16xf32>, tensor<2x5xi32>, tensor<3x2xi32>, tensor<3x16x16xf32>,
             tensor<30xf32>) -> (tensor<3x16x16xf32>, tensor<30xf32>)
      return %0#0, %0#1 : tensor<3x16x16xf32>, tensor<30xf32>
    }
    ```
  }];
  let arguments = !con((ins Arg<BlockSparse_FloatValues, "value blocks of the scores">:$x),
    BlockSparse_RowLutOperands, (ins
    Arg<Optional<BlockSparse_FloatMatrices>, "bias that is added to the scores">:$rpe,
    Arg<Optional<BlockSparse_ColumnMask>, "mask of columns">:$key_padding_mask,
    Arg<Optional<BlockSparse_Matrices>, "mask of elements">:$attention_mask,
    Arg<Optional<BlockSparse_LogSumExp>, "log-sum-exp that normalises each row">:$known_lse,
    Arg<Optional<BlockSparse_Lengths>, "columns that are allowed">:$key_lengths,
    Arg<Optional<BlockSparse_Lengths>, "rows that are allowed">:$query_lengths,
    Arg<Optional<BlockSparse_Segments>, "segment of each row">:$query_segments,
    Arg<Optional<BlockSparse_Segments>, "segment of each column">:$key_segments),
    BlockSparse_PlannedDynamicScale, (ins
    Arg<BlockSparse_FloatValues, "destination of the softmax">:$y,
    Arg<Optional<BlockSparse_LogSumExp>, "destination of the log-sum-exp of each row">:$lse),
    BlockSparse_BlockArg, BlockSparse_ShapeArg, BlockSparse_LutHeadsArg, BlockSparse_SoftmaxAttrs, BlockSparse_ScheduleArg);
  let assemblyFormat = !strconcat("$x `segments` `(` $segments `)` `entries` `(` $entries `)`",
      BlockSparse_ScaleFormat,
      BlockSparse_MaskFormat, "(`known_lse` `(` $known_lse^ `)`)?", BlockSparse_PositionFormat,
      "`outs` `(` $y (`,` $lse^)? `)` attr-dict `:` functional-type(operands, results)");
  let declarations = BlockSparse_MayForbid;
}

def BlockSparse_PlannedSoftmaxGradOp
    : BlockSparse_DestinationsOp<"planned_softmax_grad", "getDxMutable", [AttrSizedOperandSegments]> {
  let summary = "Gradient of softmax over a row LUT";
  let semantics = [{
    The gradient of blocksparse.softmax_grad over value blocks.
  }];
  let constraints = !listconcat([C8, C22, C26], BlockSparse_StorageConstraints, [C40, C46, C47, C62]);
  let atRunTime = ["Tables hold indices inside the values, and write each block row once."];
  let postconditions = ["drpe is written whole, with 0 outside the stored blocks."];
  let example = [{
    ```mlir
    func.func @planned_softmax_grad(%y: tensor<3x16x16xf32>, %dy: tensor<3x16x16xf32>,
                                    %s: tensor<2x5xi32>, %e: tensor<3x2xi32>,
                                    %dx: tensor<3x16x16xf32>) -> tensor<3x16x16xf32> {
      %0 = blocksparse.planned_softmax_grad %y, %dy segments(%s) entries(%e) outs(%dx)
          {block = array<i64: 16, 16>, lut_heads = 1 : i64, shape = array<i64: 32, 32>}
          : (tensor<3x16x16xf32>, tensor<3x16x16xf32>, tensor<2x5xi32>, tensor<3x2xi32>,
             tensor<3x16x16xf32>) -> tensor<3x16x16xf32>
      return %0 : tensor<3x16x16xf32>
    }
    ```
  }];
  let arguments = !con((ins
    Arg<BlockSparse_FloatValues, "value blocks of a softmax">:$y,
    Arg<BlockSparse_FloatValues, "value blocks of the gradient of y">:$dy),
    BlockSparse_RowLutOperands, (ins
    Arg<Optional<BlockSparse_FloatMatrices>, "result of attention, [B, H, M, Dv]">:$out,
    Arg<Optional<BlockSparse_FloatMatrices>, "gradient of out, [B, H, M, Dv]">:$dout,
    Arg<Optional<BlockSparse_LogSumExp>, "gradient of the log-sum-exp of each row">:$dlse),
    BlockSparse_PlannedDynamicScale, (ins
    Arg<BlockSparse_FloatValues, "destination of the gradient of x">:$dx,
    Arg<Optional<BlockSparse_FloatMatrices>, "destination of the gradient of rpe">:$drpe),
    BlockSparse_BlockArg, BlockSparse_ShapeArg, BlockSparse_LutHeadsArg, (ins
    Arg<DefaultValuedAttr<F64Attr, "1.0">, "factor of the scores">:$scale),
    BlockSparse_ScheduleArg);
  let assemblyFormat = !strconcat([{
    $y `,` $dy `segments` `(` $segments `)` `entries` `(` $entries `)`
  }], BlockSparse_ScaleFormat, [{
    (`attention` `(` $out^ `,` $dout `)`)? (`dlse` `(` $dlse^ `)`)? `outs` `(` $dx (`,` $drpe^)? `)`
    attr-dict `:` functional-type(operands, results)
  }]);
}

def BlockSparse_PlannedScatterMMOp : BlockSparse_SingleDestinationOp<"planned_scatter_mm"> {
  let summary = "scatter_mm into its accumulators";
  let semantics = [{
    Adds the products of blocksparse.scatter_mm to the destination, which holds the accumulators.
  }];
  let constraints = [C9, C10, C11, C18, C19, C20];
  let atRunTime = [
    "Indices stay inside the tensors that they point into.",
    "Tiles at r_offsets share no element of the destination.",
  ];
  let example = [{
    ```mlir
    func.func @planned_scatter_mm(%blocks: memref<5x16x16xf32>, %others: memref<7x16x32xf32>,
                                  %offsets: memref<4xi32>, %pq: memref<9x2xi32>,
                                  %acc: memref<3x16x32xf32>) {
      blocksparse.planned_scatter_mm %blocks, %others indices(%offsets, %pq) outs(%acc)
          : (memref<5x16x16xf32>, memref<7x16x32xf32>, memref<4xi32>, memref<9x2xi32>,
             memref<3x16x32xf32>) -> ()
      return
    }
    ```
  }];
  let arguments = !con((ins
    Arg<BlockSparse_Tiles, "left factors [P, Ms, Ks]">:$blocks,
    Arg<BlockSparse_TilesOrMatrices, "right factors, tiles or matrices by `format`">:$others,
    Arg<Variadic<BlockSparse_ScatterIndices>, "index tensors of `format`">:$indices,
    Arg<BlockSparse_TilesOrMatrices, "destination, which is read and added to">:$init),
    BlockSparse_ScatterAttrs);
  let assemblyFormat = [{
    $blocks `,` $others `indices` `(` $indices `)` `outs` `(` $init `)`
    attr-dict `:` functional-type(operands, results)
  }];
}

def BlockSparse_PlannedMatmulOp
    : BlockSparse_SingleDestinationOp<"planned_matmul", [AttrSizedOperandSegments]> {
  let summary = "Dense = dense x dense into its destination";
  let semantics = [{
    The product and the epilogue of blocksparse.matmul.
  }];
  let constraints = !listconcat([C6, C7, C8, C9, C10, C11, C36], BlockSparse_EpilogueConstraints);
  let postconditions = ["Every element of the destination is written."];
  let example = [{
    ```mlir
    func.func @planned_matmul(%a: tensor<10x64xf32>, %b: tensor<64x32xf32>,
                              %init: tensor<10x32xf32>) -> tensor<10x32xf32> {
      %0 = blocksparse.planned_matmul %a, %b outs(%init)
          : (tensor<10x64xf32>, tensor<64x32xf32>, tensor<10x32xf32>) -> tensor<10x32xf32>
      return %0 : tensor<10x32xf32>
    }
    ```
  }];
  let arguments = !con((ins
    Arg<BlockSparse_Matrices, "left factor">:$a, Arg<BlockSparse_Matrices, "right factor">:$b,
    Arg<Optional<BlockSparse_Vector>, "vector that is added to each row">:$bias,
    Arg<Optional<BlockSparse_Matrices>, "tensor that is added after the activation">:$residual),
    BlockSparse_PlannedDynamicAlpha, (ins
    Arg<BlockSparse_Matrices, "destination">:$init),
    BlockSparse_FormArg, BlockSparse_TransposeArgs, BlockSparse_EpilogueAttrs);
  let assemblyFormat = !strconcat("$a `,` $b ", BlockSparse_AlphaFormat, [{
    (`bias` `(` $bias^ `)`)? (`residual` `(` $residual^ `)`)? `outs` `(` $init `)`
    attr-dict `:` functional-type(operands, results)
  }]);
}

def BlockSparse_PlannedToDenseOp : BlockSparse_SingleDestinationOp<"planned_to_dense"> {
  let summary = "Writes value blocks to their place and 0 everywhere else";
  let semantics = [{
    Writes each value block of the coordinate LUT to its place in the destination.
  }];
  let constraints = !listconcat(BlockSparse_StorageConstraints, [C45]);
  let postconditions = [
    "The whole destination is written.",
    "Several blocks at one position, of a dynamic pattern, are added.",
  ];
  let example = [{
    ```mlir
    func.func @planned_to_dense(%v: tensor<3x16x16xf32>, %lut: tensor<3x4xi32>,
                                %init: tensor<32x30xf32>) -> tensor<32x30xf32> {
      %0 = blocksparse.planned_to_dense %v lut(%lut) outs(%init)
          {block = array<i64: 16, 16>, lut_heads = 1 : i64}
          : (tensor<3x16x16xf32>, tensor<3x4xi32>, tensor<32x30xf32>) -> tensor<32x30xf32>
      return %0 : tensor<32x30xf32>
    }
    ```
  }];
  let arguments = !con((ins
    Arg<BlockSparse_Values, "value blocks">:$values,
    Arg<BlockSparse_CoordinateLut, "coordinate LUT of the stored blocks">:$lut,
    Arg<BlockSparse_Matrices, "destination">:$init),
    BlockSparse_BlockArg, BlockSparse_LutHeadsArg, BlockSparse_ScheduleArg);
  let assemblyFormat = [{
    $values `lut` `(` $lut `)` `outs` `(` $init `)` attr-dict `:` functional-type(operands, results)
  }];
}

def BlockSparse_PlannedFromDenseOp : BlockSparse_SingleDestinationOp<"planned_from_dense"> {
  let summary = "Gathers value blocks; elements outside the dense tensor are written as 0";
  let semantics = [{
    Copies each block of the coordinate LUT from the dense operand to its value block.
  }];
  let constraints = !listconcat(BlockSparse_StorageConstraints, [C45]);
  let postconditions = ["Elements of value blocks outside the dense operand are written as 0."];
  let example = [{
    ```mlir
    func.func @planned_from_dense(%d: tensor<32x30xf32>, %lut: tensor<3x4xi32>,
                                  %init: tensor<3x16x16xf32>) -> tensor<3x16x16xf32> {
      %0 = blocksparse.planned_from_dense %d lut(%lut) outs(%init)
          {block = array<i64: 16, 16>, lut_heads = 1 : i64}
          : (tensor<32x30xf32>, tensor<3x4xi32>, tensor<3x16x16xf32>) -> tensor<3x16x16xf32>
      return %0 : tensor<3x16x16xf32>
    }
    ```
  }];
  let arguments = !con((ins
    Arg<BlockSparse_Matrices, "dense operand">:$dense,
    Arg<BlockSparse_CoordinateLut, "coordinate LUT of the stored blocks">:$lut,
    Arg<BlockSparse_Values, "destination">:$init),
    BlockSparse_BlockArg, BlockSparse_LutHeadsArg, BlockSparse_ScheduleArg);
  let assemblyFormat = [{
    $dense `lut` `(` $lut `)` `outs` `(` $init `)` attr-dict `:` functional-type(operands, results)
  }];
}

def BlockSparse_PlannedTransposeOp : BlockSparse_SingleDestinationOp<"planned_transpose"> {
  let summary = "out[q] = transpose of values[permutation[q]], each head in its turn";
  let semantics = [{
    out[q] = transpose of values[permutation[q]], one head after another. The permutation holds the
    indices of value blocks of the `lut_heads` heads of the pattern.
  }];
  let constraints = !listconcat(BlockSparse_StorageConstraints, [C45]);
  let example = [{
    ```mlir
    func.func @planned_transpose(%v: tensor<3x16x32xf32>, %p: tensor<3xi32>,
                                 %init: tensor<3x32x16xf32>) -> tensor<3x32x16xf32> {
      %0 = blocksparse.planned_transpose %v permutation(%p) outs(%init)
          {block = array<i64: 16, 32>, lut_heads = 1 : i64}
          : (tensor<3x16x32xf32>, tensor<3xi32>, tensor<3x32x16xf32>) -> tensor<3x32x16xf32>
      return %0 : tensor<3x32x16xf32>
    }
    ```
  }];
  let arguments = !con((ins
    Arg<BlockSparse_Values, "value blocks of the source">:$values,
    Arg<BlockSparse_Permutation, "source block of each value block of the destination">:$permutation,
    Arg<BlockSparse_Values, "destination, whose blocks are transposed">:$init),
    BlockSparse_BlockArg, BlockSparse_LutHeadsArg, BlockSparse_ScheduleArg);
  let assemblyFormat = [{
    $values `permutation` `(` $permutation `)` `outs` `(` $init `)`
    attr-dict `:` functional-type(operands, results)
  }];
}

def BlockSparse_PlannedAddOp
    : BlockSparse_SingleDestinationOp<"planned_add", [AttrSizedOperandSegments]> {
  let summary = "out = alpha * a + beta * b, element by element of the value blocks";
  let semantics = [{
    out = alpha * a + beta * b for each element of the value blocks, padding included. alpha and beta
    are the attributes times the operands of these names. A term whose attribute is 0 is not read.
  }];
  let constraints = [C8, C45, C62];
  let postconditions = ["The whole destination is written."];
  let example = [{
    ```mlir
    func.func @planned_add(%a: tensor<3x16x32xf32>, %b: tensor<3x16x32xf32>,
                           %init: tensor<3x16x32xf32>) -> tensor<3x16x32xf32> {
      %0 = blocksparse.planned_add %a, %b outs(%init) {beta = -1.0}
          : (tensor<3x16x32xf32>, tensor<3x16x32xf32>, tensor<3x16x32xf32>) -> tensor<3x16x32xf32>
      return %0 : tensor<3x16x32xf32>
    }
    ```
  }];
  let arguments = !con((ins
    Arg<BlockSparse_FloatValues, "value blocks of the first term">:$a,
    Arg<BlockSparse_FloatValues, "value blocks of the second term">:$b,
    Arg<Optional<BlockSparse_FactorBuffer>, "factor of `a`">:$dynamic_alpha,
    Arg<Optional<BlockSparse_FactorBuffer>, "factor of `b`">:$dynamic_beta,
    Arg<BlockSparse_FloatValues, "destination">:$init),
    BlockSparse_SumArgs, BlockSparse_ScheduleArg);
  let assemblyFormat = !strconcat("$a `,` $b ", BlockSparse_AlphaFormat, BlockSparse_BetaFormat,
      " `outs` `(` $init `)` attr-dict `:` functional-type(operands, results)");
}

//===----------------------------------------------------------------------===//
// Tables of a dynamic pattern, which are made at run time from crow_indices and col_indices
//===----------------------------------------------------------------------===//

def BlockSparse_BsrRowLutOp : BlockSparse_DestinationsOp<"bsr_row_lut", "getSegmentsMutable"> {
  let summary = "Row LUT of run-time indices, one unsplit segment a block row";
  let semantics = [{
    Makes the row LUT of a dynamic pattern, with one unsplit segment for each block row. With
    `transpose`, tiles are block columns, the entries of each in ascending order of the rows, and
    the dense block is the block row.
  }];
  let constraints = [C41, C46];
  let example = [{
    ```mlir
    func.func @bsr_row_lut(%crow: tensor<5xi64>, %col: tensor<?xi64>, %s: tensor<4x5xi32>,
                           %e: tensor<?x2xi32>) -> (tensor<4x5xi32>, tensor<?x2xi32>) {
      %0:2 = blocksparse.bsr_row_lut %crow, %col outs(%s, %e)
          : (tensor<5xi64>, tensor<?xi64>, tensor<4x5xi32>, tensor<?x2xi32>)
          -> (tensor<4x5xi32>, tensor<?x2xi32>)
      return %0#0, %0#1 : tensor<4x5xi32>, tensor<?x2xi32>
    }
    ```
  }];
  let arguments = !con(BlockSparse_IndexOperands, (ins
    Arg<BlockSparse_RowSegments, "destination of the segments, [rows, 5]">:$segments,
    Arg<BlockSparse_RowEntries, "destination of the entries, [nnz, 2]">:$entries,
    Arg<UnitAttr, "the row LUT of the transposed pattern is made">:$transpose));
  let assemblyFormat = [{
    $crow_indices `,` $col_indices `outs` `(` $segments `,` $entries `)`
    attr-dict `:` functional-type(operands, results)
  }];
}

def BlockSparse_BsrCoordinateLutOp : BlockSparse_DestinationsOp<"bsr_coordinate_lut", "getLutMutable"> {
  let summary = "Coordinate LUT of run-time indices, one segment a block row";
  let semantics = [{
    Makes the coordinate LUT of a dynamic pattern, with one segment for each block row.
  }];
  let constraints = [C41, C46];
  let example = [{
    ```mlir
    func.func @bsr_coordinate_lut(%crow: tensor<5xi32>, %col: tensor<?xi32>, %l: tensor<?x4xi32>,
                                  %s: tensor<4x2xi32>) -> (tensor<?x4xi32>, tensor<4x2xi32>) {
      %0:2 = blocksparse.bsr_coordinate_lut %crow, %col outs(%l, %s)
          : (tensor<5xi32>, tensor<?xi32>, tensor<?x4xi32>, tensor<4x2xi32>)
          -> (tensor<?x4xi32>, tensor<4x2xi32>)
      return %0#0, %0#1 : tensor<?x4xi32>, tensor<4x2xi32>
    }
    ```
  }];
  let arguments = !con(BlockSparse_IndexOperands, (ins
    Arg<BlockSparse_CoordinateLut, "destination of the LUT, [nnz, 4]">:$lut,
    Arg<BlockSparse_CoordinateSegments, "destination of the segments, [rows, 2]">:$segments));
  let assemblyFormat = [{
    $crow_indices `,` $col_indices `outs` `(` $lut `,` $segments `)`
    attr-dict `:` functional-type(operands, results)
  }];
}

def BlockSparse_BsrTransposeIndicesOp
    : BlockSparse_DestinationsOp<"bsr_transpose_indices", "getTransposedCrowIndicesMutable"> {
  let summary = "Indices of the transposed pattern and the permutation of its value blocks";
  let semantics = [{
    Makes the indices of the transposed pattern and the permutation of its value blocks. Blocks of
    one block column keep the order of their rows.
  }];
  let constraints = [C41, C45, C46];
  let example = [{
    ```mlir
    func.func @bsr_transpose_indices(%crow: tensor<5xi32>, %col: tensor<?xi32>,
                                     %c: tensor<9xi32>, %d: tensor<?xi32>, %p: tensor<?xi32>)
        -> (tensor<9xi32>, tensor<?xi32>, tensor<?xi32>) {
      %0:3 = blocksparse.bsr_transpose_indices %crow, %col outs(%c, %d, %p)
          : (tensor<5xi32>, tensor<?xi32>, tensor<9xi32>, tensor<?xi32>, tensor<?xi32>)
          -> (tensor<9xi32>, tensor<?xi32>, tensor<?xi32>)
      return %0#0, %0#1, %0#2 : tensor<9xi32>, tensor<?xi32>, tensor<?xi32>
    }
    ```
  }];
  let arguments = !con(BlockSparse_IndexOperands, (ins
    Arg<BlockSparse_Indices, "destination of the row offsets, [cols + 1]">:$transposed_crow_indices,
    Arg<BlockSparse_Indices, "destination of the block columns, [nnz]">:$transposed_col_indices,
    Arg<BlockSparse_Permutation, "destination of the permutation, [nnz]">:$permutation));
  let assemblyFormat = [{
    $crow_indices `,` $col_indices `outs` `(` $transposed_crow_indices `,`
    $transposed_col_indices `,` $permutation `)`
    attr-dict `:` functional-type(operands, results)
  }];
}

#endif // BLOCKSPARSE_IR_PLANNED_OPS_TD
