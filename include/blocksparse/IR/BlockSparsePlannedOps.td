// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The planned (explicit) form: what the planning passes make and the two backends lower.
// Sparse tensors are gone; values are plain tensors [S, bm, bn] or [B, S, bm, bn], the
// pattern is a set of i32 look-up tables, and every op writes into its `init` operands
// (destination-passing style), on tensors before and on memrefs after bufferization.
//
// Tables. A leading batch dimension is allowed on each where the pattern differs by batch.
//   row LUT:        segments [s, 5] = (tile, head, first, count, slot)
//                   entries  [e, 2] = (dense block index, value block index)
//     A segment is a run `entries[first .. first + count)` of one output tile's reduction.
//     slot = -1: it owns the tile alone and runs the epilogue; else it writes its partial
//     sums to reduction slot `slot`, and the `combine` table [c, 4] = (tile, head, first
//     slot, slot count) adds the slots of each split tile in ascending order.
//   coordinate LUT: lut [nnz, 4] = (head, block row, block column, value block)
//                   segments [s, 2] = (first, count), a run of lut rows for one worker
//   tiles (two or three tables, static patterns and shapes only: the same product for kernels that
//   walk compile-time lists; see blocksparse/Plan/SampledTiles.h):
//                   tiles   [t, 24], workers [w + 1]: worker i takes tiles[workers[i]] and following
//                   places  [p, n] = value block of each block of a tile, -1: none; only for blocks
//                   of fewer than 64 rows or columns
//   stages (five tables, static patterns and shapes only: the same product for kernels that walk
//   compile-time lists; see blocksparse/Plan/Stages.h for the records of each kernel):
//                   tiles   [t, 8] = (group, panel, first record, records, batch, head, 0, 0)
//                   workers [w + 1]: worker i takes tiles[workers[i] .. workers[i + 1])
//                   records [r, n] = what one stage of a tile's reduction loads
//                   rows    [g, rows of a group] = row units of each group, -1: none
//                   order   [p] = value block of each place of the packed values
// `packed`, where it is there, holds the values in that order, as the kernel's stages want them.
// `lut_heads` is the number of heads the tables were made for: either the tensor's H, or 1
// for a pattern that all heads share; then head h uses value block v + h * nnz.

#ifndef BLOCKSPARSE_IR_PLANNED_OPS_TD
#define BLOCKSPARSE_IR_PLANNED_OPS_TD

include "blocksparse/IR/BlockSparseOpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

class BlockSparse_PlannedOp<string mnemonic, list<Trait> traits = []>
    : BlockSparse_Op<mnemonic, !listconcat(traits, [
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>])> {
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let hasVerifier = 1;
}

