// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Conversions between dense tensors, sparse tensors, and the values and indices of sparse tensors, and
// the sum of sparse tensors.

#ifndef BLOCKSPARSE_IR_CONVERSION_OPS_TD
#define BLOCKSPARSE_IR_CONVERSION_OPS_TD

include "blocksparse/IR/BlockSparseOpBase.td"

def BlockSparse_ToDenseOp : BlockSparse_TensorOp<"to_dense"> {
  let summary = "The dense tensor that a sparse one stands for; 0 outside the stored blocks";
  let semantics = [{
    Writes each stored block to its place and 0 to every other element.
  }];
  let constraints = [C4, C30];
  let postconditions = [
    "Every element of the result is written.",
    "Stored elements are copied bit by bit; duplicate blocks of a dynamic pattern add up.",
  ];
  let example = [{
    ```mlir
    #layout = #blocksparse.layout<16x16, grid 2x2, mask "10/01">
    func.func @to_dense(%s: tensor<32x32xf32, #layout>) -> tensor<32x32xf32> {
      %d = blocksparse.to_dense %s : (tensor<32x32xf32, #layout>) -> tensor<32x32xf32>
      return %d : tensor<32x32xf32>
    }
    ```
  }];
  let arguments = !con((ins Arg<BlockSparse_Sparse<"source">, "tensor [..., M, N]">:$source),
                       BlockSparse_ScheduleArg);
  let results = (outs Res<BlockSparse_Dense<"result">, "the elements that `source` stands for">:$result);
  let builders = [
    // The type of the result follows from the type of the source.
    OpBuilder<(ins "::mlir::Value":$source)>,
  ];
  let assemblyFormat = "$source attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def BlockSparse_FromDenseOp : BlockSparse_TensorOp<"from_dense"> {
  let summary = "The stored blocks of a dense tensor";
  let semantics = [{
    Takes the blocks that the layout of the result stores. A dynamic result takes the indices of
    `pattern`.
  }];
  let constraints = [C4, C12, C30];
  let postconditions = [
    "Elements outside the stored blocks are dropped. The padding of edge blocks is written as 0.",
  ];
  let example = [{
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
  let arguments = !con((ins Arg<BlockSparse_Dense<"source">, "tensor [..., M, N]">:$source,
    Arg<Optional<BlockSparse_Sparse<"pattern">>,
        "tensor whose indices a dynamic result takes; its values are not read">:$pattern),
    BlockSparse_ScheduleArg);
  let results = (outs Res<BlockSparse_Sparse<"result">, "the stored blocks of `source`">:$result);
  let assemblyFormat = [{
    $source (`pattern` `(` $pattern^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let builders = [
    // The result has the shape and element type of the source and the encoding `layout`.
    OpBuilder<(ins "::mlir::Value":$source, "LayoutAttrInterface":$layout)>,
  ];
  let hasFolder = 1;
}

def BlockSparse_TransposeOp : BlockSparse_TensorOp<"transpose"> {
  let summary = "Exchanges the last two dimensions of a sparse tensor";
  let semantics = [{
    The value blocks of the result are those of the source, each transposed, in the order of the
    transposed pattern. A transpose of the sparse factor of dsd or dds folds into a flag.
  }];
  let constraints = [C4, C30, C31];
  let example = [{
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
  let arguments = !con((ins Arg<BlockSparse_Sparse<"source">, "tensor [..., M, N]">:$source),
                       BlockSparse_ScheduleArg);
  let results = (outs Res<BlockSparse_Sparse<"result">, "tensor [..., N, M]">:$result);
  let builders = [
    // The result has the transposed pattern of the source, in canonical form.
    OpBuilder<(ins "::mlir::Value":$source)>,
  ];
  let assemblyFormat = "$source attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def BlockSparse_SliceOp : BlockSparse_TensorOp<"slice"> {
  let summary = "Some of the block rows and block columns of a sparse tensor";
  let semantics = [{
    Element (i, j) of the result is element (offsets[0] + i, offsets[1] + j) of the source; leading
    dimensions are kept. Slices are made of whole blocks, so that the result has the part of the
    source's layout. The value blocks of a slice of block rows follow each other in those of the
    source, and are a view of them where there is one head. A slice of block columns is computed by
    two transpositions, which fold into the products that use it.
  }];
  let constraints = [C4, C30, C59, C60];
  let postconditions = ["The padding of edge blocks holds unspecified values."];
  let example = [{
    ```mlir
    #layout = #blocksparse.layout<16x32, grid 2x3, mask "110/011">
    #part = #blocksparse.layout<16x32, grid 1x2, mask "11">
    func.func @slice(%s: tensor<32x96xf32, #layout>) -> tensor<16x64xf32, #part> {
      %t = blocksparse.slice %s[16, 32] : (tensor<32x96xf32, #layout>) -> tensor<16x64xf32, #part>
      return %t : tensor<16x64xf32, #part>
    }
    ```
  }];
  let arguments = (ins Arg<BlockSparse_Sparse<"source">, "tensor [..., M, N]">:$source,
    Arg<DenseI64ArrayAttr, "first row and first column of the slice">:$offsets);
  let results = (outs Res<BlockSparse_Sparse<"result">, "the slice, [..., M', N']">:$result);
  let builders = [
    // The result has the part of the source's layout, in canonical form.
    OpBuilder<(ins "::mlir::Value":$source, "::llvm::ArrayRef<int64_t>":$offsets,
                   "::llvm::ArrayRef<int64_t>":$sizes)>,
  ];
  let assemblyFormat = "$source `` $offsets attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def BlockSparse_AddOp : BlockSparse_TensorOp<"add", [AttrSizedOperandSegments]> {
  let summary = "alpha * a + beta * b, for sparse tensors of one pattern";
  let semantics = [{
    Adds the stored elements of `a` and `b`, each times its factor. A term whose factor is 0 is not
    read. Elements are computed in the accumulation type and rounded once.
  }];
  let constraints = [C4, C21, C48, C62];
  let atRunTime = ["Of a dynamic pattern, `b` has the indices of `a`; those of `b` are not read."];
  let postconditions = [
    "A dynamic result has the indices of `a`.",
    "A term whose factor is an operand of 0 is 0, whatever the term holds.",
    "The padding of edge blocks holds unspecified values.",
  ];
  let example = [{
    ```mlir
    #layout = #blocksparse.layout<16x16, grid 2x2, mask "10/11">
    func.func @add(%a: tensor<4x32x32xf16, #layout>, %b: tensor<4x32x32xf16, #layout>)
        -> tensor<4x32x32xf16, #layout> {
      %0 = blocksparse.add %a, %b {alpha = 0.9, beta = 0.1}
          : (tensor<4x32x32xf16, #layout>, tensor<4x32x32xf16, #layout>)
          -> tensor<4x32x32xf16, #layout>
      return %0 : tensor<4x32x32xf16, #layout>
    }
    ```
  }];
  let arguments = !con((ins Arg<BlockSparse_Sparse<"a">, "first term, [..., M, N]">:$a,
    Arg<BlockSparse_Sparse<"b">, "second term, [..., M, N]">:$b),
    BlockSparse_DynamicSumOperands, BlockSparse_SumArgs, BlockSparse_ScheduleArg);
  let results = (outs Res<BlockSparse_Sparse<"result">, "the sum, [..., M, N]">:$result);
  let assemblyFormat = !strconcat("$a `,` $b ", BlockSparse_AlphaFormat, BlockSparse_BetaFormat,
                                  " attr-dict `:` functional-type(operands, results)");
  let useCustomPropertiesEncoding = 1;
}

def BlockSparse_AssembleOp : BlockSparse_TensorOp<"assemble", [AttrSizedOperandSegments]> {
  let summary = "Makes a sparse tensor of its values and, for a dynamic one, its indices";
  let semantics = [{
    The values are [S, bm, bn], or [B, S, bm, bn] where the sparse tensor has rank 4. S is the number
    of stored blocks of the layout, times the number of heads where the heads share the layout. A
    dynamic pattern has crow_indices [rows + 1] or [B, rows + 1] and col_indices [nnz] or [B, nnz].
  }];
  let constraints = [C4, C32, C33];
  let atRunTime = [
    "crow_indices start at 0, do not decrease and end at nnz or below.",
    "col_indices name block columns of the grid.",
  ];
  let postconditions = ["No data is copied or changed."];
  let example = [{
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
  let arguments = (ins Arg<Optional<BlockSparse_Index<"crow_indices">>, "row offsets of a dynamic pattern">:$crow_indices,
    Arg<Optional<BlockSparse_Index<"col_indices">>, "block columns of a dynamic pattern">:$col_indices,
    Arg<BlockSparse_Dense<"values">, "value blocks">:$values);
  let results = (outs Res<BlockSparse_Sparse<"result">, "the sparse tensor of these parts">:$result);
  let assemblyFormat = [{
    (`indices` `(` $crow_indices^ `,` $col_indices `)`)? $values attr-dict
    `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
}

def BlockSparse_DisassembleOp : BlockSparse_TensorOp<"disassemble", [SameVariadicResultSize]> {
  let summary = "Takes a sparse tensor apart: values, and the indices of a dynamic one";
  let semantics = [{
    The inverse of assemble: values [S, bm, bn] or [B, S, bm, bn], and the indices of a dynamic
    pattern. The padding of edge blocks holds unspecified values.
  }];
  let constraints = [C4, C32, C33];
  let postconditions = ["No data is copied or changed."];
  let example = [{
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
  let arguments = (ins Arg<BlockSparse_Sparse<"source">, "tensor [..., M, N]">:$source);
  let results = (outs Res<BlockSparse_Dense<"values">, "value blocks">:$values,
    Res<Optional<BlockSparse_Index<"crow_indices">>, "row offsets of a dynamic pattern">:$crow_indices,
    Res<Optional<BlockSparse_Index<"col_indices">>, "block columns of a dynamic pattern">:$col_indices);
  let builders = [
    // The types of the results follow from the type of the source.
    OpBuilder<(ins "::mlir::Value":$source)>,
  ];
  let assemblyFormat = "$source attr-dict `:` functional-type(operands, results)";
  let hasCanonicalizer = 1;
}

#endif // BLOCKSPARSE_IR_CONVERSION_OPS_TD
