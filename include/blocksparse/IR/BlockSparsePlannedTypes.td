// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The types of the operands of planned operations (BlockSparsePlannedOps.td).

#ifndef BLOCKSPARSE_IR_PLANNED_TYPES_TD
#define BLOCKSPARSE_IR_PLANNED_TYPES_TD

include "blocksparse/IR/BlockSparseOpBase.td"

// A tensor before bufferization or a memref after it, of one of `elements` and one of `ranks`.
class BlockSparse_Buffer<string words, list<Type> elements, list<int> ranks> : AnyTypeOf<
    [RankedTensorOf<elements, [HasAnyRankOfPred<ranks>]>, MemRefRankOf<elements, ranks>], words>;

def BlockSparse_Values : BlockSparse_Buffer<
    "value blocks [S, bm, bn] or [B, S, bm, bn]", [BlockSparse_Element], [3, 4]>;
def BlockSparse_FloatValues : BlockSparse_Buffer<
    "floating-point value blocks [S, bm, bn] or [B, S, bm, bn]", BlockSparse_FloatElements, [3, 4]>;
def BlockSparse_Matrices : BlockSparse_Buffer<
    "dense matrices of rank 2 to 4", [BlockSparse_Element], [2, 3, 4]>;
def BlockSparse_FloatMatrices : BlockSparse_Buffer<
    "floating-point dense matrices of rank 2 to 4", BlockSparse_FloatElements, [2, 3, 4]>;
def BlockSparse_FactorBuffer : BlockSparse_Buffer<
    "factor of rank 0 of f32, f64 or i32", [F32, F64, I32], [0]>;
def BlockSparse_Vector : BlockSparse_Buffer<"dense vector", [BlockSparse_Element], [1]>;
def BlockSparse_ColumnMask : BlockSparse_Buffer<
    "mask of columns [N] or [B, N]", [BlockSparse_Element], [1, 2]>;
def BlockSparse_Lengths : BlockSparse_Buffer<"lengths [1] or [B] of i32", [I32], [1]>;
def BlockSparse_Segments : BlockSparse_Buffer<"segments [n] or [B, n] of i32", [I32], [1, 2]>;
def BlockSparse_LogSumExp : BlockSparse_Buffer<
    "log-sum-exp [M], [H, M] or [B, H, M] of f32 or f64", [F32, F64], [1, 2, 3]>;
def BlockSparse_Tiles : BlockSparse_Buffer<"tiles [P, Ms, Ks]", [BlockSparse_Element], [3]>;
def BlockSparse_TilesOrMatrices : BlockSparse_Buffer<
    "tiles of rank 3 or dense matrices of rank 2 to 4", [BlockSparse_Element], [2, 3, 4]>;

// A look-up table of i32: rows of `columns`, with or without a batch in front. `words` names its
// rows. `table` names their fields in blocksparse/Plan/Tables.h, and must have as many columns.
class BlockSparse_Table<string words, string rows, int columns, string table> : Type<And<[
    BlockSparse_Buffer<"", [I32], [2, 3]>.predicate,
    CPred<"::llvm::is_contained({::blocksparse::checkColumns<::blocksparse::" # table # ", "
          # columns # ">(), ::mlir::ShapedType::kDynamic}, "
          "::llvm::cast<::mlir::ShapedType>($_self).getShape().back())">]>,
    words # ", i32 [" # rows # ", " # columns # "] or [B, " # rows # ", " # columns # "]">;

def BlockSparse_RowSegments : BlockSparse_Table<"segments of a row LUT", "s", 5, "SegmentTable">;
def BlockSparse_RowEntries : BlockSparse_Table<"entries of a row LUT", "e", 2, "EntryTable">;
def BlockSparse_CombineTable : BlockSparse_Table<"combine table", "c", 4, "CombineTable">;
def BlockSparse_CoordinateLut : BlockSparse_Table<"coordinate LUT", "nnz", 4, "CoordinateTable">;
def BlockSparse_CoordinateSegments : BlockSparse_Table<"segments of a coordinate LUT", "s", 2, "CoordinateSegmentTable">;
def BlockSparse_Permutation : BlockSparse_Buffer<"permutation, i32 [nnz] or [B, nnz]", [I32], [1, 2]>;
def BlockSparse_Indices : BlockSparse_Buffer<"indices, i32 or i64 [n] or [B, n]", [I32, I64], [1, 2]>;
// A table of stages or of work lists. The verifiers check each table's rank and columns.
def BlockSparse_WorkTable : BlockSparse_Buffer<"i32 list or table without a batch", [I32], [1, 2]>;
def BlockSparse_ScatterIndices : BlockSparse_Buffer<
    "indices of scatter_mm, i32 or i64 of rank 1 or 2", [I32, I64], [1, 2]>;

#endif // BLOCKSPARSE_IR_PLANNED_TYPES_TD
