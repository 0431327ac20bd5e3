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
  let summary = "How one operation is executed on the target";
  let description = [{
    Names the kernel family that computes the operation and the parameters of its kernel. The pass
    `blocksparse-select-schedule` chooses a schedule; one may also be written by hand or come from a
    tuning database. The attribute checks the ranges of parameters, and the pass checks the schedule
    against the operation and the target: a size that no kernel honours is an error. Planning and
    lowering passes read the schedule.

    Every family has its own parameters. One that is left out is left to the kernel, which then takes
    its usual size, fitted to the operation.

    | family | parameters |
    |---|---|
    | `cpu.panel` | `tile` (register tile), `split` |
    | `cpu.rows`, `cpu.blocks` | `lanes` (elements of a vector) |
    | `cuda.wgmma`, `cuda.wgmma_transposed` | `tile` (of one CTA), `stages`, `gather` (tiles of any block rows), `cluster` (CTAs that share rows of A) |
    | `cuda.stream`, `cuda.stream_wgmma` | `tile`, `panels` (of a stage), `panels_per_copy` (of a TMA load), `stages`, `warps` (consumers), `block` (side of the planned blocks, if stored blocks are no square ones of 16 or 32); all but `panels_per_copy` and `block` are required |
    | `cuda.skinny` | `tile`, `warps` (that share the reduction of a tile), `unroll` (steps of 32 values of k that a warp loads at a time) |
    | `cuda.mma`, `cuda.fma` | `tile`, `stages`, `split` |
    | `cuda.rows` | `elements_per_lane` |
    | `cuda.simt` | `split` (products alone) |
    | `cuda.attention` | `kernels` (of a gradient: 1, whose sums are ordered by a plan, or 2) |
    | `cuda.blocks` | none |

    A `tile` is rows x columns of the result, in elements. `stages` is the depth of the ring or
    pipeline of loads. `split` is the largest number of blocks in one segment; without it, rows are
    not split.

    ```mlir
    #panel = #blocksparse.schedule<cpu.panel, tile = 8x32>
    #wgmma = #blocksparse.schedule<cuda.wgmma, tile = 128x256, stages = 4, cluster = 2>
    #rows = #blocksparse.schedule<cuda.rows>
    ```
  }];
  let parameters = (ins
    AttrParameter<"::blocksparse::Schedule", "family and parameters",
                  "const ::blocksparse::Schedule &">:$schedule);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    AttrBuilder<(ins "::blocksparse::KernelFamily":$family), [{
      return $_get($_ctxt, ::blocksparse::Schedule(family));
    }]>,
  ];
  let extraClassDeclaration = [{
    ::blocksparse::KernelFamily getFamily() const { return getSchedule().family(); }
    /// Returns the parameters if they are those of the type `T`, else null.
    template <typename T>
    const T *getIf() const;
  }];
}

#endif // BLOCKSPARSE_IR_ATTRS_TD
