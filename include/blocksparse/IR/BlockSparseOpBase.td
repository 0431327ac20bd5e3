// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Classes, types and argument lists that every op file shares.

#ifndef BLOCKSPARSE_IR_OPBASE_TD
#define BLOCKSPARSE_IR_OPBASE_TD

include "blocksparse/IR/BlockSparseAttrs.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class BlockSparse_Op<string mnemonic, list<Trait> traits = []>
    : Op<BlockSparse_Dialect, mnemonic, traits>;

// A computation on tensors: no side effect, verified by hand.
class BlockSparse_TensorOp<string mnemonic, list<Trait> traits = []>
    : BlockSparse_Op<mnemonic, !listconcat([Pure], traits)> {
  let hasVerifier = 1;
}

def BlockSparse_Element : AnyTypeOf<[F16, BF16, F32, F64, I8, I32, F8E4M3FN, F8E5M2],
    "f16, bf16, f32, f64, i8, i32, f8E4M3FN or f8E5M2">;

def BlockSparse_HasNoEncoding
    : CPred<"!::llvm::cast<::mlir::RankedTensorType>($_self).getEncoding()">;
def BlockSparse_HasSparseEncoding
    : CPred<"::mlir::blocksparse::isSparseTensor($_self)">;

def BlockSparse_Dense : Type<
    And<[RankedTensorOf<[BlockSparse_Element]>.predicate, BlockSparse_HasNoEncoding]>,
    "dense tensor", "::mlir::RankedTensorType">;
def BlockSparse_Sparse : Type<
    And<[RankedTensorOf<[BlockSparse_Element]>.predicate, BlockSparse_HasSparseEncoding]>,
    "block-sparse tensor", "::mlir::RankedTensorType">;
def BlockSparse_Index : Type<
    And<[RankedTensorOf<[I32, I64]>.predicate, BlockSparse_HasNoEncoding]>,
    "tensor of i32 or i64 indices", "::mlir::RankedTensorType">;

// Before and after bufferization.
def BlockSparse_Buffer : AnyTypeOf<
    [RankedTensorOf<[BlockSparse_Element, I64]>, MemRefRankOf<[BlockSparse_Element, I64], [1, 2, 3, 4, 5]>],
    "tensor or memref">;

#endif // BLOCKSPARSE_IR_OPBASE_TD
