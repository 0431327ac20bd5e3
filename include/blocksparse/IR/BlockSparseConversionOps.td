// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Between dense, block-sparse and taken-apart tensors.

#ifndef BLOCKSPARSE_IR_CONVERSION_OPS_TD
#define BLOCKSPARSE_IR_CONVERSION_OPS_TD

include "blocksparse/IR/BlockSparseOpBase.td"

def BlockSparse_ToDenseOp : BlockSparse_TensorOp<"to_dense"> {
  let summary = "The dense tensor that a sparse one stands for; 0 outside the stored blocks";
  let arguments = (ins BlockSparse_Sparse:$source, OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let results = (outs BlockSparse_Dense:$result);
  let assemblyFormat = "$source attr-dict `:` functional-type(operands, results)";
}

def BlockSparse_FromDenseOp : BlockSparse_TensorOp<"from_dense"> {
  let summary = "The stored blocks of a dense tensor";
  let description = [{
    The result's layout says which blocks are taken; a dynamic result takes the indices of `pattern`.
  }];
  let arguments = (ins BlockSparse_Dense:$source, Optional<BlockSparse_Sparse>:$pattern,
                       OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let results = (outs BlockSparse_Sparse:$result);
  let assemblyFormat = [{
    $source (`pattern` `(` $pattern^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
}

def BlockSparse_TransposeOp : BlockSparse_TensorOp<"transpose"> {
  let summary = "Exchanges the last two dimensions of a sparse tensor";
  let arguments = (ins BlockSparse_Sparse:$source, OptionalAttr<BlockSparse_ScheduleAttr>:$schedule);
  let results = (outs BlockSparse_Sparse:$result);
  let assemblyFormat = "$source attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def BlockSparse_AssembleOp : BlockSparse_TensorOp<"assemble", [AttrSizedOperandSegments]> {
  let summary = "Makes a sparse tensor of its values and, for a dynamic one, its indices";
  let description = [{
    values [S, bm, bn] or [B, S, bm, bn] with S = nnz of the layout, times the number of heads when the
    layout is shared. Dynamic: crow_indices [rows + 1] or [B, rows + 1], col_indices [nnz] or [B, nnz].
  }];
  let arguments = (ins Optional<BlockSparse_Index>:$crow_indices, Optional<BlockSparse_Index>:$col_indices,
                       BlockSparse_Dense:$values);
  let results = (outs BlockSparse_Sparse:$result);
  let assemblyFormat = [{
    (`indices` `(` $crow_indices^ `,` $col_indices `)`)? $values attr-dict
    `:` functional-type(operands, results)
  }];
}

def BlockSparse_DisassembleOp : BlockSparse_TensorOp<"disassemble", [SameVariadicResultSize]> {
  let summary = "Takes a sparse tensor apart: values, and the indices of a dynamic one";
  let arguments = (ins BlockSparse_Sparse:$source);
  let results = (outs BlockSparse_Dense:$values, Optional<BlockSparse_Index>:$crow_indices,
                      Optional<BlockSparse_Index>:$col_indices);
  let assemblyFormat = "$source attr-dict `:` functional-type(operands, results)";
  let hasCanonicalizer = 1;
}

#endif // BLOCKSPARSE_IR_CONVERSION_OPS_TD
