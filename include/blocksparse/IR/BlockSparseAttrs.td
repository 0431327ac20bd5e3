// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_IR_ATTRS_TD
#define BLOCKSPARSE_IR_ATTRS_TD

include "blocksparse/IR/BlockSparseDialect.td"
include "blocksparse/IR/BlockSparseEnums.td"
include "blocksparse/IR/BlockSparseInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"

class BlockSparse_AttrDef<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<BlockSparse_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def BlockSparse_LayoutAttr : BlockSparse_AttrDef<"Layout", "layout",
    [DeclareAttrInterfaceMethods<BlockSparse_LayoutAttrInterface>,
     DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "A static block-sparse pattern";
  let description = [{
    The encoding of a tensor whose stored blocks are known at compile time. The block
    shape is `rows x cols` elements, and the grid is `heads x rows x cols` blocks. Without heads the
    grid has one head, whose pattern every head of the tensor shares. The stored blocks are
    given in one of four forms, which have the same meaning:

    ```mlir
    #mask = #blocksparse.layout<16x16, grid 4x4, mask "1000/1100/0110/1011">
    #csr  = #blocksparse.layout<16x16, grid 2x2, csr [0, 1, 3] [0, 0, 1]>
    #big  = #blocksparse.layout<64x64, grid 12x64x64, csr dense_resource<pattern> : tensor<9000xi32>>
    #name = #blocksparse.layout<16x16, grid 12x64x64, bigbird(num_random_blocks = 1, seed = 7)>
    ```

    A resource holds the heads * rows + 1 row offsets and after them the columns. The pass
    `blocksparse-expand-layouts` turns every form into CSR. The parameter `contents` is a
    DenseI32ArrayAttr (offsets, then columns), a DenseResourceElementsAttr of i32, or a
    DictionaryAttr with the name of the pattern under "name" and its parameters.
  }] # BlockSparse_Contract<[C1, C2, C3]>.text;
  let parameters = (ins "::blocksparse::BlockShape":$block,
                        "::blocksparse::BlockGrid":$grid,
                        "::mlir::Attribute":$contents);
  // The storage, which also holds the resolved pattern, is in lib/IR/LayoutAttrStorage.h.
  let genStorageClass = 0;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    AttrBuilder<(ins "const ::blocksparse::BlockLayout &":$layout)>,
  ];
  let extraClassDeclaration = [{
    /// Returns the same pattern in CSR form: inline while it is small, else as a resource
    /// that is named by its contents, so that equal patterns are one attribute. Returns null
    /// when resolve() does.
    LayoutAttr getExpanded() const;
  }];
}

def BlockSparse_BsrAttr : BlockSparse_AttrDef<"Bsr", "bsr",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "A dynamic block-sparse pattern";
  let description = [{
    The encoding of a tensor whose block shape is static and whose row offsets
    (`crow_indices`) and columns (`col_indices`) are run-time data of type i32 or i64.

    ```mlir
    #bsr = #blocksparse.bsr<16x16>        // i32 indices
    #wide = #blocksparse.bsr<16x16, i64>
    ```
  }] # BlockSparse_Contract<[C1]>.text;
  let parameters = (ins "::blocksparse::BlockShape":$block, "unsigned":$indexWidth);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def BlockSparse_ActivationAttr : BlockSparse_AttrDef<"Activation", "activation"> {
  let summary = "Activation of an epilogue";
  let description = [{
    One of `none`, `relu`, `leaky_relu`, `gelu_erf`, `gelu_tanh`, `gelu_quick`, `sigmoid` and
    `silu`. Only `leaky_relu` has a slope.

    ```mlir
    #a = #blocksparse.activation<gelu_erf>
    #b = #blocksparse.activation<leaky_relu, slope = 1.000000e-01>
    ```
  }];
  let parameters = (ins
    EnumParameter<BlockSparse_ActivationKind>:$kind,
    APFloatParameter<"slope of leaky_relu below 0">:$slope);
  let builders = [
    AttrBuilder<(ins "ActivationKind":$kind, CArg<"double", "0.01">:$slope), [{
      return $_get($_ctxt, kind, ::llvm::APFloat(slope));
    }]>,
  ];
  let hasCustomAssemblyFormat = 1;
}

def BlockSparse_ScheduleAttr : BlockSparse_AttrDef<"Schedule", "schedule"> {
  let summary = "How one op is executed on the target";
  let description = [{
    Chosen by `blocksparse-select-schedule` (or written by hand, or read from the tuning
    database), verified against the target, and read by the planning and lowering
    passes. `kernel` names a kernel family of the target; sizes are in elements, `stages`
    is the depth of the copy pipeline, `warps` the number of consumer warps, `group` the
    number of block rows that share one tile (of `sdd` any ones, where it is above 1,
    else neighbours), `split` the largest number of blocks in one segment (0: never
    split).

    ```mlir
    #s = #blocksparse.schedule<kernel = "cpu.panel", tile_m = 8, tile_n = 32>
    ```
  }];
  let parameters = (ins
    StringRefParameter<"kernel family">:$kernel,
    DefaultValuedParameter<"int64_t", "0">:$tile_m,
    DefaultValuedParameter<"int64_t", "0">:$tile_n,
    DefaultValuedParameter<"int64_t", "0">:$tile_k,
    DefaultValuedParameter<"int64_t", "0">:$stages,
    DefaultValuedParameter<"int64_t", "0">:$warps,
    DefaultValuedParameter<"int64_t", "1">:$group,
    DefaultValuedParameter<"int64_t", "0">:$split);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // BLOCKSPARSE_IR_ATTRS_TD
