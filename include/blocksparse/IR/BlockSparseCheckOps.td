// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Checks of run-time indices. `blocksparse-check-indices` puts them in front of the operations that
// use the indices as addresses. They are planned operations without a destination: they read the
// indices as the caller gave them, 32 or 64 bits wide, before anything narrows them.
// blocksparse/Support/IndexFaults.h has the kinds of faults, their words and the record of a fault.

#ifndef BLOCKSPARSE_IR_CHECK_OPS_TD
#define BLOCKSPARSE_IR_CHECK_OPS_TD

include "blocksparse/IR/BlockSparsePlannedOps.td"

// The record of a fault before the first fault is found has the code 0.
def BlockSparse_FaultRecord : Type<And<[
    MemRefRankOf<[I64], [1]>.predicate,
    CPred<"::llvm::is_contained({::blocksparse::faultWords, ::mlir::ShapedType::kDynamic}, "
          "::llvm::cast<::mlir::ShapedType>($_self).getDimSize(0))">]>,
    "record of a fault, i64 [7]", "::mlir::MemRefType">;

defvar BlockSparse_SubjectArg = (ins
  Arg<StrAttr, "words that messages begin with: what the indices belong to">:$subject);

class BlockSparse_CheckOp<string mnemonic> : BlockSparse_Op<mnemonic, [
    DestinationStyleOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns no operand, because a check has no destination.
    MutableOperandRange getDpsInitsMutable() {
      return MutableOperandRange(getOperation(), /*start=*/0, /*length=*/0);
    }
  }];
}

def BlockSparse_CheckPatternOp : BlockSparse_CheckOp<"check_pattern"> {
  let summary = "Ends the call with an error if run-time indices make no pattern";
  let semantics = [{
    Checks that crow_indices start at 0, never decrease and end within the number of blocks of
    col_indices, and that each column of a stored block is from 0 to below `cols`. With `unique` no
    block row lists a column twice. Of several faults the one of the first block row is reported.
  }];
  let constraints = [C41];
  let example = [{
    ```mlir
    func.func @check_pattern(%crow: tensor<5xi64>, %col: tensor<?xi64>, %cols: index) {
      blocksparse.check_pattern %crow, %col cols(%cols) {subject = "argument 0 of f", unique}
          : tensor<5xi64>, tensor<?xi64>
      return
    }
    ```
  }];
  let arguments = !con(BlockSparse_IndexOperands, (ins
    Arg<Index, "number of block columns">:$cols), BlockSparse_SubjectArg, (ins
    Arg<UnitAttr, "no column may occur twice in a block row">:$unique));
  let assemblyFormat = [{
    $crow_indices `,` $col_indices `cols` `(` $cols `)` attr-dict
    `:` type($crow_indices) `,` type($col_indices)
  }];
}

def BlockSparse_CheckScatterIndicesOp : BlockSparse_CheckOp<"check_scatter_indices"> {
  let summary = "Ends the call with an error if indices of scatter_mm are invalid";
  let semantics = [{
    Checks that the offsets of the lists never decrease and end within the lists, that blocks and
    tiles of the lists exist, that tiles at element offsets lie inside the matrices, and that no two
    tiles of the accumulators overlap. `others` is
    the number of tiles [Q, Ks, Ns] in the format `scatter_mm`, and the rows of [..., K, N] in the
    others. `rows` and `cols` are those of a matrix of the accumulators.
  }];
  let constraints = [C18, C20];
  let example = [{
    ```mlir
    func.func @check_scatter_indices(%offsets: tensor<4xi32>, %pq: tensor<?x2xi32>, %n: index) {
      blocksparse.check_scatter_indices indices(%offsets, %pq) blocks(%n, %n, %n) others(%n)
          accumulators(%n, %n) {subject = "blocksparse.scatter_mm"} : tensor<4xi32>, tensor<?x2xi32>
      return
    }
    ```
  }];
  let arguments = !con((ins
    Arg<Variadic<BlockSparse_ScatterIndices>, "index tensors of `format`">:$indices,
    Arg<Index, "number of blocks">:$blocks,
    Arg<Index, "rows of a block">:$block_rows,
    Arg<Index, "columns of a block">:$block_cols,
    Arg<Index, "number of tiles, or rows, of the right factors">:$others,
    Arg<Index, "rows of the accumulators">:$rows,
    Arg<Index, "columns of the accumulators">:$cols), (ins
    Arg<DefaultValuedAttr<BlockSparse_ScatterFormatAttr, "::mlir::blocksparse::ScatterFormat::ScatterMM">,
        "what the index tensors hold">:$format,
    Arg<DefaultValuedAttr<I64Attr, "1">, "number of tiles across the columns">:$split_n),
    BlockSparse_SubjectArg);
  let assemblyFormat = [{
    `indices` `(` $indices `)` `blocks` `(` $blocks `,` $block_rows `,` $block_cols `)`
    `others` `(` $others `)` `accumulators` `(` $rows `,` $cols `)` attr-dict `:` type($indices)
  }];
}

def BlockSparse_RefuseOp : BlockSparse_Op<"refuse", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Ends the call with an error if a record holds a fault";
  let semantics = [{
    If the code in the record is not 0, the call returns an error status whose text says what the
    subject expects, and the batch, row, position, value and limit of the fault. Checks are lowered
    to loops or kernels that fill the record, and to this operation, which stays until entry points
    return a status.
  }];
  let example = [{
    ```mlir
    func.func @refuse(%record: memref<7xi64>) {
      blocksparse.refuse %record {subject = "argument 0 of f"} : memref<7xi64>
      return
    }
    ```
  }];
  let arguments = !con((ins Arg<BlockSparse_FaultRecord, "record of the first fault">:$record),
                       BlockSparse_SubjectArg);
  let assemblyFormat = "$record attr-dict `:` type($record)";
}

#endif // BLOCKSPARSE_IR_CHECK_OPS_TD