def BlockSparse_PlannedDSDOp : BlockSparse_PlannedOp<"planned_dsd", [AttrSizedOperandSegments]> {
  let summary = "Dense = sparse x dense over look-up tables (dsd, dds and bsr_addmm)";
  let description = [{
    With t = sum over the entries of a tile of V[value] @ B[dense block]:
    out = act(left_alpha * (alpha * t) * right_alpha + beta * input + bias) + residual. V is a
    value block, transposed when `transpose_values`; B is [..., K, N], or [..., N, K] when
    `transpose_b`; the result is [..., M, N], or [..., N, M] when `transpose_out`. left_alpha,
    right_alpha, bias, input and residual are indexed by the coordinates of the result as it
    is stored: left_alpha by its rows, right_alpha and bias by its columns.

    Preconditions: C9, C11, C13 to C17, C34 to C37, C39, C42, C43. Postconditions: C8, C10; every
    element of the destination is written.

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
  let arguments = (ins
    BlockSparse_Buffer:$values, BlockSparse_Buffer:$dense,
    BlockSparse_Buffer:$segments, BlockSparse_Buffer:$entries, Optional<BlockSparse_Buffer>:$combine,
    Optional<BlockSparse_Buffer>:$input, Optional<BlockSparse_Buffer>:$left_alpha,
    Optional<BlockSparse_Buffer>:$right_alpha, Optional<BlockSparse_Buffer>:$bias,
    Optional<BlockSparse_Buffer>:$residual, Variadic<BlockSparse_Buffer>:$stages,
    Optional<BlockSparse_Buffer>:$packed, BlockSparse_Buffer:$init,
    DenseI64ArrayAttr:$block, I64Attr:$lut_heads, DefaultValuedAttr<I64Attr, "0">:$slots,
    UnitAttr:$transpose_values, UnitAttr:$transpose_b, UnitAttr:$transpose_out,
    DefaultValuedAttr<F64Attr, "1.0">:$alpha, DefaultValuedAttr<F64Attr, "0.0">:$beta,
    OptionalAttr<BlockSparse_ActivationAttr>:$activation,
    DefaultValuedAttr<BlockSparse_PrecisionAttr, "::mlir::blocksparse::Precision::IEEE">:$precision,
    OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let assemblyFormat = [{
    $values `,` $dense `segments` `(` $segments `)` `entries` `(` $entries `)`
    (`combine` `(` $combine^ `)`)? (`input` `(` $input^ `)`)?
    (`left_alpha` `(` $left_alpha^ `)`)? (`right_alpha` `(` $right_alpha^ `)`)?
    (`bias` `(` $bias^ `)`)? (`residual` `(` $residual^ `)`)? (`stages` `(` $stages^ `)`)?
    (`packed` `(` $packed^ `)`)? `outs` `(` $init `)` attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
}

def BlockSparse_PlannedSDDOp : BlockSparse_PlannedOp<"planned_sdd", [AttrSizedOperandSegments]> {
  let summary = "Sparse = dense x dense over look-up tables (sdd and sampled_addmm)";
  let description = [{
    out[value] = alpha * (A @ B)[block row, block column] + beta * input[value] for every row of
    the coordinate LUT. A is [..., M, K] ([..., K, M] when `transpose_a`), B [..., K, N]
    ([..., N, K] when `transpose_b`). Elements of edge blocks outside M x N are written as 0.

    Preconditions: C5 to C7, C9, C11, C16, C17, C34 to C37, C44. Postconditions: C10.

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
  let arguments = (ins
    BlockSparse_Buffer:$a, BlockSparse_Buffer:$b, BlockSparse_Buffer:$lut,
    BlockSparse_Buffer:$segments, Optional<BlockSparse_Buffer>:$input,
    Variadic<BlockSparse_Buffer>:$tiles, BlockSparse_Buffer:$init,
    DenseI64ArrayAttr:$block, I64Attr:$lut_heads,
    UnitAttr:$transpose_a, UnitAttr:$transpose_b,
    DefaultValuedAttr<F64Attr, "1.0">:$alpha, DefaultValuedAttr<F64Attr, "0.0">:$beta,
    DefaultValuedAttr<BlockSparse_PrecisionAttr, "::mlir::blocksparse::Precision::IEEE">:$precision,
    OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let assemblyFormat = [{
    $a `,` $b `lut` `(` $lut `)` `segments` `(` $segments `)` (`input` `(` $input^ `)`)?
    (`tiles` `(` $tiles^ `)`)? `outs` `(` $init `)` attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
}

def BlockSparse_PlannedSoftmaxOp : BlockSparse_PlannedOp<"planned_softmax", [AttrSizedOperandSegments]> {
  let summary = "Row softmax over a row LUT (tile = block row, dense block = block column)";
  let description = [{
    `shape` is the logical [M, N]. `inits` are y and, optionally, the log-sum-exp [B, H, M].
    Elements of y outside M x N are written as 0.

    Preconditions: C21 to C25, C34 to C38, C40. Postconditions: C26.

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
  let arguments = (ins
    BlockSparse_Buffer:$x, BlockSparse_Buffer:$segments, BlockSparse_Buffer:$entries,
    Optional<BlockSparse_Buffer>:$rpe, Optional<BlockSparse_Buffer>:$key_padding_mask,
    Optional<BlockSparse_Buffer>:$attention_mask, Variadic<BlockSparse_Buffer>:$inits,
    DenseI64ArrayAttr:$block, DenseI64ArrayAttr:$shape, I64Attr:$lut_heads,
    DefaultValuedAttr<F64Attr, "1.0">:$scale, UnitAttr:$causal,
    DefaultValuedAttr<BlockSparse_MaskModeAttr, "::mlir::blocksparse::MaskMode::Add">:$key_padding_mask_mode,
    DefaultValuedAttr<BlockSparse_MaskModeAttr, "::mlir::blocksparse::MaskMode::Add">:$attention_mask_mode,
    OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let assemblyFormat = [{
    $x `segments` `(` $segments `)` `entries` `(` $entries `)` (`rpe` `(` $rpe^ `)`)?
    (`key_padding_mask` `(` $key_padding_mask^ `)`)? (`attention_mask` `(` $attention_mask^ `)`)?
    `outs` `(` $inits `)` attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
}

def BlockSparse_PlannedSoftmaxGradOp : BlockSparse_PlannedOp<"planned_softmax_grad"> {
  let summary = "Gradient of softmax over a row LUT";
  let description = [{
    `inits` are dx and, optionally, drpe, which is written whole (0 outside the stored blocks).

    Preconditions: C21, C22, C34 to C38, C40.

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
  let arguments = (ins
    BlockSparse_Buffer:$y, BlockSparse_Buffer:$dy, BlockSparse_Buffer:$segments,
    BlockSparse_Buffer:$entries, Variadic<BlockSparse_Buffer>:$inits,
    DenseI64ArrayAttr:$block, DenseI64ArrayAttr:$shape, I64Attr:$lut_heads,
    DefaultValuedAttr<F64Attr, "1.0">:$scale, OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let assemblyFormat = [{
    $y `,` $dy `segments` `(` $segments `)` `entries` `(` $entries `)` `outs` `(` $inits `)`
    attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
}

def BlockSparse_PlannedScatterMMOp : BlockSparse_PlannedOp<"planned_scatter_mm"> {
  let summary = "scatter_mm into its accumulators";
  let description = [{
    The index formats are those of scatter_mm; `init` holds the accumulators and is read.

    Preconditions: C9, C11, C18 to C20. Postconditions: C10.

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
  let arguments = (ins
    BlockSparse_Buffer:$blocks, BlockSparse_Buffer:$others, Variadic<BlockSparse_Buffer>:$indices,
    BlockSparse_Buffer:$init,
    DefaultValuedAttr<BlockSparse_ScatterFormatAttr, "::mlir::blocksparse::ScatterFormat::ScatterMM">:$format,
    DefaultValuedAttr<I64Attr, "1">:$split_n,
    DefaultValuedAttr<BlockSparse_PrecisionAttr, "::mlir::blocksparse::Precision::IEEE">:$precision,
    OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let assemblyFormat = [{
    $blocks `,` $others `indices` `(` $indices `)` `outs` `(` $init `)`
    attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
}

def BlockSparse_PlannedMatmulOp : BlockSparse_PlannedOp<"planned_matmul", [AttrSizedOperandSegments]> {
  let summary = "Dense = dense x dense into its destination";
  let description = [{
    Preconditions and postconditions are those of matmul.

    ```mlir
    func.func @planned_matmul(%a: tensor<10x64xf32>, %b: tensor<64x32xf32>,
                              %init: tensor<10x32xf32>) -> tensor<10x32xf32> {
      %0 = blocksparse.planned_matmul %a, %b outs(%init)
          : (tensor<10x64xf32>, tensor<64x32xf32>, tensor<10x32xf32>) -> tensor<10x32xf32>
      return %0 : tensor<10x32xf32>
    }
    ```
  }];
  let arguments = (ins
    BlockSparse_Buffer:$a, BlockSparse_Buffer:$b, Optional<BlockSparse_Buffer>:$bias,
    Optional<BlockSparse_Buffer>:$residual, BlockSparse_Buffer:$init,
    DefaultValuedAttr<BlockSparse_MatmulFormAttr, "::mlir::blocksparse::MatmulForm::Linear">:$form,
    UnitAttr:$transpose_a, UnitAttr:$transpose_b,
    DefaultValuedAttr<F64Attr, "1.0">:$alpha,
    OptionalAttr<BlockSparse_ActivationAttr>:$activation,
    DefaultValuedAttr<BlockSparse_PrecisionAttr, "::mlir::blocksparse::Precision::IEEE">:$precision,
    OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let assemblyFormat = [{
    $a `,` $b (`bias` `(` $bias^ `)`)? (`residual` `(` $residual^ `)`)? `outs` `(` $init `)`
    attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
}

def BlockSparse_PlannedToDenseOp : BlockSparse_PlannedOp<"planned_to_dense"> {
  let summary = "Writes value blocks to their place and 0 everywhere else";
  let description = [{
    Preconditions: C5, C30, C34 to C37. Postconditions: the whole destination is written.

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
  let arguments = (ins
    BlockSparse_Buffer:$values, BlockSparse_Buffer:$lut, BlockSparse_Buffer:$init,
    DenseI64ArrayAttr:$block, I64Attr:$lut_heads, OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let assemblyFormat = [{
    $values `lut` `(` $lut `)` `outs` `(` $init `)` attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
}

def BlockSparse_PlannedFromDenseOp : BlockSparse_PlannedOp<"planned_from_dense"> {
  let summary = "Gathers value blocks; elements outside the dense tensor are written as 0";
  let description = [{
    Preconditions: C5, C30, C34 to C37.

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
  let arguments = (ins
    BlockSparse_Buffer:$dense, BlockSparse_Buffer:$lut, BlockSparse_Buffer:$init,
    DenseI64ArrayAttr:$block, I64Attr:$lut_heads, OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let assemblyFormat = [{
    $dense `lut` `(` $lut `)` `outs` `(` $init `)` attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
}

def BlockSparse_PlannedTransposeOp : BlockSparse_PlannedOp<"planned_transpose"> {
  let summary = "out[q] = transpose of values[permutation[q]], each head in its turn";
  let description = [{
    permutation [nnz] (or [B, nnz]) holds value block indices of the pattern's `lut_heads` heads.
    `block` is that of `values`.

    Preconditions: C30, C34 to C37.

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
  let arguments = (ins
    BlockSparse_Buffer:$values, BlockSparse_Buffer:$permutation, BlockSparse_Buffer:$init,
    DenseI64ArrayAttr:$block, I64Attr:$lut_heads, OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let assemblyFormat = [{
    $values `permutation` `(` $permutation `)` `outs` `(` $init `)`
    attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
}

// Tables of a dynamic pattern, made at run time from crow_indices and col_indices.

def BlockSparse_BsrRowLutOp : BlockSparse_PlannedOp<"bsr_row_lut"> {
  let summary = "Row LUT of run-time indices, one unsplit segment a block row";
  let description = [{
    `inits` are segments [rows, 5] and entries [nnz, 2]. With `transpose`, tiles are block columns
    (ascending rows within each) and the dense block is the block row.

    Preconditions: C36, C38, C41.

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
  let arguments = (ins
    BlockSparse_Buffer:$crow_indices, BlockSparse_Buffer:$col_indices,
    Variadic<BlockSparse_Buffer>:$inits, UnitAttr:$transpose);
  let assemblyFormat = [{
    $crow_indices `,` $col_indices `outs` `(` $inits `)` attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
}

def BlockSparse_BsrCoordinateLutOp : BlockSparse_PlannedOp<"bsr_coordinate_lut"> {
  let summary = "Coordinate LUT of run-time indices, one segment a block row";
  let description = [{
    `inits` are lut [nnz, 4] and segments [rows, 2].

    Preconditions: C36, C38, C41.

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
  let arguments = (ins
    BlockSparse_Buffer:$crow_indices, BlockSparse_Buffer:$col_indices,
    Variadic<BlockSparse_Buffer>:$inits);
  let assemblyFormat = [{
    $crow_indices `,` $col_indices `outs` `(` $inits `)` attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
}

def BlockSparse_BsrTransposeIndicesOp : BlockSparse_PlannedOp<"bsr_transpose_indices"> {
  let summary = "Indices of the transposed pattern and the permutation of its value blocks";
  let description = [{
    `inits` are crow_indices [cols + 1], col_indices [nnz] and permutation [nnz] (i32); stable.

    Preconditions: C36, C38, C41.

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
  let arguments = (ins
    BlockSparse_Buffer:$crow_indices, BlockSparse_Buffer:$col_indices,
    Variadic<BlockSparse_Buffer>:$inits);
  let assemblyFormat = [{
    $crow_indices `,` $col_indices `outs` `(` $inits `)` attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
}

#endif // BLOCKSPARSE_IR_PLANNED_OPS_TD
