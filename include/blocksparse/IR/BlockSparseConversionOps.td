// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Between dense, block-sparse and taken-apart tensors.

#ifndef BLOCKSPARSE_IR_CONVERSION_OPS_TD
#define BLOCKSPARSE_IR_CONVERSION_OPS_TD

include "blocksparse/IR/BlockSparseOpBase.td"

def BlockSparse_ToDenseOp : BlockSparse_TensorOp<"to_dense"> {
  let summary = "The dense tensor that a sparse one stands for; 0 outside the stored blocks";
  let description = [{
    Preconditions: C4, C30. Postconditions: every element of the result is written; stored
    elements are copied bit by bit, duplicate blocks of a dynamic pattern add up.

    ```mlir
    #layout = #blocksparse.layout<16x16, grid 2x2, mask "10/01">
    func.func @to_dense(%s: tensor<32x32xf32, #layout>) -> tensor<32x32xf32> {
      %d = blocksparse.to_dense %s : (tensor<32x32xf32, #layout>) -> tensor<32x32xf32>
      return %d : tensor<32x32xf32>
    }
    ```
  }];
  let arguments = (ins BlockSparse_Sparse:$source, OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let results = (outs BlockSparse_Dense:$result);
  let builders = [
    // The type of the result follows from the source's.
    OpBuilder<(ins "::mlir::Value":$source)>,
  ];
  let assemblyFormat = "$source attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def BlockSparse_FromDenseOp : BlockSparse_TensorOp<"from_dense"> {
  let summary = "The stored blocks of a dense tensor";
  let description = [{
    The result's layout says which blocks are taken; a dynamic result takes the indices of
    `pattern`, whose values are not read.

    Preconditions: C4, C12, C30. Postconditions: elements outside the stored blocks are
    dropped; edge blocks are padded with 0.

    ```mlir
    #layout = #blocksparse.layout<16x16, grid 2x2, mask "10/01">
    #bsr = #blocksparse.bsr<16x16>
    func.func @from_dense(%d: tensor<32x32xf32>, %p: tensor<32x32xf32, #bsr>)
        -> (tensor<32x32xf32, #layout>, tensor<32x32xf32, #bsr>) {
      %0 = blocksparse.from_dense %d : (tensor<32x32xf32>) -> tensor<32x32xf32, #layout>
      %1 = blocksparse.from_dense %d pattern(%p)
          : (tensor<32x32xf32>, tensor<32x32xf32, #bsr>) -> tensor<32x32xf32, #bsr>
      return %0, %1 : tensor<32x32xf32, #layout>, tensor<32x32xf32, #bsr>
    }
    ```
  }];
  let arguments = (ins BlockSparse_Dense:$source, Optional<BlockSparse_Sparse>:$pattern,
                       OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let results = (outs BlockSparse_Sparse:$result);
  let assemblyFormat = [{
    $source (`pattern` `(` $pattern^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let builders = [
    // The source's tensor type with a static layout.
    OpBuilder<(ins "::mlir::Value":$source, "LayoutAttrInterface":$layout)>,
  ];
  let hasFolder = 1;
}

def BlockSparse_TransposeOp : BlockSparse_TensorOp<"transpose"> {
  let summary = "Exchanges the last two dimensions of a sparse tensor";
  let description = [{
    Preconditions: C4, C30 (of the exchanged shape), C31. Postconditions: the values are
    those of the source, block by block transposed and in the order of the new pattern. A
    transpose of the sparse factor of dsd and dds folds into their flags.

    ```mlir
    #layout = #blocksparse.layout<16x32, grid 2x3, mask "110/001">
    #flipped = #blocksparse.layout<32x16, grid 3x2, mask "10/10/01">
    func.func @transpose(%s: tensor<32x96xf32, #layout>) -> tensor<96x32xf32, #flipped> {
      %t = blocksparse.transpose %s
          : (tensor<32x96xf32, #layout>) -> tensor<96x32xf32, #flipped>
      return %t : tensor<96x32xf32, #flipped>
    }
    ```
  }];
  let arguments = (ins BlockSparse_Sparse:$source, OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let results = (outs BlockSparse_Sparse:$result);
  let builders = [
    // The result has the transposed pattern in canonical form.
    OpBuilder<(ins "::mlir::Value":$source)>,
  ];
  let assemblyFormat = "$source attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def BlockSparse_AssembleOp : BlockSparse_TensorOp<"assemble", [AttrSizedOperandSegments]> {
  let summary = "Makes a sparse tensor of its values and, for a dynamic one, its indices";
  let description = [{
    values [S, bm, bn] or [B, S, bm, bn] with S = nnz of the layout, times the number of heads when the
    layout is shared. Dynamic: crow_indices [rows + 1] or [B, rows + 1], col_indices [nnz] or [B, nnz].
    The batch is there where the sparse tensor has rank 4.

    Preconditions: C4, C32, C33; run-time indices start at 0, do not decrease, end at most
    at nnz and name columns of the grid. Postconditions: no data is copied or changed.

    ```mlir
    #layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
    #bsr = #blocksparse.bsr<16x16, i64>
    func.func @assemble(%v: tensor<3x16x16xf32>, %crow: tensor<3xi64>, %col: tensor<?xi64>,
                        %w: tensor<?x16x16xf32>)
        -> (tensor<32x32xf32, #layout>, tensor<32x32xf32, #bsr>) {
      %0 = blocksparse.assemble %v : (tensor<3x16x16xf32>) -> tensor<32x32xf32, #layout>
      %1 = blocksparse.assemble indices(%crow, %col) %w
          : (tensor<3xi64>, tensor<?xi64>, tensor<?x16x16xf32>) -> tensor<32x32xf32, #bsr>
      return %0, %1 : tensor<32x32xf32, #layout>, tensor<32x32xf32, #bsr>
    }
    ```
  }];
  let arguments = (ins Optional<BlockSparse_Index>:$crow_indices, Optional<BlockSparse_Index>:$col_indices,
                       BlockSparse_Dense:$values);
  let results = (outs BlockSparse_Sparse:$result);
  let assemblyFormat = [{
    (`indices` `(` $crow_indices^ `,` $col_indices `)`)? $values attr-dict
    `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
}

def BlockSparse_DisassembleOp : BlockSparse_TensorOp<"disassemble", [SameVariadicResultSize]> {
  let summary = "Takes a sparse tensor apart: values, and the indices of a dynamic one";
  let description = [{
    Preconditions: C4, C32, C33. Postconditions: the inverse of assemble. What padding of
    edge blocks holds is not specified.

    ```mlir
    #layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
    #bsr = #blocksparse.bsr<16x16>
    func.func @disassemble(%s: tensor<32x32xf32, #layout>, %d: tensor<32x32xf32, #bsr>)
        -> (tensor<3x16x16xf32>, tensor<?x16x16xf32>, tensor<3xi32>, tensor<?xi32>) {
      %0 = blocksparse.disassemble %s : (tensor<32x32xf32, #layout>) -> tensor<3x16x16xf32>
      %1:3 = blocksparse.disassemble %d : (tensor<32x32xf32, #bsr>)
          -> (tensor<?x16x16xf32>, tensor<3xi32>, tensor<?xi32>)
      return %0, %1#0, %1#1, %1#2
          : tensor<3x16x16xf32>, tensor<?x16x16xf32>, tensor<3xi32>, tensor<?xi32>
    }
    ```
  }];
  let arguments = (ins BlockSparse_Sparse:$source);
  let results = (outs BlockSparse_Dense:$values, Optional<BlockSparse_Index>:$crow_indices,
                      Optional<BlockSparse_Index>:$col_indices);
  let builders = [
    // The types of the results follow from the source's.
    OpBuilder<(ins "::mlir::Value":$source)>,
  ];
  let assemblyFormat = "$source attr-dict `:` functional-type(operands, results)";
  let hasCanonicalizer = 1;
}

#endif // BLOCKSPARSE_IR_CONVERSION_OPS_TD
